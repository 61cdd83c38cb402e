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
	{name: "driver/restarted-forgotten", wrong: "the transcripts do not see what the driver makes of an order",
		file: "internal/driver/orders.go", pkg: "steal", run: "^TestTranscripts$",
		old: "p.Kind, p.Ref, p.Restarted = port.PutBack, o.Ref, o.Restarted", new: "p.Kind, p.Ref = port.PutBack, o.Ref"},
	{name: "driver/deliver-nothing", wrong: "the model does not see what the driver makes of an order",
		file: "internal/driver/orders.go", pkg: "steal", run: "^TestExactUnderMessageFaults$",
		old: "p.Kind, p.Ref, p.Outcome = port.Deliver, o.Ref, o.Outcome", new: "p.Kind, p.Ref = port.Deliver, o.Ref"},
	{name: "driver/panic-stored", wrong: "the outcome of a job that panicked is stored",
		file: "internal/driver/input.go", pkg: "internal/driver", run: "^TestStored$",
		old: "if s, ok := d.segments[e.Segment]; ok && e.Good {", new: "if s, ok := d.segments[e.Segment]; ok || e.Good {"},
	{name: "driver/nothing-home", wrong: "what others have done is not stored",
		file: "internal/driver/input.go", pkg: "internal/driver", run: "^TestStored$",
		old: "if g, ok := d.given[e.Ref]; ok && e.Good {", new: "if g, ok := d.given[e.Ref]; ok && !e.Good {"},
	{name: "pipe/reads-on", wrong: "events are read without end while nobody polls",
		file: "internal/port/pipe/engine.go", pkg: "internal/port/pipe", run: "^TestEventsWait$",
		old: "		for e.unread > e.most.unread && e.ended == nil {\n", new: "		for false {\n"},
	{name: "pipe/writes-on", wrong: "orders wait without end", file: "internal/port/pipe/engine.go",
		pkg: "internal/port/pipe", run: "^TestOrdersAreNotTaken$",
		old: "	case e.waiting > e.most.unwritten:\n", new: "	case false:\n"},
	{name: "pipe/dies-twice", wrong: "the death is told again and again", file: "internal/port/pipe/engine.go",
		pkg: "internal/port/pipe", run: "^TestEndOfPipe$", old: "		e.told = true\n", new: ""},
	{name: "pipe/any-load", wrong: "a load is believed that cannot be", file: "internal/port/pipe/message.go",
		pkg: "internal/port/pipe", run: "^TestEndOfPipe$", old: " || l.Idle > l.Workers", new: ""},
	{name: "compute/early-drop-forgotten", wrong: "a job that is dropped before its Take is answered is given away",
		file: "internal/compute/take.go", pkg: "internal/compute", run: "^TestEarlyDrop$",
		old: "			if e.early[t] {\n", new: "			if false {\n"},
	{name: "compute/garbage-used", wrong: "a job whose outcome is garbage never comes back",
		file: "internal/compute/jobs.go", pkg: "internal/compute", run: portTest,
		old: "		t.PutBack(false)\n	}\n	e.happened", new: "	}\n	e.happened"},
	{name: "compute/stale-watch", wrong: "workers do not hear that more is known", file: "internal/compute/engine.go",
		pkg: "internal/compute", run: portTest, old: "		e.orphans.Store(o.Orphans)\n", new: ""},
	{name: "compute/panic-kept", wrong: "a panic is worth keeping", file: "internal/compute/jobs.go",
		pkg: "internal/compute", run: portTest, old: "Good: returned,", new: "Good: true,"},
}

const portTest = "^TestPort$"

const oneOrder = "^TestOneOrderOfEvents$"
