package steal

import (
	"cmp"
	"slices"
	"time"
)

// A segment whose job names shared values is fetching until the driver says that they are here. It is held meanwhile
// like one that waits: it is in inventories, may be aborted, and goes back when its owner or this peer leaves; but no
// worker and no thief gets it. What it names stays here from then on until the segment is forgotten, also while it is
// lent: so whoever it comes back from, it need not fetch again.

// queue has a segment wait for a worker, or for what it names, or until it has rested.
func (ss *segments) queue(s *segment) {
	if s.rests > ss.now {
		s.state = fetching
		ss.fetching = append(ss.fetching, s)
		return
	}
	s.rests = 0
	if s.state = waiting; len(s.job.Names) > 0 && !s.asked {
		s.state, s.asked = fetching, true
		ss.fetching = append(ss.fetching, s)
		var victim PeerID
		if giver := s.heldAs(); giver != nil {
			victim = giver.owner.id
		}
		ss.order(Order{Kind: Fetch, Segment: s.id, Job: s.job, Victim: victim})
		return
	}
	if s.first {
		ss.waiting = slices.Insert(ss.waiting, 0, s)
	} else {
		ss.waiting = append(ss.waiting, s)
	}
}

// putFirst queues a segment before all others: it has been waited for.
func (ss *segments) putFirst(s *segment) {
	s.first = true
	ss.queue(s)
}

// An adoption that comes to nothing is no reason to begin the job at once: where peers leave together, each has told of
// the next one only, and news of whoever has a part of it, and stays, is on its way. The job rests for a heartbeat's
// time, and is looked for meanwhile; not more often than others may have it given up, as they may lie.

// rest has a segment rest, when it is queued, if its job was to be adopted from somebody.
func (ss *segments) rest(s *segment, of *lease) {
	if of.adopted && s.sought < maxSought {
		s.rests = ss.now + ss.cfg.HeartbeatEvery
	}
}

// rested queues those that have rested.
func (ss *segments) rested() {
	for _, s := range slices.Clone(ss.fetching) {
		if s.rests > 0 && s.rests <= ss.now {
			ss.dropWaiting(s)
			ss.queue(s)
		}
	}
}

// nextRested is when the first has rested; 0 is never.
func (ss *segments) nextRested() (at time.Duration) {
	for _, s := range ss.fetching {
		if s.rests > 0 && (at == 0 || s.rests < at) {
			at = s.rests
		}
	}
	return at
}

// unasked ends what was asked for a segment.
func (ss *segments) unasked(s *segment) {
	if s.asked {
		s.asked = false
		ss.order(Order{Kind: Release, Segment: s.id})
	}
}

// wanting is how many workers wait for a job that is not here yet. One that is fetching is as good as here: else an
// idle peer would take one job after the other while a large value is on its way. It is not if its giver is on trial.
func (ss *segments) wanting() int {
	if ss.stance.Finish {
		return 0
	}
	wants := ss.idle()
	for _, s := range ss.fetching {
		if top := s.heldAs(); top == nil || !top.owner.onTrial(ss.now) {
			wants--
		}
	}
	return max(0, wants)
}

// Ready says that all is here that the job of a segment names: see the order Fetch.
func (c *Core) Ready(now time.Duration, id SegmentID) Output {
	if !c.begin(now) {
		return c.out
	}
	if s := c.segments.byID[id]; s != nil && s.state == fetching {
		c.segments.dropWaiting(s)
		c.segments.queue(s)
		c.segments.supplied = true
		c.thief.returned = 0
		c.lost.reconsider = c.lost.reconsider || s.job.Restarted
	} else {
		c.stats.DroppedUnexpected++
	}
	return c.end()
}

