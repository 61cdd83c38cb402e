package engine

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satin-peer/satin/job"
)

// MaxWorkers bounds Config.Workers.
const MaxWorkers = 1024

// Config says how a Pool uses the machine.
type Config struct {
	// Workers is the number of cores the pool may use, 1 to MaxWorkers; 0 means all that Go saw
	// at the program's start (GOMAXPROCS).
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

	// Host is what moves jobs between this pool and others; nil is Alone.
	Host Host

	// KeepAfter is how long a job must take on one core that the Host is offered its outcome; 0 means never.
	// Where many children of one job take less, those that take a quarter of it are offered too.
	KeepAfter time.Duration

	// Outside is where shared values go to and come from; nil if no job leaves.
	Outside Outside
	// Deposits goes with it: see Shelf.Deposits.
	Deposits Deposits

	// Exec runs another program for a job (package satin, Exec) and waits for it; it returns soon when aborted says so.
	// nil: there are none.
	Exec func(name string, input []byte, args []string, aborted func() bool) ([]byte, error)

	// Breathe is for a process of one thread, as in a browser: a worker calls it at a Spawn or Get every 2 ms or
	// so, and goes on when it returns. A job that does neither holds everybody up. nil: there are threads.
	Breathe func()
}

// gcBallast is memory that a process with pools owns and never touches, in bytes, so that it costs address
// space only. It stays when the pools are closed: memory that is given back and asked for again may have to
// be cleared. It makes the garbage collector wait for as much garbage: jobs make garbage fast while little is
// live, and a heap of 1 MB would be collected 100 times a second, each time stopping all workers. On tsp and
// sat, two workers are 1.4 times as fast with it (internal/bench).
const gcBallast = 64 << 20

// ballast makes the process's one piece of it.
var ballast = sync.OnceValue(func() []byte { return make([]byte, gcBallast) })

// coresAtStart is GOMAXPROCS before any pool raised it.
var coresAtStart = runtime.GOMAXPROCS(0)

// A Pool runs jobs on some of this machine's cores. Its methods may be called from any goroutine.
type Pool struct {
	sched      scheduler
	frontier   frontier
	cfg        Config
	host       Host
	inside     *Inside // it has no cores: see inside.go
	wg         sync.WaitGroup
	demand     atomic.Bool   // somebody may want published jobs: another worker, or the outside
	sample     atomic.Uint64 // number of the newest request for statistics
	paths      paths
	restarts   atomic.Bool   // a restarted job has come
	alone      atomic.Bool   // a job has come below which nothing leaves
	clock      func() int64  // what long jobs are timed with: now, or the count of a test
	pulses     atomic.Uint64 // calls of Pulse
	resalvages atomic.Uint64 // calls of Resalvage

	shelf   Shelf
	threads threads
	judge   *Worker // evaluates guards
}

// NewPool starts a pool. It refuses a Config out of range with an error that says what is allowed.
func NewPool(cfg Config) (*Pool, error) {
	if cfg.Workers == 0 {
		cfg.Workers = min(coresAtStart, MaxWorkers)
	}
	if cfg.Workers < 1 || cfg.Workers > MaxWorkers {
		return nil, fmt.Errorf("satin: Config.Workers is %d; allowed are 0 (all cores) to %d", cfg.Workers, MaxWorkers)
	}
	if cfg.Nice < 0 || cfg.Nice > 19 {
		return nil, fmt.Errorf("satin: Config.Nice is %d; allowed are 0 to 19", cfg.Nice)
	}
	if cfg.KeepAfter < 0 {
		return nil, fmt.Errorf("satin: Config.KeepAfter is %v; allowed are 0 (never) and more", cfg.KeepAfter)
	}
	p := &Pool{cfg: cfg, host: cfg.Host,
		sched:    scheduler{start: time.Now().Add(-poolEpoch), quit: make(chan struct{})},
		frontier: newFrontier()}
	p.shelf.Outside, p.shelf.Deposits = cfg.Outside, cfg.Deposits
	p.demand.Store(cfg.Workers > 1)
	p.clock = p.sched.now
	if p.host == nil {
		p.host = Alone{}
	}
	ballast()
	p.sched.workers.Store(&[]*Worker{})
	p.sched.allowed = cfg.Workers
	processors.join(p)
	p.sched.mu.Lock()
	p.sched.times.since = p.sched.now()
	for range cfg.Workers {
		p.sched.grant(p.addWorker())
	}
	p.sched.mu.Unlock()
	return p, nil
}

// addWorker starts one more worker, which waits for a core. mu is held.
func (p *Pool) addWorker() *Worker {
	all := *p.sched.workers.Load()
	w := NewWorker(p, len(all))
	all = append(all[:len(all):len(all)], w)
	p.sched.workers.Store(&all)
	p.wg.Add(1)
	go w.main()
	return w
}

