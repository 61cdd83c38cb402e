package steal

import (
	"maps"
	"slices"
)

// disownChildren closes the leases of jobs that were spawned under a segment which is about to end without an
// outcome, though the segment itself is wanted: whoever runs it again can adopt them. Which of the leases
// belong to it can be told by their paths: they do not if another segment that runs here lies between, or is
// perhaps the very job. Where in doubt, a lease stays, and is aborted if the engine says so: closed by
// mistake, it would leave a frame waiting for ever.
func (lo *losses) disownChildren(s *segment) {
	if !lo.salvaging() {
		return // then the engine's Aborted does what there is to do
	}
	var ls []*lease
	for _, ref := range slices.Sorted(maps.Keys(lo.leases.refs)) {
		if l := lo.leases.refs[ref]; !l.ofSegment && lo.segments.spawnedUnder(l.job.Path) == s {
			ls = append(ls, l)
		}
	}
	lo.disownAll(ls)
}

// disownAll gives up leases and the copies of their jobs: all of them may be adopted.
func (lo *losses) disownAll(ls []*lease) {
	var copies []*segment
	for _, l := range ls {
		if s := l.copy; s != nil {
			l.copy, s.copyOf = nil, nil
			copies = append(copies, s)
		}
	}
	lo.disown(ls)
	for _, s := range copies {
		lo.orphan(s)
	}
}

// onAbort ends segments whose outcome is not wanted any more.
func (lo *losses) onAbort(p *peer, a *Abort) {
	for _, h := range a.Handles {
		if i, ok := p.findHeld(h); ok {
			lo.letGo(p.held[i])
			lo.book.abortSegment(p.held[i])
		} else {
			lo.stats.DroppedUnexpected++
		}
	}
	lo.giveWay(a.Elsewhere)
}

// letGo is called before a segment is aborted. What it has adopted is to be an orphan again, and not aborted: others
// may have been at work on that for much longer than it was. Which of the leases below its path are its own only the
// engine knows, which says so (Aborted): another segment may have the same job in place.
func (lo *losses) letGo(s *segment) {
	switch {
	case !s.heir:
		return
	case s.state == lent && s.lent.adopted:
		s.state = stopped
		lo.disownAll([]*lease{s.lent})
	}
	lo.leases.letGoBelow(s.job.Path)
}

// onAborted gives up what the engine does not want any more.
func (lo *losses) onAborted(refs []Ref) {
	var ls []*lease
	refs = slices.DeleteFunc(slices.Clone(refs), func(r Ref) bool {
		l := lo.leases.refs[r]
		if l == nil || !l.letGo {
			return false
		}
		ls = append(ls, l)
		return true
	})
	lo.disownAll(ls)
	lo.book.abortLeases(refs)
}

// disown closes leases and tells the thieves, one message each. A lost message is made good by the next inventory.
func (lo *losses) disown(ls []*lease) {
	for _, group := range byThief(ls) {
		thief, hs := group[0].thief, leasedHandles(group)
		for _, l := range group {
			lo.book.closeLease(l)
		}
		if thief == nil {
			continue
		}
		thief.disowned = append(thief.disowned, hs...)
		thief.disowned = thief.disowned[max(0, len(thief.disowned)-maxDisowned):]
		if thief.inc != 0 {
			lo.send(thief, &Message{Disown: &Disown{Handles: hs}})
		}
	}
}

// doubt is about segments for which perhaps nobody waits. Whoever runs one of them tells everybody of it: that is this
// peer, or the thief to whom it was passed on, who may live behind any number of others. What it is told here is not
// repeated: if it is lost, the certain loss of the owner follows.
func (lo *losses) doubt(ss []*segment) {
	var ls []*lease
	for _, s := range ss {
		if s.state == lent && s.lent.copy != nil && s.lent.copy.state == running {
			lo.lost.announceRunning(s.lent.copy)
		}
		switch {
		case s.state == running:
			lo.lost.announceRunning(s)
		case s.state == lent && s.lent.thief != nil && s.lent.thief.inc != 0:
			s.lent.doubted = true
			ls = append(ls, s.lent)
		}
	}
	for _, group := range byThief(ls) {
		lo.send(group[0].thief, &Message{Disown: &Disown{Handles: leasedHandles(group), Perhaps: true}})
	}
}

// maxDisowned is how many handles are remembered of each peer, so that they are disowned again if the message
// was lost. Those forgotten are aborted.
const maxDisowned = 64

// onDisown makes orphans of what is held for a peer that has lost it, or perhaps.
func (lo *losses) onDisown(p *peer, d *Disown) {
	var doubted []*segment
	for _, h := range d.Handles {
		switch i, ok := p.findHeld(h); {
		case !ok:
			lo.stats.DroppedUnexpected++
		case !d.Perhaps:
			lo.ownerLost(p.held[i])
		case lo.salvaging():
			s := p.held[i]
			s.doubted, lo.lost.reconsider = true, true // it may be what another one here is to find out
			doubted = append(doubted, s)
		}
	}
	lo.doubt(doubted)
}
