package engine_test

import (
	"sync/atomic"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

func init() { satin.Register("test.alone", alone) }

// lonely holds the job alone back, whose child may be stolen.
var lonely struct {
	child atomic.Pointer[engine.Record]
	on    atomic.Bool
}

// alone has a job that may be stolen until it may go on.
func alone(f *satin.Frame, n int) int {
	x := satin.Spawn(f, fib, n)
	for lonely.child.Store(recordOf(x)); !lonely.on.Load(); {
		satin.Spawn(f, fib, 1).Get()
	}
	return x.Get()
}

// inAlone has a job come in that is to run alone, and gives what comes of it.
func inAlone(t *testing.T, p *engine.Pool, fn string, n int) chan engine.Outcome {
	t.Helper()
	ended := make(chan engine.Outcome, 1)
	in := engine.Job{ID: job.ID{Path: job.Path{7}}, Func: fn, Arg: n, Alone: true}
	if _, err := p.Submit(in, func(o engine.Outcome) { ended <- o }); err != nil {
		t.Fatal(err)
	}
	return ended
}

// Of a job that came in to run alone nothing leaves, whichever worker runs it.
func TestAloneStays(t *testing.T) {
	p := testPool(t, 2)
	ended := inAlone(t, p, "test.fib", 27)
	for {
		if out := p.Take(); out != nil {
			t.Fatalf("%v has left", out.Job().ID)
		}
		select {
		case o := <-ended:
			if o.Result != 196418 {
				t.Errorf("it came to %v", o.Result)
			}
			return
		default:
		}
	}
}

// A worker that runs such a job is passed by, and what it has does not count as something to give. What is taken just
// as a worker begins one stays as well: another worker of the pool runs it.
func TestAloneIsPassedBy(t *testing.T) {
	p := testPool(t, 1)
	lonely.child.Store(nil)
	lonely.on.Store(false)
	defer lonely.on.Store(true)
	ended := inAlone(t, p, "test.alone", 10)
	until(t, "it has begun", func() bool { return lonely.child.Load() != nil })
	w, child := p.AllWorkers()[0], lonely.child.Load()
	published := func(what string, then func() bool) {
		until(t, what, func() bool {
			if p.Take() != nil {
				t.Fatal("it has left")
			}
			w.Nudge()
			return then()
		})
	}
	published("it may be stolen", w.Stealable)
	if p.Take() != nil || child.State() != engine.Fresh || p.Queued() > 0 {
		t.Errorf("it is taken off the stack, state %d, or %d count as to give", child.State(), p.Queued())
	}
	w.SetAlone(false)
	published("it waits for another worker", func() bool { return child.State() != engine.Fresh })
	lonely.on.Store(true)
	if o := <-ended; o.Result != 55 {
		t.Errorf("it came to %v", o.Result)
	}
}