// Close aborts what still runs and waits until the workers have ended. A job that neither spawns nor syncs nor asks
// Aborted holds it up. Runs in progress return ErrClosed. A job must not close its own pool: that panics.
func (p *Pool) Close() {
	p.sched.refuse("Close")
	p.frontier.runMu.Lock()
	again := p.sched.closed.Swap(true)
	roots := make([]*Record, 0, len(p.frontier.runs))
	for r := range p.frontier.runs {
		roots = append(roots, r)
	}
	p.frontier.runMu.Unlock()
	for _, r := range roots {
		p.cancel(r, ErrClosed)
	}
	if !again {
		processors.leave(p)
		p.sched.mu.Lock()
		p.allow(p.cfg.Workers) // what was stopped must unwind
		p.sched.mu.Unlock()
		close(p.sched.quit)
	}
	p.wg.Wait()
}

// Workers gives the number of cores that the pool may use at most; SetCores may allow fewer.
func (p *Pool) Workers() int { return p.cfg.Workers }

// Run runs the function registered as fn as the root job of a new run, and waits for its result; arg must have its
// argument type. A nil *Pool runs the sequential program.
func (p *Pool) Run(ctx context.Context, fn string, arg any) (any, error) {
	r, err := newNamed(fn, arg)
	if err != nil {
		return nil, err
	}
	if err := p.RunRecord(ctx, r); err != nil {
		return nil, err
	}
	return r.d.Ops.Result(r)
}

// newNamed makes a record for a call of the function registered as fn.
func newNamed(fn string, arg any) (*Record, error) {
	d := lookupName(fn)
	if d == nil {
		return nil, fmt.Errorf("satin: no function is registered as %q", fn)
	}
	r, err := d.newRecord(arg)
	if err != nil {
		return nil, fmt.Errorf("satin: %w", err)
	}
	return r, nil
}

// newRecord makes a record for a call with an argument, which must be of its type.
func (d *Desc) newRecord(arg any) (*Record, error) {
	r := d.Ops.NewRecord()
	if !d.Ops.SetArg(r, arg) {
		return nil, fmt.Errorf("%s takes an argument of type %s, not %T", d.Name, d.Arg, arg)
	}
	return r, nil
}

// Fits says whether a registered function takes an argument; of one that is not registered it says nothing.
func Fits(fn string, arg any) error {
	d := lookupName(fn)
	if d == nil {
		return nil
	}
	_, err := d.newRecord(arg)
	return err
}

// RunRecord runs r as the root job of a new run, and waits until it has finished or ctx has ended. The result is in r
// then.
func (p *Pool) RunRecord(ctx context.Context, r *Record) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if p == nil {
		return RunAlone(ctx, r, &Shelf{})
	}
	p.sched.refuse("Run")
	ended := make(chan struct{})
	r.out = &passport{id: job.ID{Run: job.NewRunID()}, ended: func(*Record) { close(ended) }}
	if err := p.launch(r); err != nil {
		return err
	}
	select {
	case <-ended:
	case <-ctx.Done():
		p.cancel(r, context.Cause(ctx))
	}
	<-ended
	if err := r.out.why; err != nil {
		return err
	}
	return r.Fail
}

// RunAlone runs r as the program without a pool, which shares on that shelf.
func RunAlone(ctx context.Context, r *Record, shelf *Shelf) error {
	return runSequential(ctx, r, job.NewRunID(), shelf)
}

// runSequential is the program without a pool: one worker, this goroutine, and no thief.
func runSequential(ctx context.Context, r *Record, run job.RunID, shelf *Shelf) error {
	w := NewWorker(nil, 0)
	w.shelf = shelf
	r.state.Store(stolen)
	r.out = &passport{id: job.ID{Run: run}, ended: func(*Record) {}}
	stop := context.AfterFunc(ctx, func() {
		if r.abort() {
			w.Stack.raise()
		}
	})
	defer stop()
	w.runRoot(r)
	if r.state.Load() == dropped {
		return context.Cause(ctx)
	}
	return r.Fail
}

// launch starts a root.
func (p *Pool) launch(r *Record) error {
	p.frontier.runMu.Lock()
	if p.sched.closed.Load() {
		p.frontier.runMu.Unlock()
		return ErrClosed
	}
	r.state.Store(stolen)
	p.frontier.runs[r] = true
	p.frontier.tallies.launched++
	p.frontier.runMu.Unlock()
	p.sched.inject(r)
	return nil
}

// abort makes r a job that nobody waits for; false if it had finished or was aborted before.
func (r *Record) abort() bool {
	return r.state.CompareAndSwap(stolen, dropped) || r.state.CompareAndSwap(running, dropped)
}

// cancel aborts a root for the given reason.
func (p *Pool) cancel(r *Record, why error) {
	p.frontier.runMu.Lock()
	live := p.frontier.runs[r] && r.abort()
	var cut []*Taken
	if live {
		r.out.why = why
		delete(p.frontier.runs, r)
		cut = p.frontier.cutThrough(r)
	}
	p.frontier.runMu.Unlock()
	if !live {
		return
	}
	for _, t := range cut {
		p.host.Dropped(t)
	}
	if v := r.thief.Load(); v != nil {
		v.Stack.raise()
		p.sched.wake(v)
	} else if p.sched.withdraw(r) {
		p.frontier.countDropped()
	}
	r.out.ended(r)
}
