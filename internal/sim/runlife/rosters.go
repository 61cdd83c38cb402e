package runlife

import (
	"fmt"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
)

// In some schedules runs adapt: whoever coordinates one says now and then who is to take part, at random and without
// mercy for anybody. Others say so, too, who may not, and what was said long ago is said again.

// said is what was really signed: by author and number.
type said map[runs.PeerID]map[uint64]*runs.Roster

// adapt draws how a run adapts.
func (w *world) adapt(p *project) {
	if !w.kind.Rosters || w.rosters.IntN(5) == 0 {
		return
	}
	p.manifest.Adapt, p.said = "volunteers", said{}
	if w.rosters.IntN(3) == 0 {
		p.manifest.MaxPeers = 1 + w.rosters.IntN(3)
	}
	if w.rosters.IntN(3) == 0 { // so long that all have come to one roster before it ends
		p.work += time.Duration(w.rosters.Int64N(int64(250 * time.Second)))
	}
}

// Cluster is where a member is: there are three.
func (m *member) Cluster(id runs.PeerID) string {
	if o := m.w.member(id); o != nil {
		return fmt.Sprint("c", o.i%3)
	}
	return ""
}

// Enroll signs: the statement says who has made it.
func (m *member) Enroll(r *runs.Roster) []byte {
	p := m.w.byID[r.Run]
	if p.strict() {
		m.w.fail("%s makes a roster of run %d, which is verified", m.id, p.n)
		return nil
	}
	if p.said[m.id] == nil {
		p.said[m.id] = map[uint64]*runs.Roster{}
	}
	if p.said[m.id][r.Number] != nil {
		m.w.fail("%s makes two rosters %d of run %d", m.id, r.Number, p.n)
	}
	if m != p.owner && !slices.Contains(p.manifest.Deputies, m.id) {
		m.w.fail("%s, no deputy, makes a roster of run %d", m.id, p.n)
	}
	m.w.counts.Rosters++
	s := *r
	s.Sealed = []byte("roster")
	p.said[m.id][r.Number] = &s
	return s.Sealed
}

// decide has a member that coordinates decide something, now and then.
func (m *member) decide() {
	w := m.w
	if w.rosters == nil {
		return
	}
	for _, s := range slices.Clone(m.sessions) {
		if s.p.said == nil || !m.core.Musters.Coordinates(s.p.id) || w.rosters.IntN(15) > 0 {
			continue
		}
		n := &runs.Muster{Log: []runs.RosterEntry{{At: m.clock().Unix(), Text: "drawn"}}}
		if w.rosters.IntN(3) == 0 {
			n.Wanted = 1 + w.rosters.IntN(len(w.members))
		}
		if w.rosters.IntN(3) == 0 {
			n.Out = append(n.Out, runs.Outsider{Cluster: fmt.Sprint("c", w.rosters.IntN(3)), Left: 1})
		}
		for _, o := range w.members {
			if w.rosters.IntN(4) == 0 {
				n.Out = append(n.Out, runs.Outsider{Cluster: m.Cluster(o.id), Peer: o.id, Left: w.rosters.IntN(3)})
			}
		}
		w.say("%s: run %d wants %d, without %v", m.id, s.p.n, n.Wanted, n.Out)
		s.p.decided = w.now
		m.input(m.core.Musters.Muster(m.clock(), s.p.id, n))
	}
}

// usurp has somebody say who takes part in a run: one who may not, or with what was said before.
func (w *world) usurp() {
	m := w.pick()
	if m == nil || len(w.runs) == 0 {
		return
	}
	p := w.runs[w.rosters.IntN(len(w.runs))]
	if p.said == nil {
		return
	}
	r := &runs.Roster{Run: p.id, Author: m.id, Number: 1 << 60, Sealed: []byte("lie"),
		Out: []runs.Outsider{{Cluster: "c0", Left: 1}, {Cluster: "c1", Left: 1}, {Cluster: "c2", Left: 1}}}
	if w.rosters.IntN(2) == 0 { // old news
		if r = w.oldest(p); r == nil {
			return
		}
	} else if m == p.owner || slices.Contains(p.manifest.Deputies, m.id) {
		return // whoever may say it once was trusted with that
	}
	w.say("%s tells of a roster of run %d by %s", m.id, p.n, r.Author)
	m.tellAll(func(to *member) []runs.Order { return to.core.Rostered(to.clock(), r, m.id) })
}

