package satin

import (
	"context"
	"unsafe"

	"github.com/satin-peer/satin/internal/engine"
)

// MaxWorkers bounds Config.Workers.
const MaxWorkers = engine.MaxWorkers

// Config says how a Pool uses the machine.
type Config struct {
	// Workers is the number of cores the pool may use, 1 to MaxWorkers; 0 means all that Go saw
	// at the program's start (GOMAXPROCS, which becomes one more than the cores that the pools of the process
	// may use together: a process whose every P computes lets a packet wait for 20 ms and more).
	Workers int

	// Nice lowers the priority of the workers' threads by so much, 0 to 19 (nice values on Linux, those of the whole
	// process on FreeBSD, the nearest level on Windows; on macOS it has no effect). Higher is more polite to this
	// program's network goroutines and to other programs; where the kernel groups tasks by session
	// (sched_autogroup_enabled), to those of the same session only.
	Nice int

	// Idle runs the workers only on cores that nothing else wants (SCHED_IDLE on Linux, THREAD_PRIORITY_IDLE on
	// Windows, PRIO_DARWIN_BG on macOS, idprio on FreeBSD, or nice 19 where that is refused; elsewhere it has no
	// effect). With it Nice means little. Of other programs Linux sees those that it weighs together with
	// this one: where it groups tasks by session (sched_autogroup_enabled) or control group, the group's
	// own weight must be lowered too. On a core that it shares with a busy thread of the same session, a
	// worker got 6 % with Nice 19 and 2 % with Idle; of another session, 50 % with either, and 4 % when 19
	// was written to /proc/self/autogroup (Linux 6.18).
	Idle bool

	// Exec runs an executable for a job that calls the function [Exec], and waits for it; any number at a time. It is
	// to return soon when aborted says that nobody wants the job any more. Nil: Exec fails.
	Exec func(name string, input []byte, args []string, aborted func() bool) ([]byte, error)
}

// A Pool runs jobs on some of this machine's cores. Its methods may be called from any goroutine.
type Pool struct{ engine *engine.Pool }

// NewPool starts a pool. It refuses a Config out of range with an error that says what is allowed.
func NewPool(cfg Config) (*Pool, error) {
	p, err := engine.NewPool(engine.Config{Workers: cfg.Workers, Nice: cfg.Nice, Idle: cfg.Idle, Exec: cfg.Exec})
	if err != nil {
		return nil, err
	}
	return &Pool{p}, nil
}

// Close aborts what still runs and waits until the workers have ended. A job that neither spawns nor syncs nor asks
// Aborted holds it up. Runs in progress return ErrClosed. A job must not close its own pool: that panics.
func (p *Pool) Close() { p.engine.Close() }

// Workers gives the number of cores that the pool may use at most; SetCores may allow fewer.
func (p *Pool) Workers() int { return p.engine.Workers() }

// SetCores says how many cores the pool may use from now on, 0 to Workers; a number out of range counts as
// the nearest one in it. It does not wait: workers in excess stop at their job's next Spawn, Get or Sync, a
// long leaf ends first. Stopped jobs go on when there are cores again; whether one has stopped shows in
// Stats.Busy.
//
// 0 pauses the pool. A Run may begin then, and one whose context ends returns at once; Close aborts all. On a
// closed pool SetCores does nothing.
func (p *Pool) SetCores(n int) { p.engine.SetCores(n) }

// Cores gives the number of cores that the pool may use now.
func (p *Pool) Cores() int { return p.engine.Cores() }

// Stats are a Pool's statistics since its start.
type Stats = engine.Stats

// Stats asks the workers for their counts and adds them up. It waits up to 20 ms for workers in the middle of a
// leaf, then takes what they told last.
func (p *Pool) Stats() Stats { return p.engine.Stats() }

// Progress estimates how much of the runs in progress is done, from 0 to 1; 1 when there is none. A job counts as its
// parent's share divided by the children the parent has spawned so far, so the estimate is as good as the tree is
// even, and may go back when a job spawns more children after the first ones have finished.
func (p *Pool) Progress() float64 {
	if share, known := p.engine.Progress(); known {
		return share
	}
	return 1
}

// Run runs fn(arg) as the root job of a new run on p's cores, and waits for its result. If p is nil it runs the
// sequential program: the same code on the calling goroutine alone, with the same result.
//
// A job that failed gives a *JobError. When ctx ends first, or the pool is closed, Run aborts all jobs of the run and
// returns the context's cause, or ErrClosed, at once, without waiting for long leaves to notice. Several runs
// may share a pool. Run panics if fn is not registered, and when a job calls it on its own pool: there it would
// wait for the core that it holds. A goroutine that a job waits for must not either: that is not noticed.
func Run[A, R any](ctx context.Context, p *Pool, fn func(*Frame, A) R, arg A) (R, error) {
	return runKey[A, R](ctx, p, funcKey(fn), arg)
}

// RunErr is Run for a function that may return an error; the error is a *JobError that names the job.
func RunErr[A, R any](ctx context.Context, p *Pool, fn func(*Frame, A) (R, error), arg A) (R, error) {
	o, err := runKey[A, outcome[R]](ctx, p, funcKey(fn), arg)
	if err == nil {
		err = o.err
	}
	return o.res, err
}

func runKey[A, R any](ctx context.Context, p *Pool, key unsafe.Pointer, arg A) (res R, err error) {
	t := taskOf[A, R](engine.MustLookup(key).Ops.NewRecord())
	t.arg = arg
	if err = p.inner().RunRecord(ctx, &t.Record); err == nil {
		res = t.res
	}
	return res, err
}

// RunNamed is Run for a function given by its registered name; arg must have its argument type. A nil *Pool runs the
// sequential program.
func (p *Pool) RunNamed(ctx context.Context, fn string, arg any) (any, error) {
	return p.inner().Run(ctx, fn, arg)
}

// inner is the pool in the engine; nil for the sequential program.
func (p *Pool) inner() *engine.Pool {
	if p == nil {
		return nil
	}
	return p.engine
}
