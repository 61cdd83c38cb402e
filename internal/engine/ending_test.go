package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

func init() {
	satin.Register("test.early", early)
	satin.Register("test.spinUntil", spinUntil)
	satin.Register("test.abortStates", abortStates)
	satin.Register("test.triesAborted", triesAborted)
	satin.Register("test.twice", twice)
	satin.Register("test.forgetful", forgetful)
	satin.Register("test.goexit", goexit)
	satin.Register("test.triesChildren", triesChildren)
	satin.Register("test.inlet", inlet)
	satin.Register("test.escape", escape)
	satin.RegisterErr("test.fails", fails)
	satin.RegisterErr("test.deepErr", deepErr)
}

// gates are what test jobs wait at; jobs get at them by number, since closures cannot travel.
var gates [8]struct {
	reached, open atomic.Bool
	unwound       atomic.Bool
}

func resetGates() {
	for i := range gates {
		gates[i].reached.Store(false)
		gates[i].open.Store(false)
		gates[i].unwound.Store(false)
	}
}

// spinUntil says that it has begun and then spawns tiny jobs until its gate opens.
func spinUntil(f *satin.Frame, gate int) int {
	defer func() {
		if !gates[gate].open.Load() {
			gates[gate].unwound.Store(true)
		}
	}()
	gates[gate].reached.Store(true)
	for !gates[gate].open.Load() {
		satin.Spawn(f, identity, 1).Get()
	}
	return gate
}

// abortStates aborts children that are finished, on a thief's stack, and not begun.
func abortStates(f *satin.Frame, _ int) int {
	before, running := satin.Spawn(f, spinUntil, 1), satin.Spawn(f, spinUntil, 2)
	for !gates[1].reached.Load() || !gates[2].reached.Load() { // both were stolen and run
		satin.Spawn(f, identity, 1).Get()
	}
	gates[1].open.Store(true)
	for recordOf(before).State() != engine.Done {
		satin.Spawn(f, identity, 1).Get()
	}
	satin.Spawn(f, spinUntil, 4) // keeps the thief busy that ran the first child
	for !gates[4].reached.Load() {
		satin.Spawn(f, identity, 1).Get()
	}
	after := satin.Spawn(f, spinUntil, 3)
	f.Abort()
	if v, err := before.Try(); v != 1 || err != nil {
		panic(fmt.Sprint("the result of a finished child was lost: ", v, err))
	}
	if _, err := running.Try(); err != engine.ErrAborted {
		panic(fmt.Sprint("running child: ", err))
	}
	if _, err := after.Try(); err != engine.ErrAborted {
		panic(fmt.Sprint("child not begun: ", err))
	}
	return 1
}

// triesAborted asks for a child that was aborted before it began, when its place has another job.
func triesAborted(f *satin.Frame, _ int) int {
	x, e := satin.Spawn(f, identity, 1), satin.SpawnErr(f, odd, 1)
	f.Abort()
	y, z := satin.Spawn(f, identity, 2), satin.SpawnErr(f, odd, 2)
	for range 2 {
		if v, err := x.Try(); err != engine.ErrAborted {
			panic(fmt.Sprint("Try of an aborted child: ", v, err))
		}
		if v, err := e.Get(); err != engine.ErrAborted {
			panic(fmt.Sprint("Get of an aborted child: ", v, err))
		}
	}
	_, _ = z.Get()
	return y.Get()
}

// A child that was aborted says so for as long as the job runs. There is no thief, who could have run it before.
func TestAbortedStaysAborted(t *testing.T) {
	for _, workers := range []int{0, 1} {
		if r := run(t, testPool(t, workers), triesAborted, 0); r != 2 {
			t.Error(r)
		}
	}
}

// until waits for something that is bound to happen.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !cond(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("not within 5 minutes: ", what)
		}
	}
}

// An abort ends a job that has not begun, one that runs, and does nothing to one that has ended.
func TestAbortBeforeWhileAfter(t *testing.T) {
	p := testPool(t, 3)
	for range 20 {
		resetGates()
		run(t, p, abortStates, 0)
		until(t, "the running child unwinds", gates[2].unwound.Load)
		if gates[3].reached.Load() {
			t.Fatal("a child that was aborted before it began has run")
		}
	}
}

// The end of its context ends a run with the cause, its jobs unwind, and the pool is as good as before.
func TestContextEndsRun(t *testing.T) {
	for _, workers := range []int{0, 1, 2} {
		p := testPool(t, workers)
		resetGates()
		ctx, cancel := context.WithCancelCause(context.Background())
		why := errors.New("no longer interested")
		go func() {
			until(t, "the job begins", gates[1].reached.Load)
			cancel(why)
		}()
		if _, err := Run(ctx, p, spinUntil, 1); err != why {
			t.Errorf("%d workers: %v", workers, err)
		}
		until(t, "the job unwinds", gates[1].unwound.Load)
		if _, err := Run(ctx, p, fib, 3); err != why {
			t.Errorf("%d workers, context over: %v", workers, err)
		}
		if r := run(t, p, fib, 20); r != 6765 {
			t.Error("the pool is of no use after a cancelled run", r)
		}
	}
}

