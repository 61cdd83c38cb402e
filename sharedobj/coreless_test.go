package sharedobj

import "testing"

// What a member's pushing has the engine do is on its account until that has done it: writes that are applied, though
// they were dropped meanwhile, and values of lattices that are joined, also such as are here already and cost nothing
// to get. What they need of the engine stays until then.
func TestWhatWaitsForTheEngine(t *testing.T) {
	c := newTestCore(t, func(c *Config) { c.MaxBytes = 64 * unit })
	seed := Build(noise(2 * unit))
	lattice := &Recipe{Kind: Lattice, Name: "l", State: seed.Blob}
	c.Created(1, lattice, seed)
	value := Build(noise(3 * unit))
	constant := &Recipe{Kind: Constant, Name: "c", State: value.Blob}
	if o := c.Created(1, constant, value).Orders; len(o) != 1 || o[0].Read {
		t.Errorf("of a new value the engine is told %+v", o)
	}
	if o := c.Read(1, constant.Digest()).Orders; len(o) != 1 || o[0].Kind != OrderHere || !o[0].Read {
		t.Errorf("whoever reads it is told %+v", o)
	}
	var joins []Ticket
	for i := range 20 { // of what is here: nothing has to come
		for _, o := range c.Step(1, &Message{From: "b1", To: "a1", Sums: &Sums{Reply: true,
			Values: []Sum{{Digest: lattice.Digest(), Blob: value.Blob}}}}).Orders {
			if o.Kind == OrderJoin {
				joins = append(joins, o.Ticket)
			}
		}
		if checkSenders(t, c); i == 0 && len(joins) == 0 {
			t.Fatal("a value that is here is not joined")
		}
	}
	if len(joins) != 5 { // in sixteen units
		t.Errorf("%d values of three units wait to be joined", len(joins))
	}
	if c.store.free(c.store.find(lattice.Digest())) {
		t.Error("the seed of what is joined may go")
	}
	for _, ticket := range joins {
		c.Joined(2, ticket, true, false)
		checkSenders(t, c)
	}
	if !c.store.free(c.store.find(lattice.Digest())) || c.Stats().Pushed != 0 {
		t.Errorf("afterwards %d bytes are paid for", c.Stats().Pushed)
	}
	first := Build(noise(100))
	root := &Recipe{Kind: Phased, Name: "x", State: first.Blob}
	c.Created(3, root, first)
	c.Pin(root.Digest())
	for i := range 100 {
		r, _, state := version(root, i, 100)
		write := Build(append(noise(maxInline-1), byte(i)))
		r.Write = write.Blob
		r.State = state.Blob
		c.Hear(4, "b1", &News{Writes: []Told{{Recipe: *r, Write: write.Bytes()}}})
		if e := c.store.find(r.Digest()); e != nil && c.store.free(e) {
			c.store.forget(e) // as if something needed the room
		}
		checkSenders(t, c)
	}
	waiting := uint64(0)
	for ticket, a := range c.fetches.applies {
		waiting += a.write.Size
		if c.store.bodies[a.write.Top] == nil {
			t.Error("a write that waits for the engine is not held")
		}
		defer func() {
			if c.Applied(5, ticket, nil); c.store.bodies[a.write.Top] != nil {
				t.Error("a write that was applied is held")
			}
		}()
	}
	if waiting < 10*maxInline || waiting > 16*unit {
		t.Errorf("%d bytes of writes wait", waiting)
	}
}
