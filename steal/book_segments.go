package steal

import (
	"crypto/sha256"
	"slices"
)

// hold enters a job that came from p; false if there is no memory for it. The caller has made sure that it is not one
// too many.
func (b *book) hold(p *peer, g *Grant) bool {
	s := &segment{job: g.Job, from: p.id, since: b.now}
	its := max(b.cfg.MaxWaiting, b.cfg.MaxSegments/4) // places, of which results that it does not acknowledge take some
	if len(p.held) >= its || !b.segments.charge(s, g.Job.Size()+jobOverhead, false) {
		b.stats.JobsWithoutRoom++
		return false
	}
	b.own(p, s, g.Handle)
	b.segments.enter(s)
	b.segments.queue(s)
	if !g.Job.Restarted {
		b.leases.gotBelow(g.Job.Path)
		b.lost.reconsider = b.lost.reconsider || len(b.lost.tuples.find(g.Job.Path, g.Job.Identity)) > 0
	} else {
		b.lost.reconsider = true
		for _, u := range g.Orphans {
			b.lost.learnFromOther(u)
		}
	}
	return true
}

// own enters a segment as held for p.
func (b *book) own(p *peer, s *segment, h Handle) {
	s.owner, s.handle = p, h
	b.partners.listenTo(p)
	i, _ := p.findHeld(h)
	p.held = slices.Insert(p.held, i, s)
}

// release forgets a segment of another peer: its handle is closed here.
func (b *book) release(s *segment) {
	b.unown(s)
	b.segments.forget(s)
}

// unown takes a segment from its owner: its handle is closed here.
func (b *book) unown(s *segment) {
	if i, ok := s.owner.findHeld(s.handle); ok {
		s.owner.held = slices.Delete(s.owner.held, i, i+1)
	}
	s.owner.closed(s.handle)
	s.owner, s.handle = nil, 0
}

// feedWorkers hands waiting segments to idle workers, oldest first: it is the largest. The root does not wait
// for an idle one: the engine begins it before what runs, if it may use a core at all.
func (b *book) feedWorkers() {
	if s := b.segments.root; s != nil && s.state == waiting && b.segments.ready().Workers > 0 {
		b.runSegment(s)
	}
	for n := b.segments.idle(); n > 0 && len(b.segments.waiting) > 0; n-- {
		b.runSegment(b.segments.waiting[0])
	}
}

// runSegment has the engine run a segment that waits.
func (b *book) runSegment(s *segment) {
	b.segments.dropWaiting(s)
	s.state = running
	b.segments.runs++
	s.begun = b.now
	if b.salvaging() && s.inDoubt() {
		b.lost.announceRunning(s)
	}
	if s.job.Restarted {
		b.lost.expectRestarted()
	}
	b.order(Order{Kind: RunSegment, Segment: s.id, Job: s.job, First: s.root, Alone: s.witnessOf != nil})
}

// finish sends the outcome home, and keeps it in case it is lost there. A copy's outcome is home already: it
// settles the lease, and the thief, if it lives, learns that it was too slow. An orphan's has no home yet.
func (b *book) finish(s *segment, outcome, voucher []byte) {
	b.stats.SegmentsFinished++
	s.outcome, s.voucher = outcome, voucher
	if s.orphan {
		b.segments.forget(s)
		b.lost.orphansChanged()
		if !s.stays {
			b.lost.keepOrphan(s)
			b.mirror.homeless(s.part())
		}
		return
	}
	part := s.part()
	if l := s.copyOf; l != nil {
		if !s.stays {
			b.lost.keep(part, settled, b.self.Peer)
		}
		s.copyOf, l.copy = nil, nil
		if s.eager {
			b.stats.EagerWon++
		}
		if l.adopted {
			b.stats.OrphansReused++
		}
		b.segments.forget(s)
		b.tellAborted([]*lease{l})
		b.settle(l, outcome, voucher)
		return
	}
	if l := s.witnessOf; l != nil {
		l.here, s.witnessOf = nil, nil
		b.segments.forget(s)
		b.prove(l, "", b.now-s.since, outcome, voucher)
		return
	}
	if s.root {
		b.segments.root = nil
		b.segments.forget(s)
		b.rootFinished(outcome)
		return
	}
	k := b.lost.keep(part, settled, s.owner.id)
	if s.inDoubt() {
		b.mirror.homeless(part)
	}
	if k != nil && (s.owner.suspected() || b.masters.hasJustEnded(s.owner.id, b.cfg.BeaconEvery/2)) {
		b.lost.announceOne(k)
	}
	b.links.jobDone(s.owner.cluster, b.now-s.since, len(outcome))
	b.sendFirst(s, outcome, voucher)
}

// sendFirst sends a result for the first time.
func (b *book) sendFirst(s *segment, outcome, voucher []byte) {
	s.state, s.outcome, s.voucher, s.finished = finished, outcome, voucher, b.now
	b.segments.unacked = append(b.segments.unacked, s)
	b.segments.unackedN += len(outcome)
	b.sendResult(s)
	if !b.segments.charge(s, len(outcome), true) && !slices.Contains(b.overdrawn, s.owner) {
		b.overdrawn = append(b.overdrawn, s.owner)
	}
}