// oldest is the first roster of a run's owner.
func (w *world) oldest(p *project) (first *runs.Roster) {
	for _, r := range p.said[p.owner.id] {
		if first == nil || r.Number < first.Number {
			first = r
		}
	}
	return first
}

// lookAtRosters looks at what a member believes of rosters after each input.
func (w *world) lookAtRosters(m *member) {
	for _, p := range w.runs {
		if p.said == nil {
			continue
		}
		r := m.core.Musters.Roster(p.id)
		if r == nil {
			continue
		}
		switch {
		case p.said[r.Author][r.Number] == nil:
			w.fail("%s believes a roster of run %d that %s has not made", m.id, p.n, r.Author)
		case r.Number < m.numbers[numbered{p.id, r.Author}]:
			w.fail("%s goes back to roster %d of run %d", m.id, r.Number, p.n)
		}
		m.numbers[numbered{p.id, r.Author}] = r.Number
	}
}

// lookAtOutsiders looks after each tick whether a member takes part that is out. Between two ticks it may be right that
// one does: its core is told only at ticks that a part of the real protocol has given the root up, as in a peer, and
// notices only then that a roster has lapsed, so that an older one, of another author, counts.
func (w *world) lookAtOutsiders(m *member) {
	for _, s := range m.sessions {
		r := m.core.Musters.Roster(s.p.id)
		if r == nil || m == s.p.owner || r.Author == m.id || s.root || s.part != nil && s.part.driver.Master() {
			continue
		}
		if r.Excludes(m.id, m.Cluster(m.id)) {
			w.fail("%s takes part in run %d, and roster %d of %s excludes it", m.id, s.p.n, r.Number, r.Author)
		}
	}
}

type numbered struct {
	run job.RunID
	by  runs.PeerID
}

// agreed looks whether all who know of a run that goes on have come to the same roster, some time after the last
// fault.
func (w *world) agreed() {
	for _, p := range w.runs {
		i, there := p.owner.core.Run(p.id)
		if p.said == nil || !there || i.State != runs.StateRunning || w.now-p.decided < roundTrip {
			continue
		}
		var one *runs.Roster
		for _, m := range w.members {
			i, there := m.core.Run(p.id)
			if !there || i.State.Ended() && i.State != runs.StateRefused || m.tolls[p.id].Quarantined() {
				continue
			}
			r := m.core.Musters.Roster(p.id)
			switch {
			case r == nil: // it has begun to take part this moment, or nobody has made one
				w.counts.Alone++
			case one != nil && (r.Author != one.Author || r.Number != one.Number):
				w.fail("run %d has roster %d of %s and, at %s, %d of %s", p.n, one.Number, one.Author, m.id, r.Number,
					r.Author)
			default:
				one = r
			}
		}
		if one != nil {
			w.counts.Agreed++
		}
	}
}

// roundTrip is how long a roster may take to all.
const roundTrip = 2 * time.Second

// released looks at a member that leaves a run because of its roster, and has it leave.
func (m *member) released(o *runs.Stop) {
	w, p := m.w, m.w.byID[o.Run]
	s := m.session(p)
	w.counts.Benched++
	w.say("%s leaves run %d: %s", m.id, p.n, o.Why)
	switch {
	case m == p.owner:
		w.fail("%s leaves its own run %d", m.id, p.n)
	case s == nil && m.prevents(p) != "": // it was to begin in the same moment, and could not
		return
	case s == nil:
		w.fail("%s leaves run %d, and takes no part", m.id, p.n)
		return
	case s.root:
		w.fail("%s leaves run %d, and holds its root", m.id, p.n)
	}
	m.sessions = slices.DeleteFunc(m.sessions, func(x *session) bool { return x == s })
	if s.part != nil {
		m.leaving = append(m.leaving, s.part)
		s.part.leave()
	}
}

// leave has a part hand over what it has, and go.
func (x *part) leave() {
	x.driver.Leave(x.now(), 5*time.Second)
	x.settle()
	x.later(6*time.Second, func() {
		x.over = true
		x.m.leaving = slices.DeleteFunc(x.m.leaving, func(o *part) bool { return o == x })
	})
}
