package engine_test

import (
	"sync/atomic"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

func init() { satin.Register("test.untilBreath", untilBreath) }

// breaths is what the pool of TestBreathe counts; filled says that there is something to give.
var (
	breaths atomic.Int64
	filled  atomic.Bool
)

// untilBreath spawns until the worker has breathed so often, or for much longer than that can take.
func untilBreath(f *satin.Frame, n int64) int {
	for range 4 {
		defer satin.Spawn(f, fib, 5).Get()
	}
	filled.Store(true)
	for i := range 100_000_000 {
		x := satin.Spawn(f, fib, 1)
		if x.Get(); breaths.Load() >= n {
			return i
		}
	}
	return -1
}

// A worker of a process with one thread lets others have it again and again, with nobody to remind it, and what it has
// to give is to be had then.
func TestBreathe(t *testing.T) {
	var p *engine.Pool
	asked, given := false, false
	filled.Store(false)
	p, err := engine.NewPool(engine.Config{Workers: 1, Breathe: func() {
		if breaths.Add(1); !filled.Load() || asked { // the first comes before there is anything
			return // and whoever has asked once is given what there is from then on
		}
		asked = true
		if taken, _ := p.TakeNow(); taken != nil {
			given = taken.PutBack(false)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	breaths.Store(0)
	if got := run(t, p, untilBreath, int64(10)); got < 0 {
		t.Errorf("%d breaths in a hundred million jobs", breaths.Load())
	}
	if !given {
		t.Error("of four jobs none was to be had in the first breath after them")
	}
	if got := run(t, p, fib, 27); got != 196418 {
		t.Error(got)
	}
}
