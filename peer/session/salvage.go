package session

import (
	"time"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

// outside is the session as its pool sees it in a naive run, in which nothing is salvaged and nothing kept.
type outside struct {
	engine.Alone
	s *Session
}

// salvager is the session as its pool sees it otherwise.
type salvager struct{ outside }

var (
	_ engine.Host = outside{}
	_ engine.Host = salvager{}
)

// Hungry says that a core found no work: see engine.Host.
func (o outside) Hungry() { o.s.ring() }

// Fed says that an idle core got work, see engine.Host.
func (o outside) Fed() { o.s.ring() }

// Dropped says that nobody waits for a given-away job any more.
func (o outside) Dropped(t *engine.Taken) { o.s.dropped(t) }

// Salvage says whether somebody has the outcome of the job at a path, or works on it, or on one under it. The
// snapshot that it looks into may be some milliseconds old, which costs work and nothing else.
func (o salvager) Salvage(path job.Path) (hit, below bool) {
	return o.s.orphans.Load().Look(path)
}

// Found takes a job that need not run here. The worker encodes its argument, which the core needs to name it.
func (o salvager) Found(t *engine.Taken) {
	f := foundJob{t: t}
	f.job, f.bad = jobOf(t)
	s := o.s
	s.mu.Lock()
	s.found = append(s.found, f)
	s.mu.Unlock()
	s.ring()
}

// Kept takes the outcome of a long job that ran in place. The worker encodes it, unless the loop is behind or
// that has taken too much of the workers' time already: what is not kept is computed again if it is needed
// again.
func (o salvager) Kept(j engine.Job, out engine.Outcome) {
	s := o.s
	if !s.kept.room(s.now(), s.cfg.Workers) {
		return
	}
	begun := time.Now()
	outcome, bad := encodeReturned(string(s.cfg.Self.Peer), j.ID, j.Func, out.Result, out.Err)
	var b []byte
	if bad == nil {
		b, bad = wire.Value().Encode(j.Arg)
	}
	took := time.Since(begun)
	if bad != nil { // too large to travel: it could not be handed to its spawner
		s.kept.none(took)
		return
	}
	s.kept.add(took, steal.Partial{Path: j.ID.Path, Identity: job.Identify(j.Func, b), Outcome: outcome})
	s.ring()
}

// foundJob is a job on its way to the core.
type foundJob struct {
	t   *engine.Taken
	job steal.Job
	bad error // why it cannot be named
}

// hearKept tells the core, and the store, of long jobs that ended in place.
func (s *Session) hearKept() {
	parts := s.kept.take()
	if len(parts) == 0 {
		return
	}
	for i := range parts {
		s.store(parts[i].Path, parts[i].Identity, parts[i].Outcome)
	}
	now := s.now()
	s.carryOut(now, s.core.Keep(now, parts))
}

// hearFound tells the core of jobs that need not run here. None of them can have been dropped before: the
// pool says so later, and what it says waits behind them.
func (s *Session) hearFound(found []foundJob) {
	var jobs []steal.Taken
	for _, f := range found {
		if f.bad != nil {
			f.t.PutBack(true)
			continue
		}
		jobs = append(jobs, steal.Taken{Ref: s.give(given{t: f.t, id: f.job.Identity, found: true}), Job: f.job,
			Spawned: true})
	}
	if len(jobs) > 0 {
		now := s.now()
		s.carryOut(now, s.core.Found(now, jobs))
	}
}
