package steal

import (
	"slices"
)

// Rivals are two that are at work on one job, or on a job and on one below it, though nobody was lost: they were cut
// off from each other for a while, and each side ran again what the other had. Whoever is still waited for says
// nothing of itself, since nobody looks for it; so an orphan on the other side would go on for nobody, and idle peers
// would steal from it. It is told that it is not wanted when it tells of itself (lostWork.announceRunning): of the two,
// the one that began later gives way, as a restarted job does to an older orphan (adoption.seek).

// answerOrphans tells somebody which of the jobs that it has as orphans are at work here, since before it began them.
func (lo *losses) answerOrphans(from Address, told []Tuple) {
	var mine []Tuple
	for i := range told {
		u := &told[i]
		s := lo.rivalOf(from, u)
		if s == nil {
			continue
		}
		w := lo.lost.worksOn(s)
		if s.job.Restarted { // it looks for what else was begun below it
			w.Path, w.Identity = u.Path, u.Identity
		}
		if !slices.ContainsFunc(mine, w.sameJob) {
			mine = append(mine, w)
		}
	}
	if len(mine) == 0 {
		return
	}
	if p := lo.partners.meet(from.Peer); p != nil {
		lo.sendTo(from, p, &Message{Abort: &Abort{Elsewhere: mine}})
	}
}

// rivalOf finds what is at work here, and waited for, in the place of what another peer tells of: the same job, or one
// above it that has not given the one away. What is run again looks for orphans: it is no rival of one that has been at
// work for longer than a loss takes to be noticed.
func (lo *losses) rivalOf(from Address, u *Tuple) *segment {
	if u.Done || u.Holder != from || lo.leaving {
		return nil
	}
	s := lo.segments.deepest(u.Path, func(s *segment) bool { return s.state == running && !s.adoptable() })
	switch {
	case s == nil || s.begun >= lo.now-u.Age:
		return nil
	case s.is(u.Path, u.Identity):
		return s
	case len(s.job.Path) == len(u.Path) || s.job.Restarted && u.Age >= lo.noticing():
		return nil
	}
	for _, l := range lo.leases.refs {
		if p := l.job.Path; s.job.Path.Above(p) && atOrAbove(p, u.Path) {
			return nil // whoever has got it is to say so
		}
	}
	return s
}

// giveWay ends orphans that began after another peer had begun the same job, or one above it that is not run again. An
// answer is held against when this peer told of the orphan: whoever answered has compared just so, and does not look
// for what it believes to be younger. By the time of the answer, which is later by what both took, each would go on.
func (lo *losses) giveWay(to []Tuple) {
	if lo.segments.orphans == 0 || len(to) == 0 {
		return
	}
	all := lo.segments.inOrder()
	for i := range to {
		u := &to[i]
		for _, s := range all {
			there, asked := s.orphan && lo.segments.byID[s.id] == s, lo.now
			if s.toldAt > s.begun {
				asked = s.toldAt
			}
			if there && s.begun > asked-u.Age && (s.is(u.Path, u.Identity) || u.Path.Above(s.job.Path)) {
				lo.letGo(s)
				lo.book.endOrphan(s)
			}
		}
	}
}
