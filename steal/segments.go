package steal

import (
	"slices"
	"time"
)

// segment is a job held for another peer, with everything run in place under it.
type segment struct {
	id     SegmentID
	owner  *peer  // nil for a copy, an orphan and the root
	copyOf *lease // of what it is a copy, run in a silent thief's stead
	root   bool   // the run's, this peer being master
	orphan bool   // nobody waits for it, but somebody may want it (lost.go)
	sought bool   // it was given up for another's orphan once
	handle Handle
	job    Job
	state  segmentState
	since  time.Duration // when it came
	begun  time.Duration // when a worker got it last
	lent   *lease        // to whom it was passed on, in state lent

	outcome  []byte
	finished time.Duration
	sentAt   time.Duration // when the result was sent last
	retryAt  time.Duration // when to send it again
	tries    int
	relayed  bool // the last time
}

type segmentState uint8

const (
	waiting  segmentState = iota // for a worker of this peer, or for a thief
	running                      // in the engine
	lent                         // passed on to another thief, whose result will come through here
	finished                     // the result is not acknowledged yet
	stopped                      // aborted in the engine, held until the goodbye of this peer
)

// hold enters a job that came from p. The caller has made sure that there is room.
func (c *Core) hold(p *peer, g *Grant) {
	c.lastSeg++
	s := &segment{id: c.lastSeg, owner: p, handle: g.Handle, job: g.Job, since: c.now}
	c.watch(p)
	i, _ := p.findHeld(g.Handle)
	p.held = slices.Insert(p.held, i, s)
	c.segments[s.id] = s
	c.waiting = append(c.waiting, s)
	if g.Job.Restarted {
		c.reconsider = true
		for _, u := range g.Orphans {
			// hearsay: made-up holders could drive true ones out of the table
			if _, member := c.members.Find(u.Holder.Peer); member {
				c.learn(u)
			}
		}
	}
}

// release forgets a segment of another peer: its handle is closed here.
func (c *Core) release(s *segment) {
	c.unown(s)
	delete(c.segments, s.id)
}

// idle is how many workers wait for a job that is not on its way to them already.
func (c *Core) idle() int { return max(0, c.load.Idle-int(c.runs-c.load.Runs)) }

// queued is how many jobs this peer could give away.
func (c *Core) queued() int { return c.load.Queued + len(c.waiting) }

// feedWorkers hands waiting segments to idle workers, oldest first: it is the largest. The root does not wait
// for an idle one: the engine begins it before what runs, if it may use a core at all.
func (c *Core) feedWorkers() {
	if s := c.root; s != nil && s.state == waiting && c.load.Workers > 0 {
		c.runSegment(s)
	}
	for n := c.idle(); n > 0 && len(c.waiting) > 0; n-- {
		c.runSegment(c.waiting[0])
	}
}

// runSegment has the engine run a segment that waits.
func (c *Core) runSegment(s *segment) {
	i := slices.Index(c.waiting, s)
	c.waiting = slices.Delete(c.waiting, i, i+1)
	s.state = running
	c.runs++
	c.begunAt, s.begun = c.now, c.now
	if s.job.Restarted {
		c.expectRestarted()
	}
	c.order(Order{Kind: RunSegment, Segment: s.id, Job: s.job, First: s.root})
}

// finish sends the outcome home, and keeps it in case it is lost there. A copy's outcome is home already: it
// settles the lease, and the thief, if it lives, learns that it was too slow. An orphan's has no home yet.
func (c *Core) finish(s *segment, outcome []byte) {
	c.stats.SegmentsFinished++
	if s.orphan {
		delete(c.segments, s.id)
		c.orphansChanged()
		s.outcome = outcome
		c.keepOrphan(s)
		return
	}
	if l := s.copyOf; l != nil {
		c.keep(Partial{Path: s.job.Path, Identity: s.job.Identity, Outcome: outcome}, settled, c.self.Peer)
		s.copyOf, l.copy = nil, nil
		if l.adopted {
			c.stats.OrphansReused++
		}
		delete(c.segments, s.id)
		c.tellAborted([]*lease{l})
		c.settle(l, outcome)
		return
	}
	if s.root {
		c.root = nil
		delete(c.segments, s.id)
		c.rootFinished(outcome)
		return
	}
	k := c.keep(Partial{Path: s.job.Path, Identity: s.job.Identity, Outcome: outcome}, settled, s.owner.id)
	if k != nil && s.owner.lost {
		c.announceOne(k)
	}
	c.links.jobDone(s.owner.cluster, c.now-s.since, len(outcome))
	c.sendFirst(s, outcome)
}

