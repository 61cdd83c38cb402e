package sharedobj

import "maps"

// A guest is a peer that this one alone knows: a browser's tab, a stranger. It is served like a member of the cluster,
// and asked for what its jobs and results name, which nobody else can have. Beyond that nothing rests on it: it is no
// landing, nothing is passed on through it, no other peer is told that it has something, and the writes that it tells
// of are not looked at. What it offers to a lattice is checked and then counts as this peer's own offer, for nobody
// else hears it; the engine takes none to a kind that cannot be checked.
//
// What guests cause is bounded apart, so that it takes nothing from the jobs of others: their jobs' fetches count
// among those for others (Config.MaxAdopted), of which each guest may begin maxGuestAsks by a question; and all the
// bytes that were got for them and cannot be dropped are at most an eighth of Config.MaxBytes.

// maxGuestAsks bounds the fetches that wait for one guest's question.
const maxGuestAsks = 8

// guestBytes is how much may be held because guests' jobs name it.
func (c *base) guestBytes() uint64 { return c.cfg.MaxBytes / 8 }

// guestRoom says whether so many bytes more may come for guests.
func (c *base) guestRoom(n uint64) bool {
	for d := range c.store.pins {
		if e := c.store.find(d); e != nil && e.lent && e.state != nil {
			n += e.state.Size
		}
	}
	for _, f := range c.fetches.list {
		if f.pull != nil && f.forGuests() {
			n += f.pull.parts.blob.Size
		}
	}
	for _, e := range c.errands.list {
		if c.place.guests[e.from] {
			n += e.pull.parts.blob.Size
		}
	}
	return n <= c.guestBytes()
}

// forGuests says whether jobs of guests wait for it and nobody else does.
func (f *fetch) forGuests() bool { return f.guests > 0 && !f.own() }

// wait counts a job among those that wait for it, or out of them.
func (f *fetch) wait(w *job, n int) {
	if w.lent {
		f.guests += n
	} else {
		f.jobs += n
	}
}

// mayFetchFor says whether one more version is to be fetched because a guest asks for it.
func (c *server) mayFetchFor(id PeerID) bool {
	n := 0
	for _, f := range c.fetches.list {
		for _, a := range f.askers {
			if a.peer == id {
				n++
			}
		}
	}
	return n < maxGuestAsks && c.fetches.foreign("")
}

// forgetStrangers drops what was counted of peers that take no part any more: guests come and go.
func (c *base) forgetStrangers() {
	forget(&c.place, c.serve.meters)
	forget(&c.place, c.store.senders.fetched)
	forget(&c.place, c.lattices.strikes)
	forget(&c.place, c.lattices.fellows)
	forget(&c.place, c.asking.of)
}

func forget[V any](p *place, of map[PeerID]V) {
	maps.DeleteFunc(of, func(id PeerID, _ V) bool { return !p.member(id) })
}
