package main

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/satin-peer/satin/internal/bench/ask"
	"github.com/satin-peer/satin/internal/bench/clock"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

// Forest is a number of equal small trees of the finest recursion, fib(Size).
type Forest struct{ Trees, Size int }

// forest has the trees side by side in one frame.
func forest(f *satin.Frame, a Forest) (sum int) {
	g := satin.Fork(f, fib)
	for range a.Trees {
		g.Spawn(a.Size)
	}
	for r := range g.Results() {
		sum += r
	}
	return sum
}

// comb has them along a deep recursion, one for each call, and takes their results in the reverse order.
func comb(f *satin.Frame, a Forest) int {
	if a.Trees == 0 {
		return 0
	}
	x := satin.Spawn(f, fib, a.Size)
	y := comb(f, Forest{a.Trees - 1, a.Size})
	return x.Get() + y
}

// Trial is a victim's work: so many forests, one after the other.
type Trial struct {
	Forest
	Comb  bool
	Times int
}

// Outcome is what it cost: CPU time of the victim's thread, in ns, and the sum of all results.
type Outcome struct {
	CPU int64
	Sum int
}

// trial runs on one thread from its beginning to its end, because a worker is locked to its thread; so it can
// read the thread's clock. That makes it no pure function, which is all right in a job that nobody steals:
// the root.
func trial(f *satin.Frame, a Trial) (o Outcome) {
	began := clock.Thread()
	for range a.Times {
		if a.Comb {
			o.Sum += comb(f, a.Forest)
		} else {
			o.Sum += forest(f, a.Forest)
		}
	}
	o.CPU = (clock.Thread() - began).Nanoseconds()
	return o
}

// victim runs such a trial on the one worker of a pool while a thief takes jobs at the given rate, computes
// them without satin and completes them. The answer is the CPU time of the victim's thread for each job that
// the victim ran itself: what its own work costs with everything that the steals add. The time in which the
// victim has run out of jobs and sleeps until the thief's results come is no CPU time; it is the thief's
// slowness and not the steals' price.
func victim(words []string) (ask.Answer, error) {
	if len(words) < 1 || words[0] != "forest" && words[0] != "comb" {
		return nil, fmt.Errorf("SHAPE is %q, want forest or comb", words)
	}
	args, err := numbers(words[1:], 2)
	if err != nil {
		return nil, err
	}
	rate := args[0]
	work := Trial{Forest{Trees: 400, Size: 12}, words[0] == "comb", args[1]}
	p, err := engine.NewPool(engine.Config{Workers: 1})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	th := &pacedThief{pool: p}
	if rate > 0 {
		th.gap = time.Second / time.Duration(rate)
		began := make(chan struct{})
		go th.run(began)
		<-began
		defer th.quit.Store(true)
	}
	v, err := p.Run(context.Background(), "bench.trial", work)
	if err != nil {
		return nil, err
	}
	o := v.(Outcome)
	if th.failed.Load() != nil {
		return nil, *th.failed.Load()
	}
	trees := work.Trees * work.Times
	if want := trees * fibQuick(work.Size); o.Sum != want {
		return nil, fmt.Errorf("the victim's sum is %d, want %d", o.Sum, want)
	}
	jobs := trees * (1 + fibSpawns(work.Size))
	steals := th.steals.Load()
	return ask.Of("nsPerJob", float64(o.CPU)/float64(int64(jobs)-th.jobs.Load()), "steals", steals,
		"rate", float64(steals)/(float64(o.CPU)/1e9)), nil
}

// fibSpawns is how many jobs fib(n) spawns.
func fibSpawns(n int) int { return fibQuick(n+1) - 1 }

// A pacedThief takes a job each gap until quit is set, as long as there are any.
type pacedThief struct {
	pool   *engine.Pool
	gap    time.Duration
	quit   atomic.Bool
	steals atomic.Int64 // jobs taken
	jobs   atomic.Int64 // those and all that they would have spawned
	failed atomic.Pointer[error]
}

func (th *pacedThief) run(began chan struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	next := time.Now()
	close(began)
	for !th.quit.Load() {
		for time.Now().Before(next) {
		}
		next = time.Now().Add(th.gap) // no catching up: the rate is at most what was asked for
		t := th.pool.Take()
		if t == nil {
			continue
		}
		if n, ok := t.Job().Arg.(int); ok && t.Job().Func == "bench.fib" {
			th.steals.Add(1)
			th.jobs.Add(int64(1 + fibSpawns(n)))
		}
		if err := complete(t, fibSequential); err != nil {
			th.failed.Store(&err)
			t.PutBack(false)
			return
		}
	}
}
