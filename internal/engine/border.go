package engine

import (
	"errors"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
)

// The border
//
// Jobs come in by Submit, whose ended brings back what came of them. Jobs go out by Take, or to Host.Found, and come
// back by Taken.End, or by PutBack without an outcome. Both ways a Job and an Outcome say the same, so that two pools
// could be joined by giving one's Taken.Job and Taken.End to the other's Submit.

// A Host is whatever moves jobs between this pool and others: what a Pool tells it and asks of it. Its methods are
// called by workers, without locks, and must neither block nor call back into the Pool: hand the news to another
// goroutine. Whoever wants only some of them embeds Alone.
type Host interface {
	// Hungry says that a core which may run has found no work in this process. It is called once each time a
	// core falls idle; not for one that SetCores took away.
	Hungry()
	// Fed says that an idle core got work. After each change of Pool.Idle one of Hungry and Fed is called, so
	// whoever asks Idle after each call knows it without polling (the caller of SetCores asks by itself). The
	// core may find that another one was faster; then Hungry follows.
	Fed()
	// Dropped says that nobody waits any more for a job that was taken: an abort. Its End and PutBack will do
	// nothing. Guest.Cancel, Pool.Close and the end of a run's context call it too, for all that was taken
	// from under the root, without waiting for leaves to notice.
	Dropped(*Taken)

	// Salvage says whether an outcome of the restarted job at exactly that path is to be had (hit), because
	// some peer has it or is at work on it, and whether there are any of jobs strictly below it (below). A job
	// is restarted if it came in, or was put back, as one, or descends from such a job. It is asked by whoever
	// is about to begin a restarted job, or to give it away: from many goroutines at a time, often, so it must
	// be quick and take no locks. The path must not be kept. Whenever its answers change, somebody is to call
	// Pool.Resalvage.
	Salvage(path job.Path) (hit, below bool)
	// Found brings a job for which Salvage said hit. It is outside now as though Take had taken it, and ends
	// by End, PutBack or Dropped. Whoever put it back gets it by Found never again. Found is called by a
	// worker or in a call of Take. Dropped for the same job comes later, never before.
	Found(*Taken)

	// Kept brings the outcome of a job that took about Config.KeepAfter or more on one core of this process
	// and was spawned here, so that it need not be computed again if a peer is lost that waits for an ancestor
	// of it. It is called before the job's parent sees the result, which the parent may then change: encode it
	// at once. It is not called for a job that panicked or was aborted, nor for one from Submit or Run, whose
	// outcome goes elsewhere anyway. One that had ended when its run was aborted may be brought after the run. It
	// says whether the outcome is kept: the time of one that is not counts for what it was part of.
	Kept(Job, Outcome) bool
}

// Alone is the Host of a pool that no job leaves: it wants to know nothing and knows nothing.
type Alone struct{}

func (Alone) Hungry()                       {}
func (Alone) Fed()                          {}
func (Alone) Dropped(*Taken)                {}
func (Alone) Salvage(job.Path) (bool, bool) { return false, false }
func (Alone) Found(*Taken)                  {}
func (Alone) Kept(Job, Outcome) bool        { return false }

// A Job is a job on its way in or out.
type Job struct {
	ID   job.ID
	Func string // the registered name of its function
	Arg  any    // of the function's argument type, not encoded; it must not be changed

	// Restarted says that somebody may have worked on it before: it was given to a peer that was lost, or
	// descends from such a job. The Host is asked before its descendants begin.
	Restarted bool
	// First has a job that comes in begin before those that run: a worker gives its core up to it at its next
	// Spawn or Get, and goes on when the job waits for what is elsewhere, or has ended. For the root of a run
	// that is begun again: it has little to do itself, and much waits for it.
	First bool
	// Depth is by how many steps it is to be divided further than usual, and so is all below it: see Worker.Deeper.
	Depth uint8
	// Alone has nothing that descends from a job that comes in leave this process, nor be looked up: it was asked of
	// this process because nobody else is to be believed.
	Alone bool
	// Root is what whoever submits a job calls it; whatever goes out from below it, or is kept there, has the same.
	// 0: it has no name, or was dropped.
	Root uint64
	// Took is how long it took on one core, of one that the Host is brought by Kept, and Own what of it was spent on
	// nothing that the Host was brought, too.
	Took, Own time.Duration
}

