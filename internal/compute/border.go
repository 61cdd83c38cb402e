package compute

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// outside is the engine as its pool sees it in a naive run, in which nothing is salvaged and nothing kept.
type outside struct {
	engine.Alone
	e *Engine
}

// salvager is the engine as its pool sees it otherwise.
type salvager struct{ outside }

var (
	_ engine.Host = outside{}
	_ engine.Host = salvager{}
)

// Hungry says that a core found no work: see engine.Host.
func (o outside) Hungry() {
	o.e.sharing.hungry()
	o.e.ring()
}

// Fed says that an idle core got work, see engine.Host.
func (o outside) Fed() { o.e.ring() }

// Dropped says that nobody waits for a given-away job any more. A frame gives its jobs up one after the other; those of
// which the driver has not heard yet are told together, so that each thief gets one message.
func (o outside) Dropped(t *engine.Taken) {
	e := o.e
	e.tell(func(told *[]port.Event) {
		if ref, ok := e.refs[t]; ok {
			_, _ = e.forget(ref)
			if n := len(*told); n > 0 && (*told)[n-1].Kind == port.Dropped && len((*told)[n-1].Refs) < maxDrops {
				(*told)[n-1].Refs = append((*told)[n-1].Refs, ref)
				return
			}
			*told = append(*told, port.Event{Kind: port.Dropped, Refs: []steal.Ref{ref}})
		} else if e.taking > 0 {
			e.early[t] = true
		}
	})
}

// Bounds on what is told together: of jobs the driver takes some thousand whose paths are as long as may be.
const (
	maxDrops = 1024
	maxFound = 256
)

// Salvage says whether somebody has the outcome of the job at a path, or works on it, or on one under it. The
// snapshot that it looks into may be some milliseconds old, which costs work and nothing else.
func (o salvager) Salvage(path job.Path) (hit, below bool) {
	return o.e.orphans.Load().Look(path)
}

// Found takes a job that need not run here. The worker encodes its argument, which names it.
func (o salvager) Found(t *engine.Taken) {
	e := o.e
	begun := time.Now()
	f := foundJob{t: t}
	f.job, f.bad = e.jobOf(t.Job())
	e.encoded(begun)
	e.mu.Lock()
	e.found = append(e.found, f)
	e.mu.Unlock()
	e.ring()
}

// Kept takes the outcome of a long job that ran in place. The worker encodes it, unless the driver is behind or
// that has taken too much of the workers' time already: what is not kept is computed again if it is needed
// again.
func (o salvager) Kept(j engine.Job, out engine.Outcome) bool {
	e := o.e
	begun := time.Now()
	if !e.kept.room(begun.Sub(e.started), e.cfg.Workers) {
		return false
	}
	outcome, bad := e.sharing.encodeReturned(e.cfg.Self, j.ID, j.Func, out.Result, out.Err)
	var b, names []byte
	if bad == nil {
		b, bad = wire.Shared().Encode(j.Arg)
	}
	if bad == nil && e.cfg.Whole {
		names, bad = e.sharing.names(j)
	}
	took := time.Since(begun)
	e.encoding.Add(int64(took))
	// What is too large is not kept for each job above another, nor what no checkpoint takes.
	if bad != nil || len(outcome) > port.MaxOutcome || len(j.ID.Path) > wire.MaxElements {
		e.kept.none(took)
		return false
	}
	e.offer(&j, b)
	p := steal.Partial{Path: j.ID.Path, Identity: job.Identify(j.Func, b), Outcome: outcome}
	k := port.KeptJob{Partial: p, Segment: steal.SegmentID(j.Root), Own: j.Own}
	if e.cfg.Whole {
		k.Job = steal.Job{Path: p.Path, Identity: p.Identity, Function: j.Func, Arg: b, Names: names}
	}
	if e.kept.add(took, k) {
		e.ring()
	}
	return true
}

// foundJob is a job on its way to the driver.
type foundJob struct {
	t   *engine.Taken
	job steal.Taken
	bad error // why it cannot be named
}

// hearFound tells of jobs that need not run here. None of them can have been dropped before: the pool says so
// later, and what it says waits behind them.
func (e *Engine) hearFound(found []foundJob) {
	jobs := make([]steal.Taken, 0, len(found))
	for _, f := range found {
		if f.bad != nil {
			f.t.Stay(true)
			continue
		}
		f.job.Ref = e.give(f.t)
		jobs = append(jobs, f.job)
	}
	for some := range slices.Chunk(jobs, maxFound) {
		e.happened(port.Event{Kind: port.Found, Jobs: some})
	}
}
