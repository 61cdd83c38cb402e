package main

// driverMutants are mistakes in the carrying out of what the cores decide.
var driverMutants = []mutant{
	{name: "driver/recurses", wrong: "an event is taken up inside the order that brought it about",
		file: "internal/driver/driver.go", pkg: "internal/driver", run: oneOrder,
		old: "	for i := range events {\n		d.absorb(d.applyEvent(now, &events[i]))\n	}\n	d.finish()\n",
		new: "	for i := range events {\n		d.absorb(d.applyEvent(now, &events[i]))\n		d.busy = false\n	}\n	d.finish()\n"},
	{name: "driver/orders-first", wrong: "an order is carried out before the core has heard what happened",
		file: "internal/driver/driver.go", pkg: "internal/driver", run: oneOrder,
		old: "	for {\n		if in, ok := d.inputs.pop(); ok {\n			d.absorb(d.apply(in))\n" +
			"		} else if o, ok := d.orders.pop(); ok {\n			d.carryOut(o)\n",
		new: "	for {\n		if o, ok := d.orders.pop(); ok {\n			d.carryOut(o)\n" +
			"		} else if in, ok := d.inputs.pop(); ok {\n			d.absorb(d.apply(in))\n"},
	{name: "driver/newest-order", wrong: "what an order leads to is done before older orders",
		file: "internal/driver/driver.go", pkg: "internal/driver", run: oneOrder,
		old: "		d.orders.push(out.Orders[i])\n",
		new: "		d.orders.list = append([]steal.Order{out.Orders[i]}, d.orders.list...)\n"},
	{name: "driver/order-lost", wrong: "the queue of orders loses one while it is emptied",
		file: "internal/driver/fifo.go", pkg: "internal/driver", run: oneOrder,
		old: "	if q.next == len(q.list) {\n", new: "	if q.next >= len(q.list)-1 {\n"},
	{name: "driver/panic-stored", wrong: "the outcome of a job that panicked is stored",
		file: "internal/driver/input.go", pkg: "internal/driver", run: "^TestStored$",
		old: "if s, ok := d.segments[e.Segment]; ok && e.Good {", new: "if s, ok := d.segments[e.Segment]; ok || e.Good {"},
	{name: "driver/nothing-home", wrong: "what others have done is not stored",
		file: "internal/driver/input.go", pkg: "internal/driver", run: "^TestStored$",
		old: "if g, ok := d.given[e.Ref]; ok && e.Good {", new: "if g, ok := d.given[e.Ref]; ok && !e.Good {"},
}

const oneOrder = "^TestOneOrderOfEvents$"
