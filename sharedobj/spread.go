package sharedobj

import (
	"slices"
	"time"
)

// spreader tells others of what is new before they miss it. Nothing rests on it.
type spreader struct {
	*base
	writes  []Told // small ones, not yet told
	offers  []Offer
	bytes   int
	flushAt time.Duration // when to tell them; 0: there are none
}

// tellWrite tells the others of a version that was written here.
func (c *spreader) tellWrite(e *entry) {
	if e.write.Size > uint64(c.cfg.SmallWrite) {
		c.passOn(&Announce{Origin: c.self, Recipe: e.recipe})
		return
	}
	c.enqueue(int(e.write.Size))
	c.writes = append(c.writes, Told{Recipe: e.recipe, Write: e.write.Bytes()})
	if c.flushAt == 0 {
		c.flushAt = c.now + c.cfg.GossipEvery
	}
}

// enqueue makes room in the news for so many bytes more.
func (c *spreader) enqueue(n int) {
	s := c.spread
	if s.bytes+n > maxAnswer || len(s.writes) >= maxTold || len(s.offers) >= maxSums {
		c.flushNews()
	}
	s.bytes += n
}

// flushNews tells what was collected.
func (c *spreader) flushNews() {
	s := c.spread
	if len(s.writes)+len(s.offers) > 0 {
		c.stats.WritesTold += uint64(len(s.writes))
		c.stats.OffersTold += uint64(len(s.offers))
		c.order(Order{Kind: OrderTell, News: &News{Writes: s.writes, Offers: s.offers}})
	}
	s.writes, s.offers, s.bytes, s.flushAt = nil, nil, 0, 0
}

// passOn sends an announcement to those below.
func (c *spreader) passOn(a *Announce) {
	for _, id := range c.place.below(a.Recipe.Digest(), a.Origin) {
		c.stats.Announced++
		c.send(id, &Message{Announce: a})
	}
}

// hearWrites applies small writes to the versions before them, where those are here; whoever has not got those has no
// use for the writes, or fetches them with what it needs.
func (c *spreader) hearWrites(from PeerID, told []Told) {
	for i := range told {
		t := &told[i]
		parent := c.store.find(t.Recipe.Parent)
		if t.Recipe.First() || parent == nil || parent.state == nil && parent.write == nil {
			continue
		}
		if parent.recipe.Kind != Phased || parent.recipe.Name != t.Recipe.Name {
			c.stats.Malformed++
			continue
		}
		e := c.knowFrom(&t.Recipe, from)
		if e == nil || e.state != nil {
			continue
		}
		c.addHolder(e, from)
		if c.fetches.learn(e, t); e.write != nil && e.recipe.State.Size <= c.cfg.MaxBytes {
			c.follow(e)
		}
	}
	c.fetches.advanceAll()
}

// follow applies a write that is here once the state before it is.
func (c *spreader) follow(e *entry) {
	if parent := c.store.find(e.recipe.Parent); parent != nil && parent.state != nil && !e.spoilt {
		c.fetches.apply(e)
	}
}

// followers applies the writes that were heard before the state before them was made.
func (c *spreader) followers(parent *entry) {
	if parent.recipe.Kind != Phased {
		return
	}
	for at := c.store.recent.Back(); at != nil; at = at.Prev() {
		if e := at.Value.(*entry); e.recipe.Parent == parent.digest && e.state == nil && e.write != nil {
			c.follow(e)
		}
	}
}

// onAnnounce gets what is announced, and passes the announcement on at once, so that the peers below get each
// piece as soon as it is here. What is known already was passed on before.
func (c *spreader) onAnnounce(from PeerID, a *Announce) {
	d := a.Recipe.Digest()
	switch {
	case a.Origin == c.self: // passed on it would be this peer's own word
		c.stats.Malformed++
		return
	case a.Offer != (Blob{}):
		c.onOffer(from, d, a)
		return
	}
	e := c.store.find(d)
	if c.place.guests[from] || e != nil && e.state != nil || a.Recipe.State.Size > c.cfg.MaxBytes ||
		c.fetches.byDigest[d] == nil && !c.fetches.foreign(from) {
		return
	}
	if e = c.knowFrom(&a.Recipe, from); e == nil {
		return
	}
	wanted := c.fetches.byDigest[d] != nil
	f := c.fetches.fetch(d)
	if f == nil || f.pushed {
		return
	}
	if !wanted {
		f.pushed, f.from = true, from
	} else if slices.ContainsFunc(f.ways, func(w *way) bool { return w.peer == from && w.state == helps }) {
		return // it has said so
	}
	c.addHolder(e, from)
	w := &way{peer: from, state: helps}
	if i := slices.IndexFunc(f.ways, func(w *way) bool { return w.peer == from }); i >= 0 {
		f.ways[i].state = helps
	} else {
		f.ways = append(f.ways, w)
	}
	if f.pull != nil {
		f.pull.add(c.now, from)
	}
	c.passOn(a)
	c.fetches.advance(f)
}

// onOffer gets what was offered to a lattice, and passes the announcement on if it can. Nobody has seen what is passed
// on: the one who speaks for itself answers for what it announces, and who passes that on does not.
func (c *spreader) onOffer(from PeerID, d Digest, a *Announce) {
	l, guest := c.lattices.byDigest[d], c.place.guests[from]
	switch {
	case l == nil || slices.Contains(l.passed, a.Offer) && !c.errands.helps(d, a.Offer, from):
	case slices.Contains(l.passed, a.Offer):
	case c.lattices.strikes[from] >= maxStrikes:
		c.stats.Refused++
	case c.errands.run(&errand{lattice: d, from: from, passed: from != a.Origin && !guest}, a.Offer):
		if l.passes(a.Offer); !guest { // a guest's counts as this peer's own, and is told as such
			c.passOn(a)
		}
	}
}