// An Outcome is what came of a job: what its function returned, or Failure.
type Outcome struct {
	Result  any
	Err     error // only of a function registered by RegisterErr
	Failure error // a *job.Error: the job panicked, or forgot a child's failure; Result and Err mean nothing then
}

// outcome gives what came of a finished job.
func (r *Record) outcome() (o Outcome) {
	if o.Failure = r.Fail; o.Failure == nil {
		o.Result, o.Err = r.d.Ops.Result(r)
	}
	return o
}

// A passport is what a record carries that crossed the border of the process.
type passport struct {
	id        job.ID        // of a job that came in
	root      uint64        // the same: its Job.Root
	ended     func(*Record) // called once when a job that came in has finished or was cancelled
	why       error         // why it was cancelled
	tally     tally
	taken     *Taken // of a job that went out
	restarted bool   // it came in or back as a restarted job
	depth     uint8  // by how many steps it is to be divided further
	alone     bool   // nothing below it leaves, or it does not itself
}

// borderCounts are the statistics of the border; frontier.runMu guards them.
type borderCounts struct{ taken, returned, putBack, dropped, launched uint64 }

// A Guest is a job from outside that runs in this pool.
type Guest struct {
	p *Pool
	r *Record
}

// Submit runs a job that was stolen elsewhere. ended is called once, by a worker, when the job has finished;
// it is not called for a job that was cancelled, and must not block. The error says that there is no such
// function, that the argument is not of its type, or ErrClosed.
func (p *Pool) Submit(j Job, ended func(Outcome)) (*Guest, error) {
	r, err := newNamed(j.Func, j.Arg)
	if err != nil {
		return nil, err
	}
	r.out = &passport{id: j.ID, root: j.Root, restarted: j.Restarted, ended: func(r *Record) {
		if r.out.why == nil {
			ended(r.outcome())
		}
	}}
	r.out.depth, r.out.alone = j.Depth, j.Alone
	if j.Alone {
		p.alone.Store(true)
	}
	if j.Depth > 0 {
		p.paths.deeper.Store(true)
	}
	if j.Restarted {
		p.restarts.Store(true)
	}
	if err := p.launch(r); err != nil {
		return nil, err
	}
	if j.First {
		p.hurry(r)
	}
	return &Guest{p, r}, nil
}

// errCancelled is why a guest was aborted.
var errCancelled = errors.New("satin: cancelled by its owner")

// Cancel aborts the job and its descendants, best effort; it does nothing if the job has finished.
func (g *Guest) Cancel() { g.p.cancel(g.r, errCancelled) }

// hurry has a root from the inbox, unless it has begun, begin before those that run.
func (p *Pool) hurry(r *Record) {
	p.sched.mu.Lock()
	defer p.sched.mu.Unlock()
	i := slices.Index(p.sched.inbox, r)
	if i < 0 || p.sched.closed.Load() {
		return
	}
	var v *Worker
	switch {
	case len(p.sched.spares) > 0:
		v = p.sched.popSpare()
	case len(*p.sched.workers.Load()) < maxWorkers:
		v = p.addWorker()
	default:
		return // it begins when a worker has nothing else to do
	}
	p.sched.removeFromInbox(i)
	v.first = r
	if p.sched.free.Load() > 0 {
		p.sched.feed(v)
		return
	}
	p.sched.ready = slices.Insert(p.sched.ready, 0, v)
	p.sched.waiting.Add(1)
	p.sched.resumable.Add(1)
	p.sched.callAll()
}
