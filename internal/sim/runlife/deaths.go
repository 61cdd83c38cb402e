package runlife

import (
	"fmt"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
)

// Some runs have a job that kills the process of whoever computes it; others lose a process now and then for
// another reason. A member whose process died twice of a run leaves it alone, in its later lives, too.

// ignite draws when a session's process will die; 0: it will not.
func (m *member) ignite(p *project) time.Duration {
	switch {
	case p.killer:
		return beat + time.Duration(m.w.extra.Int64N(int64(15*time.Second)))
	case m.tolls[p.id].Why == "" && m.w.extra.IntN(20) == 0:
		return beat + time.Duration(m.w.extra.Int64N(int64(20*time.Second)))
	}
	return 0
}

// burn lets a session's time pass, and says whether its process has died of it.
func (m *member) burn(s *session) bool {
	if s.fuse == 0 {
		return false
	}
	if s.fuse -= beat; s.fuse > 0 {
		return false
	}
	w, p := m.w, s.p
	m.tolls[p.id] = m.tolls[p.id].And(m.clock(), "stack overflow")
	w.counts.Deaths++
	// What else ran there is running nowhere else.
	jobs := []runs.Suspect{{Path: job.Path{2, uint32(m.i)}, Identity: job.Identity{byte(m.i), byte(w.counts.Deaths)}}}
	if p.killer {
		jobs = append(jobs, killing(p))
		p.victims[m] = m.life
	} else { // the same place with another argument: another job
		jobs = append(jobs, runs.Suspect{Path: killing(p).Path, Identity: job.Identity{9, byte(m.i)}})
	}
	w.say("%s: the process of run %d dies", m.id, p.n)
	m.sessions = slices.DeleteFunc(m.sessions, func(o *session) bool { return o == s })
	if s.part != nil {
		s.part.die()
	}
	m.input(m.core.Deaths.Died(m.clock(), p.id, jobs, m.tolls[p.id]))
	return true
}

// killing is the job of a run that kills.
func killing(p *project) runs.Suspect {
	return runs.Suspect{Path: job.Path{1}, Identity: job.Identity{1, byte(p.n)}}
}

// failure is what such a run comes to.
func failure(p *project) runs.Outcome {
	out := runs.Outcome{Bytes: fmt.Appendf(nil, "failed %d", p.n), Failure: "job 1 kills"}
	out.Hash[0], out.Hash[1] = 1, byte(p.n)
	return out
}

// doomed looks at a run that is to fail: two members must have died of the job that is blamed.
func (w *world) doomed(m *member, o runs.Doom) {
	p := w.byID[o.Run]
	w.counts.Doomed++
	if p.strict() && m != p.owner {
		w.fail("%s fails run %d, which its owner verifies", m.id, p.n)
	}
	switch k := killing(p); {
	case !p.killer:
		w.fail("%s fails run %d, of whose jobs none kills", m.id, p.n)
	case !slices.Equal(o.Job.Path, k.Path) || o.Job.Identity != k.Identity:
		w.fail("%s blames job %v of run %d", m.id, o.Job.Path, p.n)
	case len(p.victims) < 2 || len(o.Peers) < 2 || o.Peers[0] == o.Peers[1]:
		w.fail("%s fails run %d, of which %d members have died: %v", m.id, p.n, len(p.victims), o.Peers)
	}
}

// endOfKiller looks at what has become of a run that kills: it has failed, unless fewer than two members are there
// who can say that it does.
func (w *world) endOfKiller(p *project, i *runs.Info, have bool) {
	var witnesses []*member
	for m, life := range p.victims {
		if m.life == life {
			witnesses = append(witnesses, m)
		}
	}
	switch {
	case i.State == runs.StateFailed && (have || i.Unsaved != nil):
	case i.State == runs.StateRefused && !p.convincing(witnesses):
	case i.State == runs.StateRefused && p.outdated(): // nobody else takes part
	case i.State == runs.StateRefused && p.unkept: // it had failed, in an earlier life; the others have buried it
	default:
		w.fail("run %d has killed the processes of %d members who are there, and is %q: %s", p.n, len(witnesses), i.State,
			i.Why)
	}
}