// NotReady says that what the job of a segment names cannot be had here in time. It goes back to its owner, a copy to
// that of what it is a copy of: its argument may be missing. One that is this peer's own, or its copy, begins
// nevertheless: its argument was made here, and its read will say what else is missing.
func (c *Core) NotReady(now time.Duration, id SegmentID) Output {
	if !c.begin(now) {
		return c.out
	}
	switch s := c.segments.byID[id]; {
	case s == nil || s.state != fetching:
		c.stats.DroppedUnexpected++
	case s.copyOf != nil && s.heldAs() != nil:
		s.heldAs().owner.inVain(s.since, c.now)
		c.thief.restAfterReturn(s.heldAs().owner)
		c.book.sendBack(s.heldAs())
	case s.owner == nil:
		c.segments.dropWaiting(s)
		c.segments.queue(s)
	default:
		c.stats.JobsReturned++
		p, h := s.owner, s.handle
		p.inVain(s.since, c.now)
		c.thief.restAfterReturn(p)
		c.segments.dropWaiting(s)
		c.book.release(s)
		c.send(p, &Message{Return: &Return{Handles: []Handle{h}}})
	}
	return c.end()
}

// Awaits says whether a message brings the result of a job that was given away and is not back.
func (c *Core) Awaits(m *Message) bool { return c.book.awaited(m) != nil }

// awaited finds the lease of the job whose result a message brings. Of a thief that was given it unasked nothing may
// have been heard before.
func (b *book) awaited(m *Message) *lease {
	p := b.partners.find(m.From.Peer)
	if m.Result == nil || m.Run != b.run.ID || m.To != b.self || p == nil || p.inc != 0 && p.inc != m.From.Inc {
		return nil
	}
	if i, ok := p.findLease(m.Result.Handle); ok && p.leases[i].matches(m.Result) {
		return p.leases[i]
	}
	return nil
}

// Unusable says that a result is of no use here: what it names cannot be had. Its job is done again. If that is because
// this peer has no room for so much, no thief is asked for it any more: own workers do it, or it goes back to whoever
// gave it, since what they came to could not leave.
func (c *Core) Unusable(now time.Duration, m *Message, tooLarge bool) Output {
	if !c.begin(now) {
		return c.out
	}
	l := c.book.awaited(m)
	if l == nil {
		c.stats.DroppedUnexpected++
		return c.end()
	}
	l.thief.credit.failed(c.now, &c.cfg)
	c.book.tellAborted([]*lease{l})
	c.book.requeue(l, true, &c.stats.PutBackUnusable)
	if s := cmp.Or(l.copy, l.parent); tooLarge && s != nil {
		s.home = true
		if top := s.heldAs(); top != nil {
			c.thief.restAfterReturn(top.owner)
			c.book.sendBack(top)
		}
	}
	return c.end()
}

// CannotLeave says that a segment has come to more than this peer may hold for others. Its own engine, or its own
// disputes, use it all the same; else the job goes back to whoever gave it, and nobody hears of it.
func (c *Core) CannotLeave(now time.Duration, id SegmentID, outcome, voucher []byte) Output {
	if !c.begin(now) {
		return c.out
	}
	s := c.segments.byID[id]
	if s == nil || s.state != running {
		c.stats.DroppedUnexpected++
		return c.end()
	}
	s.stays = true
	top := s.heldAs()
	if top == nil {
		c.book.finish(s, outcome, voucher)
		return c.end()
	}
	s.state = stopped
	c.thief.restAfterReturn(top.owner)
	c.book.sendBack(top)
	return c.end()
}

// sendBack returns a job that was begun here to whoever gave it.
func (b *book) sendBack(s *segment) {
	p, h := s.owner, s.handle
	b.stats.JobsReturned++
	b.stop(s)
	b.release(s)
	b.send(p, &Message{Return: &Return{Handles: []Handle{h}, Begun: true}})
}

// Unacked says whether a peer has still to acknowledge a result. Call it between two inputs.
func (c *Core) Unacked(to PeerID, h Handle) bool {
	p := c.partners.find(to)
	if p == nil {
		return false
	}
	i, ok := p.findHeld(h)
	return ok && p.held[i].state == finished
}
