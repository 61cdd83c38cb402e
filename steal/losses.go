package steal

import (
	"slices"

	"github.com/satin-peer/satin/steal/policy"
)

// What is done when a peer is gone (fault tolerance paper, 3.1 and 3.2), or seems to be.
//
// As a thief: the jobs that it stole from here are run again, marked as restarted. As an owner: what was
// stolen from it is orphaned. Nobody waits for it here, but whoever runs the lost job again will spawn the
// same jobs. So a running orphan runs on, a finished one's outcome is kept, and both are told to everybody,
// so that the new owner can adopt them (adopt.go). What has not begun is dropped. A segment that was passed
// on is not an orphan itself: its thief is told that it has one.
//
// A peer that is only silent, as an owner, is suspected: what is held for it is told already, because those
// who wait for the peer run its jobs again by now, and may be adopted by them. What was passed on for it is
// told by its thief, who hears of the doubt (disown.go). It is an orphan for certain after a goodbye, a new life or a
// longer silence.

// losses decides what becomes of the work of a peer that is gone, or seems to be.
type losses struct {
	*shared
	partners *partners
	segments *segments
	leases   *leases
	lost     *lostWork
	book     *book
	victim   *victim
	thief    *thief
}

// lose is what happens when a peer is certainly gone, by goodbye or a new life.
func (lo *losses) lose(p *peer) {
	lo.loseThief(p)
	lo.loseOwner(p)
	lo.lost.tuples.dropHolder(p.id, p.inc+1)
	lo.book.mirror.again()
	p.expects, p.known, p.disowned = 0, policy.Acquaintance{}, nil
}

// loseThief queues again what the peer stole from here, and forgets what it asked and was asked for.
func (lo *losses) loseThief(p *peer) {
	lo.failed(p)
	for len(p.leases) > 0 {
		lo.book.requeue(p.leases[0], true, &lo.stats.PutBackLostThief)
	}
	lo.forgetRequests(p)
}

// suspectThief is for a peer that is only silent: what it stole is run here too, until it is heard again.
func (lo *losses) suspectThief(p *peer) {
	lo.failed(p)
	for _, l := range slices.Backward(p.leases) { // the oldest goes to the front last
		lo.book.replace(l, &lo.stats.PutBackLostThief)
	}
	lo.forgetRequests(p)
}

// failed says that jobs a peer has are to be run without it.
func (lo *losses) failed(p *peer) {
	if len(p.leases) > 0 {
		p.credit.failed(lo.now, &lo.cfg)
	}
}

// forgetRequests is for what the peer asked, and what it was asked for: jobs, and to send results on.
func (lo *losses) forgetRequests(p *peer) {
	lo.segments.detourLost(p)
	lo.victim.dropAsks(p)
	lo.thief.dropFlight(p.id)
}

// suspectOwner tells of what is held for a peer that is only silent.
func (lo *losses) suspectOwner(p *peer) {
	if !lo.salvaging() {
		return
	}
	lo.doubt(p.held)
	for _, s := range p.held {
		if s.state == finished {
			lo.book.mirror.homeless(s.part())
		}
	}
	lo.lost.announceKept(p.id)
	lo.lost.reconsider = true
}

// loseOwner deals with what was stolen from the peer.
func (lo *losses) loseOwner(p *peer) {
	for len(p.held) > 0 {
		lo.ownerLost(p.held[0])
	}
	lo.lost.announceKept(p.id)
}

// loseAdopted forgets what earlier lives of a peer had, of which only others have told.
func (lo *losses) loseAdopted(p *peer, inc Incarnation) {
	lo.lost.tuples.dropHolder(p.id, inc)
	for _, l := range slices.Clone(p.leases) {
		if l.adopted && l.life < inc {
			lo.book.requeue(l, true, &lo.stats.PutBackLostThief)
		}
	}
}

// ownerLost decides about a segment whose owner is gone.
func (lo *losses) ownerLost(s *segment) {
	if !lo.salvaging() {
		lo.stats.OrphansAborted++
		lo.book.abortSegment(s)
		return
	}
	lo.book.unown(s)
	lo.orphan(s)
}

// orphan deals with a segment that nobody waits for here, though somebody else may want its outcome. It has
// no owner and no lease.
func (lo *losses) orphan(s *segment) {
	switch s.state {
	case waiting, fetching:
		lo.stats.OrphansAborted++
		lo.book.stop(s)
		lo.segments.forget(s)
	case running:
		lo.stats.OrphansKept++
		lo.segments.setOrphan(s, true)
		lo.lost.reconsider = true
		lo.lost.announceRunning(s)
	case lent:
		l := s.lent
		copied := l.copy
		if copied != nil {
			l.copy, copied.copyOf = nil, nil
		}
		lo.disown([]*lease{l})
		lo.segments.forget(s)
		if copied != nil {
			lo.orphan(copied)
		}
	case finished:
		lo.stats.OrphansKept++
		lo.segments.dropUnacked(s)
		lo.segments.forget(s)
		lo.lost.keepOrphan(s)
		lo.book.mirror.homeless(s.part())
	}
}

// leaveToRestarted gives back what waits here for an owner that may be gone, if a job above it is here that is run
// again: that comes to it by itself. Nobody has begun it, so nothing is lost; once begun, here or by a thief, it would
// be done twice, for the engine may be at work on it in place by then, and no orphan could take the place of that.
func (lo *losses) leaveToRestarted() {
	if !lo.salvaging() {
		return
	}
	for _, s := range slices.Backward(lo.segments.waiting) { // those that stay are before it
		if !s.inDoubt() || !lo.segments.begunAgainAbove(s.job.Path) {
			continue
		}
		top := s.heldAs()
		lo.segments.giveUp(top, s.job.Restarted)
		lo.ownerLost(top)
	}
}

// endRoot gives the root up: its engine stops, and the thieves of its children are told that these are orphans now.
func (lo *losses) endRoot() {
	s := lo.segments.root
	if s == nil {
		return
	}
	lo.disownChildren(s)
	lo.segments.root = nil
	lo.book.stop(s)
	lo.segments.forget(s)
}
