package steal

import "slices"

// What is done when a peer is gone (fault tolerance paper, 3.1 and 3.2), or seems to be.
//
// As a thief: the jobs that it stole from here are run again, marked as restarted. As an owner: what was
// stolen from it is orphaned. Nobody waits for it here, but whoever runs the lost job again will spawn the
// same jobs. So a running orphan runs on, a finished one's outcome is kept, and both are told to everybody,
// so that the new owner can adopt them (adopt.go). What has not begun is dropped. A segment that was passed
// on is not an orphan itself: its thief is told that it has one.
//
// A peer that is only silent, as an owner, is suspected: what is held for it is told already, because those
// who wait for the peer run its jobs again by now, and may be adopted by them. It is an orphan for certain
// after a goodbye, a new life or a longer silence.

// lose is what happens when a peer is certainly gone, by goodbye or a new life.
func (c *Core) lose(p *peer) {
	c.loseThief(p)
	c.loseOwner(p)
	c.tuples.dropHolder(p.id, p.inc+1)
	p.expects, p.known, p.disowned = 0, Acquaintance{}, nil
}

// loseThief queues again what the peer stole from here, and forgets what it asked and was asked for.
func (c *Core) loseThief(p *peer) {
	for len(p.leases) > 0 {
		c.requeue(p.leases[0], true, &c.stats.PutBackLostThief)
	}
	c.forgetRequests(p)
}

// suspectThief is for a peer that is only silent: what it stole is run here too, until it is heard again.
func (c *Core) suspectThief(p *peer) {
	for _, l := range slices.Backward(p.leases) { // the oldest goes to the front last
		c.replace(l, &c.stats.PutBackLostThief)
	}
	c.forgetRequests(p)
}

func (c *Core) forgetRequests(p *peer) {
	c.dropAsks(p)
	c.dropFlight(p.id)
}

// suspectOwner tells of what is held for a peer that is only silent.
func (c *Core) suspectOwner(p *peer) {
	if !c.salvaging() {
		return
	}
	for _, s := range p.held {
		if s.state == running {
			c.announce(s.job.Path, s.job.Identity)
		}
	}
	c.announceKept(p.id)
	c.reconsider = true
}

// loseOwner deals with what was stolen from the peer.
func (c *Core) loseOwner(p *peer) {
	for len(p.held) > 0 {
		c.ownerLost(p.held[0])
	}
	c.announceKept(p.id)
}

// loseAdopted forgets what earlier lives of a peer had, of which only others have told.
func (c *Core) loseAdopted(p *peer, inc Incarnation) {
	c.tuples.dropHolder(p.id, inc)
	for _, l := range slices.Clone(p.leases) {
		if l.adopted && l.life < inc {
			c.requeue(l, true, &c.stats.PutBackLostThief)
		}
	}
}

// ownerLost decides about a segment whose owner is gone.
func (c *Core) ownerLost(s *segment) {
	if !c.salvaging() {
		c.stats.OrphansAborted++
		c.abortSegment(s)
		return
	}
	c.unown(s)
	c.orphan(s)
}

// unown takes a segment from its owner: its handle is closed here.
func (c *Core) unown(s *segment) {
	if i, ok := s.owner.findHeld(s.handle); ok {
		s.owner.held = slices.Delete(s.owner.held, i, i+1)
	}
	s.owner.closed(s.handle)
	s.owner, s.handle = nil, 0
}

// orphan deals with a segment that nobody waits for here, though somebody else may want its outcome. It has
// no owner and no lease.
func (c *Core) orphan(s *segment) {
	switch s.state {
	case waiting:
		c.stats.OrphansAborted++
		c.stop(s)
		delete(c.segments, s.id)
	case running:
		c.stats.OrphansKept++
		s.orphan = true
		c.orphansChanged()
		c.announce(s.job.Path, s.job.Identity)
	case lent:
		l := s.lent
		copied := l.copy
		if copied != nil {
			l.copy, copied.copyOf = nil, nil
		}
		c.disown([]*lease{l})
		delete(c.segments, s.id)
		if copied != nil {
			c.orphan(copied)
		}
	case finished:
		c.stats.OrphansKept++
		c.dropUnacked(s)
		delete(c.segments, s.id)
		c.keepOrphan(s)
	}
}

// keepOrphan keeps the outcome of a job that nobody has had, and tells of it.
func (c *Core) keepOrphan(s *segment) {
	if k := c.keep(Partial{Path: s.job.Path, Identity: s.job.Identity, Outcome: s.outcome}, own, ""); k != nil {
		c.announce(k.Path, k.Identity)
	}
}

// abortUseless ends orphans that nobody can want any more: the outcome of the same job, or of one above it, is known.
func (c *Core) abortUseless() {
	for _, s := range c.inOrder() {
		if s.orphan && c.known(s) {
			c.stats.OrphansAborted++
			c.stats.SegmentsAborted++
			c.stop(s)
			delete(c.segments, s.id)
			c.orphansChanged()
		}
	}
}

// known says whether somebody has what an orphan is to find out.
func (c *Core) known(s *segment) bool {
	if c.store.find(s.job.Path, s.job.Identity) != nil {
		return true
	}
	if e := c.tuples.find(s.job.Path, s.job.Identity); e != nil && e.Done {
		return true
	}
	return c.store.index.above(s.job.Path, func(k *kept) bool { return k.class != handed }) ||
		c.tuples.index.above(s.job.Path, func(e *tupleEntry) bool { return e.Done })
}
