package engine_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

// dropLog is a Host that keeps what it is told.
type dropLog struct {
	engine.Alone
	mu      sync.Mutex
	dropped []*engine.Taken
	hungry  int
}

func (l *dropLog) Hungry() { l.mu.Lock(); l.hungry++; l.mu.Unlock() }
func (l *dropLog) Dropped(t *engine.Taken) {
	l.mu.Lock()
	l.dropped = append(l.dropped, t)
	l.mu.Unlock()
}

// A job that was taken and ended elsewhere fills its place as if it had run here.
func TestTakeCompletesElsewhere(t *testing.T) {
	n, want := 27, 196418
	if testing.Short() {
		n, want = 20, 6765
	}
	for _, workers := range []int{1, 2} {
		p := testPool(t, workers)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { thiefOutside(t, p, stop) })
		}
		for range 20 {
			if r := run(t, p, fib, n); r != want {
				t.Error(r)
			}
			if r := run(t, p, queens, board{All: 1<<8 - 1}); r != 92 {
				t.Error(r)
			}
		}
		close(stop)
		wg.Wait()
		until(t, "all cores are idle", func() bool { return p.Idle() == workers }) // counts are exact then
		s := p.Stats()
		if s.Taken != s.Returned+s.PutBack {
			t.Errorf("%+v", s)
		}
		if s.Spawned+s.Launched != s.Executed+s.Aborted+s.Returned {
			t.Errorf("jobs do not add up: %+v", s)
		}
		t.Logf("%+v", s)
	}
}

// What comes back for a job that was given away is checked against its function, and a refused outcome leaves it
// away; a failure there is the spawner's error here, with the peer's name.
func TestTakenResultOfWrongType(t *testing.T) {
	p := testPool(t, 1)
	res := make(chan error, 1)
	go func() {
		_, err := Run(context.Background(), p, waitChild, 0)
		res <- err
	}()
	job := takeSoon(p)
	if ok, err := job.End(engine.Outcome{Result: "text"}); ok || err == nil {
		t.Error("a result of the wrong type was accepted")
	}
	if ok, err := job.End(engine.Outcome{Result: 1, Err: errors.New("x")}); ok || err == nil {
		t.Error("an error was accepted from a function without one")
	}
	if p.Outside() != 1 || job.Job().Func != "test.fib" || job.Job().ID.Path.String() != "1" {
		t.Error(p.Outside(), job.Job().Func, job.Job().ID)
	}
	failure := &satin.JobError{ID: job.Job().ID, Func: job.Job().Func, Peer: "peer9", Panic: "far away"}
	if ok, err := job.End(engine.Outcome{Failure: failure}); !ok || err != nil {
		t.Error(ok, err)
	}
	err := <-res
	if je := (*satin.JobError)(nil); !errors.As(err, &je) || je.Peer != "peer9" {
		t.Error(err)
	}
}

func init() {
	satin.Register("test.waitChild", waitChild)
	satin.Register("test.abortChild", abortChild)
}

// takeSoon takes a job as soon as there is one.
func takeSoon(p *engine.Pool) *engine.Taken {
	for {
		if t := p.Take(); t != nil {
			return t
		}
		runtime.Gosched()
	}
}

// waitChild spawns until a child was taken and wants its result.
func waitChild(f *satin.Frame, _ int) int {
	x := satin.Spawn(f, fib, 20)
	for recordOf(x).State() < engine.Running {
		satin.Spawn(f, fib, 1).Get()
	}
	return x.Get()
}

// abortChild aborts a child that was taken.
func abortChild(f *satin.Frame, _ int) int {
	x := satin.Spawn(f, fib, 20)
	for recordOf(x).State() < engine.Running {
		satin.Spawn(f, fib, 1).Get()
	}
	f.Abort()
	if _, err := x.Try(); err != engine.ErrAborted {
		panic(err)
	}
	return 7
}

// Of a job that is aborted while it is away, whoever has it is told, once, and nothing that comes of it counts.
func TestTakenJobAborted(t *testing.T) {
	log := &dropLog{}
	p, err := engine.NewPool(engine.Config{Workers: 1, Host: log})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var job *engine.Taken
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		job = takeSoon(p)
	}()
	if r := run(t, p, abortChild, 0); r != 7 {
		t.Error(r)
	}
	wg.Wait()
	if len(log.dropped) != 1 || log.dropped[0] != job {
		t.Error("the thief outside was not told of the abort")
	}
	if ok, err := job.End(engine.Outcome{Result: 6765}); ok || err != nil {
		t.Error("the result of a dropped job was accepted", err)
	}
	if job.PutBack(false) {
		t.Error("a dropped job came back")
	}
}

// A job from elsewhere runs under the ID that it has there, and what cannot be run is refused before it begins.
func TestSubmit(t *testing.T) {
	p := testPool(t, 2)
	id := satin.JobID{Run: job.NewRunID(), Path: job.Path{3, 1}}
	got := make(chan engine.Outcome, 1)
	submit := func(fn string, arg any) engine.Outcome {
		if _, err := p.Submit(engine.Job{ID: id, Func: fn, Arg: arg}, func(o engine.Outcome) { got <- o }); err != nil {
			t.Fatal(err)
		}
		return <-got
	}
	if a := submit("test.fib", 20); a != (engine.Outcome{Result: 6765}) {
		t.Error(a)
	}
	a := submit("test.boom", 5)
	if je := (*satin.JobError)(nil); !errors.As(a.Failure, &je) || je.ID.String() != id.Run.String()+"/3.1.1.1.1.1.1" {
		t.Error(a)
	}
	if _, err := p.Submit(engine.Job{ID: id, Func: "test.nothing", Arg: 1}, nil); err == nil {
		t.Error("an unregistered name was accepted")
	}
	if _, err := p.Submit(engine.Job{ID: id, Func: "test.fib", Arg: "x"}, nil); err == nil {
		t.Error("an argument of the wrong type was accepted")
	}
}