// giveBackOverdrawn returns the jobs of those whose results take more than they may, before the next results come. It
// has its turn when nobody is in the middle of anything.
func (b *book) giveBackOverdrawn() {
	for _, p := range b.overdrawn {
		b.giveBack(p)
	}
	b.overdrawn = nil
}

// giveBack returns what p has given and nobody here has begun: a thief that had it may have.
func (b *book) giveBack(p *peer) {
	var back []Handle
	begun := false
	for _, s := range slices.Clone(p.held) {
		if s.unbegun() {
			back, begun = append(back, s.handle), begun || s.job.Restarted
			b.stop(s)
			b.release(s)
		}
	}
	if len(back) > 0 {
		b.send(p, &Message{Return: &Return{Handles: back, Begun: begun}})
	}
}

func (b *book) sendResult(s *segment) {
	m := &Message{Result: &Result{Handle: s.handle, Path: s.job.Path, Identity: s.job.Identity, Outcome: s.outcome,
		Voucher: s.voucher}}
	within := b.relay.sendHome(s, m)
	wait := max(b.cfg.ResultRetry, min(3*b.links.expected(s.owner.cluster, m.Size()), b.cfg.ResultRetryMax))
	s.sentAt = b.now
	wait = min(wait<<min(s.tries, 10), b.cfg.ResultRetryMax)
	if within > 0 {
		wait = min(wait, within)
	}
	s.retryAt = b.now + wait
	s.tries++
	if b.segments.retryAt == 0 || s.retryAt < b.segments.retryAt {
		b.segments.retryAt = s.retryAt
	}
}

// retryResults sends again what has waited too long for its acknowledgement.
func (b *book) retryResults() {
	if b.segments.retryAt == 0 || b.now < b.segments.retryAt {
		return
	}
	b.segments.retryAt = 0
	for _, s := range b.segments.unacked {
		if b.now >= s.retryAt {
			if s.via == "" && s.tries == 1 {
				b.links.overdue(s.owner.cluster, b.now-s.sentAt, len(s.outcome))
			}
			b.stats.ResultsRepeated++
			b.sendResult(s)
		} else if b.segments.retryAt == 0 || s.retryAt < b.segments.retryAt {
			b.segments.retryAt = s.retryAt
		}
	}
}

// onAck lets go of a result.
func (b *book) onAck(p *peer, a *ResultAck) {
	i, ok := p.findHeld(a.Handle)
	if !ok || p.held[i].state != finished {
		b.stats.DroppedUnexpected++
		return
	}
	s := p.held[i]
	// a repeated result's acknowledgement cannot be timed (Karn), a detour says nothing of the link
	if s.tries == 1 && s.via == "" {
		b.links.resultAcked(p.cluster, b.now-s.sentAt, len(s.outcome))
	}
	b.segments.dropUnacked(s)
	b.release(s)
}

// abortSegment ends a segment of another peer wherever it has got to.
func (b *book) abortSegment(s *segment) {
	b.stop(s)
	b.stats.SegmentsAborted++
	b.release(s)
}

// endOrphan ends an orphan that nobody can want any more.
func (b *book) endOrphan(s *segment) {
	b.stats.OrphansAborted++
	b.stats.SegmentsAborted++
	b.stop(s)
	b.segments.forget(s)
	b.lost.orphansChanged()
}

// stop undoes a segment's state.
func (b *book) stop(s *segment) {
	switch s.state {
	case waiting, fetching:
		b.segments.dropWaiting(s)
	case running:
		b.order(Order{Kind: AbortSegment, Segment: s.id})
	case lent:
		l := s.lent
		b.tellAborted([]*lease{l})
		b.closeLease(l)
	case finished:
		b.segments.dropUnacked(s)
	}
}

// The root, at a master, is a segment like any other: run by the engine, with children that are stolen, and
// with an outcome. It has no owner, is not given away, and its outcome is the run's answer.

// startRoot queues the root. Restarted says that another master, or an earlier life, may have worked on it.
func (b *book) startRoot(restarted bool) {
	if b.segments.root != nil || b.run.Root.Function == "" || b.leaving {
		return
	}
	s := &segment{root: true, job: b.run.Root, since: b.now}
	s.job.Restarted = s.job.Restarted || restarted
	b.segments.root = s
	b.segments.enter(s)
	b.segments.putFirst(s)
	b.stats.Restarts++
}

// rootFinished is called when the root that this peer runs as master has its outcome. From now on its beacons say so.
func (b *book) rootFinished(outcome []byte) {
	if b.masters != nil {
		sum := sha256.Sum256(outcome)
		b.masters.finished([16]byte(sum[:]))
	}
	b.order(Order{Kind: Answer, Outcome: outcome})
}
