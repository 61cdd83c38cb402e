package runlife

import (
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/satin-peer/satin/runs"
)

// session is a member's part in a run: a modelled protocol that moves jobs, or the real one.
type session struct {
	p       *project
	part    *part // nil: it is modelled, by what follows
	root    bool
	ended   bool // the root job has
	done    time.Duration
	silence time.Duration
	fuse    time.Duration // until its process dies; 0: it does not
}

const (
	beat  = 500 * time.Millisecond // of a modelled session
	lease = 3 * time.Second        // how long a silent master is waited for
	lost  = 4 * time.Second        // how long a silent member is believed to be alive
)

// begin takes part in a run, with what was kept of it.
func (m *member) begin(p *project, fresh bool) {
	s := &session{p: p, root: fresh, fuse: m.ignite(p)}
	m.sessions = append(m.sessions, s)
	if m.w.kind.Stealing {
		s.root, s.part = false, m.join(p, fresh)
		s.part.recall(m.kept[p.id])
	}
}

func (m *member) stop(o *runs.Stop) {
	if o.HandOver {
		m.released(o)
		return
	}
	m.sessions = slices.DeleteFunc(m.sessions, func(s *session) bool {
		if s.p.id == o.Run && s.part != nil {
			s.part.stop()
		}
		return s.p.id == o.Run
	})
	if o.Discard {
		delete(m.kept, o.Run)
	}
}

// collect brings what others have of a run to its owner's disk.
func (m *member) collect(o runs.Collect) {
	for _, id := range o.From {
		from, c := m.w.member(id), m.kept[o.Run]
		if from != nil && c != nil && from.kept[o.Run] != nil && m.w.connected(m, from) && !m.w.chance(m.w.loss) {
			c.parts = append(c.parts, from.kept[o.Run].parts...)
		}
	}
}

// compute is the modelled work on runs, and who holds their roots.
func (m *member) compute() {
	w := m.w
	for _, s := range slices.Clone(m.sessions) {
		if !slices.Contains(m.sessions, s) {
			continue // it was stopped this moment
		}
		if m.burn(s) || s.part != nil {
			continue
		}
		better := false // another one holds the root and has more right to it
		for _, o := range w.members {
			x := o.session(s.p)
			if o != m && x != nil && x.root && w.connected(m, o) &&
				(!s.root || x.ended && !s.ended || x.ended == s.ended && rank(s.p, o) < rank(s.p, m)) {
				better = true
			}
		}
		switch {
		case s.root && better:
			s.root, s.done, s.silence = false, 0, 0
			m.input(m.core.RootHeld(m.clock(), s.p.id, false))
		case s.root && !s.ended:
			m.lead(s.p)
			if s.done += beat; s.done >= s.p.work && !s.p.killer {
				s.ended = true
				w.say("%s has the answer of run %d", m.id, s.p.n)
				w.counts.Answers++
				m.input(m.core.RootEnded(m.clock(), s.p.id, outcome(s.p, m)))
			}
		case s.root:
		case better:
			s.silence = 0
		case s.p.strict() && m != s.p.owner: // nobody else may have the root
		default:
			if s.silence += beat; s.silence >= lease+time.Duration(rank(s.p, m))*time.Second {
				s.root = true
				m.input(m.core.RootHeld(m.clock(), s.p.id, true))
			}
		}
	}
}

// lead tells everybody that this member holds a run's root. Whom it reaches hears it at once: beacons that are lost or
// late are part.go's, and what was drawn for the schedules of TestRegressions stays.
func (m *member) lead(p *project) {
	for _, o := range m.w.members {
		if o != m && m.w.connected(m, o) {
			o.input(o.core.Led(o.clock(), p.id, m.id))
		}
	}
}

func (m *member) session(p *project) *session {
	for _, s := range m.sessions {
		if s.p == p {
			return s
		}
	}
	return nil
}

// rank is a member's right to a run's root.
func rank(p *project, m *member) int {
	if p.owner == m {
		return 0
	}
	if i := slices.Index(p.manifest.Deputies, m.id); i >= 0 {
		return 1 + i
	}
	return 1 + len(p.manifest.Deputies) + m.i
}

// outcome is what a root job comes to.
func outcome(p *project, m *member) runs.Outcome {
	text := fmt.Sprintf("answer %d", p.n)
	if p.impure {
		text += " of " + string(m.id)
	}
	return outcomeOf([]byte(text))
}

func outcomeOf(b []byte) runs.Outcome {
	out := runs.Outcome{Bytes: b}
	h := fnv.New64a()
	_, _ = h.Write(out.Bytes)
	copy(out.Hash[:], h.Sum(nil))
	return out
}