// Close ends what runs, waits until its jobs have unwound, and may be called again.
func TestCloseEndsRuns(t *testing.T) {
	resetGates()
	p, err := engine.NewPool(engine.Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := Run(context.Background(), p, spinUntil, 1)
		ended <- err
	}()
	until(t, "the job begins", gates[1].reached.Load)
	go p.Close()
	if err := <-ended; err != engine.ErrClosed {
		t.Error(err)
	}
	p.Close() // twice is harmless, and waits
	if !gates[1].unwound.Load() {
		t.Error("Close came back before the job had unwound")
	}
	if _, err := Run(context.Background(), p, fib, 3); err != engine.ErrClosed {
		t.Error(err)
	}
}

// A closed pool has no goroutine any more.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		p, _ := engine.NewPool(engine.Config{Workers: 4})
		run(t, p, fib, 18)
		run(t, p, queens, board{All: 1<<8 - 1})
		p.Close()
	}
	until(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

func twice(f *satin.Frame, n int) int {
	x := satin.Spawn(f, identity, n)
	return x.Get() + x.Get()
}

func forgetful(f *satin.Frame, gate int) int {
	satin.Spawn(f, fib, 10)
	satin.Spawn(f, spinUntil, gate) // must end before this job does
	return 1
}

func goexit(f *satin.Frame, n int) int {
	if n == 0 {
		runtime.Goexit()
	}
	return satin.Spawn(f, goexit, n-1).Get()
}

func triesChildren(f *satin.Frame, n int) int {
	g := satin.Fork(f, boom)
	for i := range n {
		g.Spawn(i)
	}
	failed := 0
	for _, err := range g.Tries() {
		if je := (*satin.JobError)(nil); !errors.As(err, &je) || je.Panic != "boom" || je.Stack == nil {
			panic(fmt.Sprint("no JobError: ", err))
		}
		failed++
	}
	if r, err := satin.Spawn(f, fib, 10).Try(); r != 55 || err != nil {
		panic("a job failed after others had")
	}
	return failed
}

func fails(f *satin.Frame, n int) (int, error) {
	if n == 0 {
		return 0, errors.New("cannot")
	}
	r, err := satin.SpawnErr(f, fails, n-1).Get()
	return r, err
}

func deepErr(f *satin.Frame, n int) (int, error) {
	if n == 0 {
		panic(fmt.Errorf("worse"))
	}
	return satin.SpawnErr(f, deepErr, n-1).Get()
}

// Errors, panics and mistakes of use name the function and the path of the job that failed, however deep, and the
// pool goes on.
func TestFailuresNameTheJob(t *testing.T) {
	ctx := context.Background()
	for _, workers := range []int{0, 1, 3} {
		p := testPool(t, workers)
		_, err := Run(ctx, p, twice, 1)
		if err == nil || !strings.Contains(err.Error(), "taken twice") || !strings.Contains(err.Error(), "test.twice") {
			t.Error(err)
		}
		_, err = RunErr(ctx, p, fails, 3)
		if je := (*satin.JobError)(nil); !errors.As(err, &je) || je.ID.Path.String() != "1.1.1" ||
			je.Func != "test.fails" || je.Err.Error() != "cannot" {
			t.Error(err)
		}
		_, err = RunErr(ctx, p, deepErr, 2)
		if je := (*satin.JobError)(nil); !errors.As(err, &je) || je.ID.Path.String() != "1.1" ||
			errors.Unwrap(je).Error() != "worse" {
			t.Error(err)
		}
		if r := run(t, p, triesChildren, 9); r != 9 {
			t.Error(r)
		}
		if r := run(t, p, fib, 15); r != 610 {
			t.Error(r)
		}
	}
}

// A job does not end before its children, though nobody takes their results.
func TestForgottenChildrenEnd(t *testing.T) {
	for _, workers := range []int{1, 2} {
		p := testPool(t, workers)
		resetGates()
		ended := make(chan int)
		go func() { ended <- run(t, p, forgetful, 1) }()
		until(t, "the forgotten child begins", gates[1].reached.Load)
		select {
		case <-ended:
			t.Error("a job ended before its child")
		default:
		}
		gates[1].open.Store(true)
		<-ended
	}
}

// A job that calls runtime.Goexit fails its run and costs the pool no worker.
func TestGoexitFailsTheRun(t *testing.T) {
	p := testPool(t, 2)
	for range 10 {
		_, err := Run(context.Background(), p, goexit, 5)
		if je := (*satin.JobError)(nil); !errors.As(err, &je) || je.Panic != engine.ErrGoexit {
			t.Fatal(err)
		}
		if r := run(t, p, fib, 20); r != 6765 {
			t.Fatal(r)
		}
	}
}

// inlet runs many children and uses plain variables in the loop body: the race detector and the check of inside see
// that bodies overlap neither each other nor the frame.
func inlet(f *satin.Frame, n int) int {
	inside, sum := 0, 0
	g := satin.Fork(f, fib)
	for i := range n {
		g.Spawn(i % 15)
	}
	for r := range g.Results() {
		if inside++; inside != 1 {
			panic("two inlets at once")
		}
		sum += r
		if n > 40 && r == 377 {
			g.Spawn(3) // an inlet may spawn more
		}
		sum += satin.Spawn(f, fib, 5).Get()
		inside--
	}
	return sum
}

// The body of a loop over results is never run twice at once, nor beside the rest of its frame.
func TestInletsDoNotOverlap(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 2
	}
	want := run(t, nil, inlet, 500)
	for _, workers := range []int{1, 2, 4} {
		p := testPool(t, workers)
		for range rounds {
			if r := run(t, p, inlet, 500); r != want {
				t.Fatal(r, want)
			}
		}
	}
}

