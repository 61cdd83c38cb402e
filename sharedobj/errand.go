package sharedobj

import (
	"slices"
	"time"
)

// errand gets a value of a lattice that is too large to travel with what names it, and has it joined.
type errand struct {
	pull    *pull
	lattice Digest
	from    PeerID // who said that it has the value
	passed  bool   // it is another's word, which from has passed on and not seen
	job     JobID  // whose floor it is, or 0
	payer   PeerID // from, or "" of a floor: a job here names it
	until   time.Duration
}

// errands are those under way.
type errands struct {
	*base
	list []*errand
}

// maxErrands bounds them, and maxErrandsEach those that one peer's messages began: of floors, of what peers say
// themselves, and of what they pass on, each.
const (
	maxErrands     = 64
	maxErrandsEach = 8
)

// run says whether a value is got, or was; the errand begins if none like it has. What cannot be got now is got at the
// next comparison.
func (c *errands) run(e *errand, blob Blob) bool {
	if b := c.store.blob(blob); b != nil { // it is this peer's own, or was got for another lattice
		c.lattices.join(pendingJoin{digest: e.lattice, from: e.from, passed: e.passed, job: e.job}, b.Bytes())
		return true
	}
	if e.job == 0 && c.helps(e.lattice, blob, e.from) {
		return true
	}
	all, each := 0, 0
	for _, o := range c.list {
		if o.passed == e.passed && (o.job == 0) == (e.job == 0) {
			if all++; o.from == e.from {
				each++
			}
		}
	}
	if e.job == 0 {
		e.payer = e.from
	}
	if all >= maxErrands || each >= maxErrandsEach || !c.store.allows(e.payer, blob.Size) ||
		!c.mayFetch(e.payer, blob.Size) ||
		c.place.guests[e.from] && !c.guestRoom(blob.Size) || !c.store.room(blob.Size) {
		c.stats.Refused++
		if e.job != 0 {
			c.jobs.floored(e.job, false)
		}
		return false
	}
	c.store.reserved += blob.Size
	c.store.senders.bill(e.payer, blob.Size)
	e.pull = newPull(blob, &c.cfg)
	e.pull.add(c.now, e.from)
	e.until = c.now + c.cfg.Patience
	c.list = append(c.list, e)
	c.advanceErrand(e)
	return true
}

// helps has one more peer be a source of a value that is on its way already, and says whether it is: who said first
// that it has the value may never send it.
func (c *errands) helps(lattice Digest, blob Blob, from PeerID) bool {
	i := slices.IndexFunc(c.list, func(o *errand) bool {
		return o.pull.parts.blob == blob && o.lattice == lattice && o.job == 0
	})
	if i >= 0 {
		c.list[i].pull.add(c.now, from)
		c.advanceErrand(c.list[i])
	}
	return i >= 0
}

// advanceErrand requests more, and ends an errand that is done or cannot be.
func (c *errands) advanceErrand(e *errand) {
	if !slices.Contains(c.list, e) {
		return
	}
	top := e.pull.parts.blob.Top
	c.serve.serveHeld(top)
	b, ok := e.pull.parts.whole()
	if !ok && !e.pull.stuck() && e.until > c.now {
		e.pull.request(c.now, func(id PeerID, ids []PieceID) {
			c.send(id, &Message{Get: &Get{Top: top, Pieces: ids}})
		})
		return
	}
	c.list = slices.DeleteFunc(c.list, func(o *errand) bool { return o == e })
	c.store.reserved -= e.pull.parts.blob.Size
	c.store.senders.refund(e.payer, e.pull.parts.blob.Size)
	switch {
	case ok:
		j := pendingJoin{digest: e.lattice, from: e.from, passed: e.passed, job: e.job, payer: e.payer}
		if c.store.accept(e.payer, b) {
			j.held = b
		} else if e.payer != "" {
			c.stats.Refused++
			c.serve.refuseHeld(top)
			return
		}
		c.lattices.join(j, b.Bytes())
		c.lattices.expose(e.lattice, e.payer, b)
		c.serve.serveHeld(top)
	case e.job != 0:
		c.jobs.floored(e.job, false)
	}
	if !ok {
		c.lattices.forget(e.lattice, e.pull.parts.blob)
		c.serve.refuseHeld(top)
	}
}

func (c *errands) tickErrands() {
	for _, e := range slices.Clone(c.list) {
		e.pull.expire(c.now)
		c.advanceErrand(e)
	}
}
