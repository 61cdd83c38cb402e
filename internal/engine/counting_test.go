package engine_test

import (
	"testing"
	"unsafe"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

func init() {
	satin.Register("test.aborter", aborter)
	satin.Register("test.deepSpin", deepSpin)
	satin.Register("test.abortDeep", abortDeep)
	satin.Register("test.lends", lends)
}

// aborter aborts children at random depths while they run on other workers.
func aborter(f *satin.Frame, depth int) int {
	if depth == 0 {
		return 1
	}
	g := satin.Fork(f, aborter)
	for range 4 {
		g.Spawn(depth - 1)
	}
	for range g.Results() {
		break
	}
	x := satin.Spawn(f, aborter, depth-1)
	satin.Spawn(f, fib, 12)
	f.Abort()
	if _, err := x.Try(); err != nil {
		return 0
	}
	return 1
}

// TestJobsAddUp: whatever is aborted wherever, each job is counted as executed or aborted, once.
func TestJobsAddUp(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		p := testPool(t, workers)
		for range 200 {
			run(t, p, aborter, 7)
		}
		until(t, "all workers unwind", func() bool { return p.Idle() == workers })
		if s := p.Stats(); s.Spawned+s.Launched != s.Executed+s.Aborted || s.Aborted == 0 {
			t.Errorf("%d workers: jobs do not add up: %+v", workers, s)
		}
	}
}

// deepSpin is a job in a job in a job that waits at a gate.
func deepSpin(f *satin.Frame, depth int) int {
	if depth == 0 {
		return satin.Spawn(f, spinUntil, 1).Get()
	}
	return satin.Spawn(f, deepSpin, depth-1).Get()
}

// abortDeep aborts deepSpin when a thief is in the middle of it.
func abortDeep(f *satin.Frame, depth int) int {
	satin.Spawn(f, deepSpin, depth)
	for !gates[1].reached.Load() {
		satin.Spawn(f, identity, 1).Get()
	}
	f.Abort()
	return 0
}

// TestAbortCountsEachFrame: an abort ends all frames of a stolen job, and each counts.
func TestAbortCountsEachFrame(t *testing.T) {
	p := testPool(t, 2)
	resetGates()
	run(t, p, abortDeep, 5)
	until(t, "the thief unwinds", gates[1].unwound.Load)
	until(t, "the thief has nothing left", func() bool { return p.Idle() == 2 })
	if s := p.Stats(); s.Aborted < 7 || s.Spawned+s.Launched != s.Executed+s.Aborted {
		t.Errorf("7 frames were aborted: %+v", s)
	}
}

// lends spawns elsewhere, as a module does: each child is offered, and taken back since nobody wants it.
func lends(f *satin.Frame, children int) (back int) {
	fn := identity
	l := engine.Lender{Worker: worker(f)}
	for range children {
		r := l.Worker.Room(*(*unsafe.Pointer)(unsafe.Pointer(&fn)))
		l.Lend(r, nil)
		if l.TakeBack(r, r.ID) {
			back++
		}
	}
	return back
}

// TestTakenBackIsNotCounted: a child that is taken back runs inside, and is neither spawned here nor aborted.
func TestTakenBackIsNotCounted(t *testing.T) {
	p := testPool(t, 1)
	if back := run(t, p, lends, 7); back != 7 {
		t.Fatalf("%d of 7 children were taken back", back)
	}
	if s := p.Stats(); s.Spawned != 0 || s.Aborted != 0 || s.Executed != 1 {
		t.Errorf("one job ran, and its children inside: %+v", s)
	}
}
