package steal

// lose is what happens when a peer is gone, by silence, goodbye or a new life: the papers' recovery procedure (fault
// tolerance paper, 3.1). Jobs that it stole from here are queued again; jobs stolen from it have no owner any more.
func (c *Core) lose(p *peer) {
	for len(p.leases) > 0 {
		c.requeue(p.leases[0], true, &c.stats.PutBackLostThief)
	}
	for len(p.held) > 0 {
		c.ownerLost(p.held[0])
	}
	p.expects, p.known = 0, Acquaintance{}
	c.dropAsks(p)
	c.dropFlight(p.id)
}

// ownerLost decides about a segment whose owner is gone: an orphan (fault tolerance paper, 3.2). This is the place for
// keeping finished children and announcing them, for finding a new parent for them, and, at the run's deputies, for
// starting the root again. Without any of these nobody can use the segment, so it is aborted: the owner's own owner has
// queued the parent again and everything below it will be run again with it.
func (c *Core) ownerLost(s *segment) {
	c.stats.OrphansAborted++
	c.abortSegment(s)
}