// escape takes a panic of its own across a Get, which programs should leave to Try; the pool must survive it.
func escape(f *satin.Frame, n int) (r int) {
	defer func() {
		if recover() != nil {
			r = run2(f)
		}
	}()
	return satin.Spawn(f, boom, n).Get()
}

func run2(f *satin.Frame) int { return satin.Spawn(f, fib, 10).Get() }

// The pool survives a job that recovers from the panic of a child whose result it takes, and that spawns again then.
func TestRecoverInJob(t *testing.T) {
	for _, workers := range []int{0, 1, 2} {
		p := testPool(t, workers)
		for range 50 {
			if r := run(t, p, escape, 6); r != 55 {
				t.Fatal(r)
			}
		}
	}
}

// Progress is the share of the tree that is done: of a run in the middle, whatever is done of jobs of others here, and
// not known when there is none.
func TestProgressOfFinishedAndHalfDoneRuns(t *testing.T) {
	p := testPool(t, 2)
	resetGates()
	if v, known := p.Progress(); v != 0 || known {
		t.Error("progress without a run: ", v)
	}
	g, err := p.Submit(engine.Job{ID: job.ID{Path: job.Path{1}}, Func: "test.half", Arg: 2}, func(engine.Outcome) {})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "another's job runs", gates[1].reached.Load)
	if v, known := p.Progress(); v != 0 || known {
		t.Error("progress with a job of another's run: ", v)
	}
	g.Cancel()
	resetGates()
	ended := make(chan struct{})
	go func() { defer close(ended); run(t, p, half, 0) }()
	until(t, "the run is half done", func() bool { return gates[1].reached.Load() && share(p) == 0.75 })
	gates[1].open.Store(true)
	<-ended
	until(t, "all cores are idle", func() bool { return p.Idle() == 2 })
	if s := p.Stats(); s.Spawned+s.Launched != s.Executed+s.Aborted {
		t.Errorf("jobs do not add up: %+v", s)
	}
}

func share(p *engine.Pool) float64 {
	v, _ := p.Progress()
	return v
}

func init() { satin.Register("test.half", half) }

// half has two children; the first waits with two of its own, of which one is done.
func half(f *satin.Frame, depth int) int {
	g := satin.Fork(f, half)
	switch depth {
	case 0:
		g.Spawn(1)
		g.Spawn(9)
	case 1:
		g.Spawn(2)
		g.Spawn(9)
	case 2:
		gates[1].reached.Store(true)
		for !gates[1].open.Load() {
			worker(f).Attend() // a look at the attention word, without a spawn
		}
	}
	for range g.Results() {
	}
	return 0
}

// early leaves its loop at the first result; the rest of the group must not run.
func early(f *satin.Frame, n int) int {
	g := satin.Fork(f, fib)
	for range n {
		g.Spawn(10)
	}
	for r := range g.Results() {
		_ = r
		break
	}
	return int(worker(f).Stack.Head)
}

// Whoever leaves a loop over results early aborts all that are left, in one operation, and both are counted.
func TestEarlyEndAborts(t *testing.T) {
	p := testPool(t, 1)
	if left := run(t, p, early, 100); left != 0 {
		t.Errorf("%d children left after the loop", left)
	}
	until(t, "the core is idle", func() bool { return p.Idle() == 1 })
	if s := p.Stats(); s.Aborted != 99 || s.Aborts != 1 {
		t.Errorf("%d of 99 children aborted, in %d operations", s.Aborted, s.Aborts)
	}
}