// sendFirst sends a result for the first time.
func (c *Core) sendFirst(s *segment, outcome []byte) {
	s.state, s.outcome, s.finished = finished, outcome, c.now
	c.unacked = append(c.unacked, s)
	c.unackedN += len(outcome)
	c.sendResult(s)
}

func (c *Core) sendResult(s *segment) {
	m := &Message{Result: &Result{Handle: s.handle, Path: s.job.Path, Identity: s.job.Identity, Outcome: s.outcome}}
	c.sendHome(s, m)
	wait := max(c.cfg.ResultRetry, min(3*c.links.expected(s.owner.cluster, m.Size()), c.cfg.ResultRetryMax))
	s.sentAt = c.now
	s.retryAt = c.now + min(wait<<min(s.tries, 10), c.cfg.ResultRetryMax)
	s.tries++
	if c.retryAt == 0 || s.retryAt < c.retryAt {
		c.retryAt = s.retryAt
	}
}

// retryResults sends again what has waited too long for its acknowledgement.
func (c *Core) retryResults() {
	if c.retryAt == 0 || c.now < c.retryAt {
		return
	}
	c.retryAt = 0
	for _, s := range c.unacked {
		if c.now >= s.retryAt {
			c.stats.ResultsRepeated++
			c.sendResult(s)
		} else if c.retryAt == 0 || s.retryAt < c.retryAt {
			c.retryAt = s.retryAt
		}
	}
}

// onAck lets go of a result.
func (c *Core) onAck(p *peer, a *ResultAck) {
	i, ok := p.findHeld(a.Handle)
	if !ok || p.held[i].state != finished {
		c.stats.DroppedUnexpected++
		return
	}
	s := p.held[i]
	// a repeated result's acknowledgement cannot be timed (Karn), a detour says nothing of the link
	if s.tries == 1 && !s.relayed {
		c.links.resultAcked(p.cluster, c.now-s.sentAt, len(s.outcome))
	}
	c.dropUnacked(s)
	c.release(s)
}

func (c *Core) dropUnacked(s *segment) {
	if i := slices.Index(c.unacked, s); i >= 0 {
		c.unacked = slices.Delete(c.unacked, i, i+1)
		c.unackedN -= len(s.outcome)
	}
	if len(c.unacked) == 0 {
		c.retryAt = 0
	}
}

// onAbort ends segments whose outcome is not wanted any more.
func (c *Core) onAbort(p *peer, a *Abort) {
	for _, h := range a.Handles {
		if i, ok := p.findHeld(h); ok {
			c.abortSegment(p.held[i])
		} else {
			c.stats.DroppedUnexpected++
		}
	}
}

// abortSegment ends a segment of another peer wherever it has got to.
func (c *Core) abortSegment(s *segment) {
	c.stop(s)
	c.stats.SegmentsAborted++
	c.release(s)
}

// stop undoes a segment's state.
func (c *Core) stop(s *segment) {
	switch s.state {
	case waiting:
		if i := slices.Index(c.waiting, s); i >= 0 {
			c.waiting = slices.Delete(c.waiting, i, i+1)
		}
	case running:
		c.order(Order{Kind: AbortSegment, Segment: s.id})
	case lent:
		l := s.lent
		c.tellAborted([]*lease{l})
		c.closeLease(l)
	case finished:
		c.dropUnacked(s)
	}
}
