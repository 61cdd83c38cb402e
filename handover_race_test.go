package satin

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

// TestHandOverRace has thieves step over slots that were handed over while their owner takes these back, and
// steal the jobs above and below them: every job must be had by exactly one.
func TestHandOverRace(t *testing.T) {
	jobs := 20_000
	if testing.Short() {
		jobs = 4_000
	}
	s := newSalvager()
	p, err := NewPool(Config{Workers: 1, Outside: s})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	w := newWorker(p, 1)
	w.enter(0, 0)
	had := make([]atomic.Int32, jobs)
	var over atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !over.Load() {
				r := w.steal()
				if r == nil {
					runtime.Gosched()
					continue
				}
				had[(*task[int, int])(unsafe.Pointer(r)).arg].Add(1)
				r.state.Store(running)
				r.state.Store(done)
				r.deliver()
			}
		})
	}
	wg.Go(func() {
		for !over.Load() {
			for _, job := range s.takeFound() {
				had[job.Arg().(int)].Add(1)
				if ok, err := job.Complete(0, nil); !ok || err != nil {
					t.Error("a job that was handed over cannot be completed", err)
				}
			}
			runtime.Gosched()
		}
	})
	f := w.frame()
	for n := 0; n < jobs; {
		var xs []Future[int, int]
		for i := 0; i < 1+n%7 && n < jobs; i++ {
			xs = append(xs, Spawn(f, identity, n))
			if h := w.head - 1; n%3 == 0 && w.claim(h) {
				w.handOver(w.slots[h], h, JobID{})
			}
			n++
		}
		w.shareAll()
		for i := len(xs) - 1; i >= 0; i-- {
			was, arg := w.counts.inline+w.counts.detached, n-len(xs)+i
			for r := &xs[i].t.record; r.gone && r.state.Load() != done; { // nobody is here to park for
				runtime.Gosched()
			}
			xs[i].Get()
			if w.counts.inline+w.counts.detached > was {
				had[arg].Add(1)
			}
		}
		if w.head != 0 {
			t.Fatalf("%d slots are left", w.head)
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
	p, err := NewPool(Config{Workers: 1, Outside: s})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	w := newWorker(p, 1)
	w.enter(0, 0)
	x := Spawn(w.frame(), identity, 1)
	r := w.slots[0]
	w.handOver(r, 0, JobID{})
	if ok, err := s.takeFound()[0].Complete(5, nil); !ok || err != nil {
		t.Fatal(ok, err)
	}
	w.ts.Store(1<<32 | 1) // the thief's compare-and-swap
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
	r.passed.Store(true)
	wg.Wait()
}
