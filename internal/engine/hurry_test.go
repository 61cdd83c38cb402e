package engine_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/satin-peer/satin/internal/engine"
)

// TestHurry: a guest that is in a hurry begins although all workers run something without end, and what gave
// way goes on.
func TestHurry(t *testing.T) {
	for _, workers := range []int{1, 2} {
		p := testPool(t, workers)
		resetGates()
		long := make(chan int, workers)
		for range workers {
			go func() { long <- run(t, p, spinUntil, 1) }()
		}
		until(t, "all cores work", func() bool {
			return p.Held() == workers && p.Inbox() == 0 &&
				gates[1].reached.Load()
		})
		got := make(chan any, 2)
		ended := func(o engine.Outcome) { got <- o.Result }
		_, err := p.Submit(engine.Job{Func: "test.fib", Arg: 10, First: true}, ended)
		if err != nil {
			t.Fatal(err)
		}
		if v := <-got; v != 55 {
			t.Errorf("%v came of fib 10", v)
		}
		p.SetCores(0)
		// begins as soon as there is a core, and gives it back
		if _, err := p.Submit(engine.Job{Func: "test.fib", Arg: 11, First: true}, ended); err != nil {
			t.Fatal(err)
		}
		p.SetCores(workers)
		if v := <-got; v != 89 {
			t.Errorf("%v came of fib 11", v)
		}
		gates[1].open.Store(true)
		for range workers {
			<-long
		}
		until(t, "all cores are idle again", func() bool { return p.Idle() == workers })
	}
}

// TestHurryCancelled: one that is cancelled before it gets a core never begins, and the pool closes.
func TestHurryCancelled(t *testing.T) {
	p := testPool(t, 1)
	p.SetCores(0)
	g, err := p.Submit(engine.Job{Func: "test.fib", Arg: 10, First: true},
		func(engine.Outcome) { t.Error("a cancelled job ended") })
	if err != nil {
		t.Fatal(err)
	}
	g.Cancel()
	p.SetCores(1)
	if n, err := Run(context.Background(), p, fib, 5); n != 5 || err != nil {
		t.Error(n, err)
	}
	p.SetCores(0)
	if _, err := p.Submit(engine.Job{Func: "test.fib", Arg: 10, First: true}, func(engine.Outcome) {}); err != nil {
		t.Fatal(err)
	}
	p.Close() // with one that waits for a core
}

// TestHurryPrograms: random programs give the sequential result while guests hurry in between.
func TestHurryPrograms(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		p := testPool(t, workers)
		trials(t, func(rng *rand.Rand) {
			a := anyProgram(rng, 0)
			want, _ := Run(context.Background(), nil, program, a)
			got := make(chan any, 8)
			n := rng.IntN(9)
			for range n {
				_, err := p.Submit(engine.Job{Func: "test.fib", Arg: 12, First: true},
					func(o engine.Outcome) { got <- o.Result })
				if err != nil {
					t.Fatal(err)
				}
			}
			if r, err := Run(context.Background(), p, program, a); r != want || err != nil {
				t.Fatalf("got %d, %v; the sequential program gives %d", r, err, want)
			}
			for range n {
				if v := <-got; v != 144 {
					t.Fatalf("%v came of fib 12", v)
				}
			}
		})
		until(t, "all cores are idle again", func() bool { return p.Idle() == workers })
	}
}
