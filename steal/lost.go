package steal

import "slices"

// lose is what happens when a peer is certainly gone, by goodbye or a new life: the papers' recovery procedure (fault tolerance
// paper, 3.1). Jobs that it stole from here are queued again; jobs stolen from it have no owner any more.
func (c *Core) lose(p *peer) {
	c.loseThief(p)
	c.loseOwner(p)
	p.expects, p.known = 0, Acquaintance{}
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
		c.replace(l)
	}
	c.forgetRequests(p)
}

func (c *Core) forgetRequests(p *peer) {
	c.dropAsks(p)
	c.dropFlight(p.id)
}

// loseOwner deals with what was stolen from the peer.
func (c *Core) loseOwner(p *peer) {
	for len(p.held) > 0 {
		c.ownerLost(p.held[0])
	}
}

// ownerLost decides about a segment whose owner is gone: an orphan (fault tolerance paper, 3.2). This is the place for
// keeping finished children and announcing them, for finding a new parent for them, and, at the run's deputies, for
// starting the root again. Without any of these nobody can use the segment, so it is aborted: the owner's own owner has
// queued the parent again and everything below it will be run again with it.
func (c *Core) ownerLost(s *segment) {
	c.stats.OrphansAborted++
	c.abortSegment(s)
}
