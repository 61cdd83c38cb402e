package engine_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

// TestHandOverRace has thieves step over slots that were handed over while their owner takes these back, and
// steal the jobs above and below them: every job must be had by exactly one.
func TestHandOverRace(t *testing.T) {
	jobs := 20_000
	if testing.Short() {
		jobs = 4_000
	}
	s := newSalvager()
	p, err := engine.NewPool(engine.Config{Workers: 1, Host: s})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	w := engine.NewWorker(p, 1)
	w.Enter(0, 0)
	had := make([]atomic.Int32, jobs)
	var over atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !over.Load() {
				r := w.Steal()
				if r == nil {
					runtime.Gosched()
					continue
				}
				had[r.Arg().(int)].Add(1)
				r.SetState(engine.Running)
				r.SetState(engine.Done)
				r.Deliver()
			}
		})
	}
	wg.Go(func() {
		for !over.Load() {
			for _, job := range s.takeFound() {
				had[job.Job().Arg.(int)].Add(1)
				if ok, err := job.End(engine.Outcome{Result: 0}); !ok || err != nil {
					t.Error("a job that was handed over cannot be completed", err)
				}
			}
			runtime.Gosched()
		}
	})
	f := frame(w)
	for n := 0; n < jobs; {
		var xs []satin.Future[int, int]
		for i := 0; i < 1+n%7 && n < jobs; i++ {
			xs = append(xs, satin.Spawn(f, identity, n))
			if h := w.Stack.Head - 1; n%3 == 0 && w.Claim(h) {
				w.HandOver(w.Slots()[h], h, satin.JobID{})
			}
			n++
		}
		w.ShareAll()
		for i := len(xs) - 1; i >= 0; i-- {
			was, arg := w.Begun(), n-len(xs)+i
			for r := recordOf(xs[i]); r.Gone() && r.State() != engine.Done; { // nobody is here to park for
				runtime.Gosched()
			}
			xs[i].Get()
			if w.Begun() > was {
				had[arg].Add(1)
			}
		}
		if w.Stack.Head != 0 {
			t.Fatalf("%d slots are left", w.Stack.Head)
		}
	}
	over.Store(true)
	wg.Wait()
	for n := range had {
		if had[n].Load() != 1 {
			t.Fatalf("job %d was run %d times", n, had[n].Load())
		}
	}
}

// TestSlotWaitsForPassingThief: a thief has moved tail over a slot whose job was handed over and has yet to
// look into it. The owner must not give the slot to another job before.
func TestSlotWaitsForPassingThief(t *testing.T) {
	s := newSalvager()
	p, err := engine.NewPool(engine.Config{Workers: 1, Host: s})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	w := engine.NewWorker(p, 1)
	w.Enter(0, 0)
	x := satin.Spawn(frame(w), identity, 1)
	r := w.Slots()[0]
	w.HandOver(r, 0, satin.JobID{})
	if ok, err := s.takeFound()[0].End(engine.Outcome{Result: 5}); !ok || err != nil {
		t.Fatal(ok, err)
	}
	w.SetTS(1<<32 | 1) // the thief's compare-and-swap
	var taken atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		if got := x.Get(); got != 5 {
			t.Error(got)
		}
		taken.Store(true)
	})
	for range 10_000 {
		runtime.Gosched()
		if taken.Load() {
			t.Fatal("the slot was given up under the thief")
		}
	}
	r.Pass()
	wg.Wait()
}
