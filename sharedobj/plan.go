package sharedobj

// step is what to do next for a version.
type step uint8

const (
	getState step = iota // get its state
	getWrite             // get the write of target, a version on the way to it
	apply                // apply that write
)

// plan chooses the shorter way to a version: the writes from one that is here, or its state.
func (c *fetcher) plan(e *entry) (target *entry, s step) {
	missing := uint64(0)
	for v, n := e, 0; n < c.cfg.MaxChain && !v.spoilt && !v.recipe.First(); n++ {
		if v.write == nil {
			missing += v.recipe.Write.Size
		}
		parent := c.store.find(v.recipe.Parent)
		if parent == nil || missing > 0 && missing >= e.recipe.State.Size {
			break
		}
		if parent.state != nil {
			if v.write == nil {
				return v, getWrite
			}
			return v, apply
		}
		v = parent
	}
	return e, getState
}

// apply orders a write to be applied, unless it is under way; false if there is no room for the outcome.
func (c *fetcher) apply(e *entry) bool {
	if e.applying != 0 {
		return true
	}
	c.store.state(e.recipe.Parent) // is used
	// What waits for the engine is paid for until that has taken it: the write, too, whoever drops it meanwhile.
	parent, size := c.store.find(e.recipe.Parent), e.recipe.State.Size+e.write.Size
	if e.from != "" && c.appliesOf(e.from) >= maxApplies || !c.store.allows(e.from, size, e, parent) ||
		!c.store.room(e.recipe.State.Size, e, parent) {
		return false
	}
	c.store.senders.bill(e.from, size)
	c.store.pin(e.recipe.Parent) // until it is applied
	e.applying = c.ask(Order{Kind: OrderApply, Digest: e.digest, Parent: e.recipe.Parent, Name: e.recipe.Name,
		Data: e.write.Bytes()})
	c.applies[e.applying] = applying{e.digest, e.recipe.Parent, e.from, size, c.store.hold(e.write)}
	return true
}

// maxApplies is how many writes of one sender the engine has at a time: small ones cost more than their bytes.
const maxApplies = 64

func (c *fetcher) appliesOf(payer PeerID) (n int) {
	for _, a := range c.applies {
		if a.payer == payer {
			n++
		}
	}
	return n
}

// applied takes the outcome of a write. If it is not the writer's state, only that state itself will do; the user is
// told once for each object, since it costs bytes at every write.
func (c *fetcher) applied(t Ticket, state *Body) {
	a, ok := c.applies[t]
	if !ok {
		c.stats.Malformed++
		return
	}
	delete(c.applies, t)
	c.store.unpin(a.parent)
	c.store.release(a.write)
	c.store.senders.refund(a.payer, a.size)
	d, e := a.digest, c.store.find(a.digest)
	used := false
	defer func() {
		if state != nil && !used {
			c.order(Order{Kind: OrderDiscard, Ticket: t})
		}
	}()
	if e == nil || e.applying != t {
		c.advanceAll() // dropped meanwhile: whoever has waited for it goes another way
		return
	}
	e.applying = 0
	switch {
	case state == nil || state.Blob != e.recipe.State:
		e.spoilt = true
		if c.first(e.recipe.Name) {
			c.order(Order{Kind: OrderNote, Digest: d, Name: e.recipe.Name, Text: "a write to shared object \"" +
				e.recipe.Name + "\" gives another state here than where it was made, so states are fetched whole: " +
				"writes must be pure functions, and floating point may differ between processors"})
		}
	case c.store.putState(e, state):
		used = true
		c.arrived(e, t)
	}
	c.store.pin(d) // until whoever had it made needs it for the next step: others may look for room first
	c.advanceAll()
	c.store.unpin(d)
}

// advanceAll goes on with all fetches, after something has come that several may use.
func (c *fetcher) advanceAll() {
	for i := 0; i < len(c.list); i++ {
		f := c.list[i]
		n := len(c.list)
		c.advance(f)
		if len(c.list) < n {
			i--
		}
	}
}

// arrived pushes a value that has just come to the engine, and to whoever waits for it.
func (c *base) arrived(e *entry, t Ticket) { c.has(e, t, false) }

// has is arrived; read says that a job reads the value, which may have been here for long.
func (c *base) has(e *entry, t Ticket, read bool) {
	c.tellGone()
	f := c.fetches.byDigest[e.digest]
	if !e.recipe.Kind.private() {
		c.order(Order{Kind: OrderHere, Digest: e.digest, Name: e.recipe.Name, Data: e.state.Bytes(), Ticket: t,
			Read: read || f != nil && f.reading > 0})
	} else if f != nil && f.reading > 0 {
		c.order(Order{Kind: OrderFailed, Digest: e.digest, Err: &NotFound{e.digest}})
	}
	if e.recipe.Kind == Lattice {
		c.lattices.open(e)
	}
	c.spread.followers(e)
	c.serve.serveHeld(e.state.Top)
	if f != nil {
		c.fetches.complete(f)
	}
	c.jobs.arrived(e.digest)
}

// gotBody takes in a blob that was got, or that was here under another name; false if there is no room.
func (c *fetcher) gotBody(e *entry, write bool, b *Body) bool {
	if write {
		ok := c.store.putWrite(e, b)
		if ok {
			c.serve.serveHeld(b.Top)
		}
		return ok
	}
	ok := c.store.putState(e, b)
	if ok {
		c.arrived(e, 0)
	}
	return ok
}
