package engine_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

func init() {
	satin.Register("test.paths", paths)
	satin.Register("test.early", early)
	satin.Register("test.aborter", aborter)
	satin.Register("test.deepSpin", deepSpin)
	satin.Register("test.bulky", bulky)
	satin.Register("test.nilFuncs", nilFuncs)
	satin.Register("test.abortDeep", abortDeep)
}

// pathArg carries the path that a job should find to be its own.
type pathArg struct {
	Depth int
	Path  []uint32
}

// paths checks its own ID and spawns children in every way; the result is the number of jobs with a wrong ID.
func paths(f *satin.Frame, a pathArg) (wrong int) {
	if f.ID().Path.String() != job.Path(a.Path).String() {
		wrong++
	}
	if a.Depth == 0 {
		return wrong
	}
	child := func(i uint32) pathArg {
		return pathArg{a.Depth - 1, append(a.Path[:len(a.Path):len(a.Path)], i)}
	}
	x, y := satin.Spawn(f, paths, child(1)), satin.Spawn(f, paths, child(2))
	wrong += x.Get()
	g := satin.Fork(f, paths)
	g.Spawn(child(3))
	wrong += y.Get()
	g.Spawn(child(4))
	for r := range g.Results() {
		wrong += r
	}
	z := satin.Spawn(f, paths, child(5))
	f.Sync()
	return wrong + z.Get()
}

func TestPaths(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 4} {
		p := testPool(t, workers)
		for range 5 {
			if wrong := run(t, p, paths, pathArg{Depth: 5}); wrong != 0 {
				t.Fatalf("%d workers: %d jobs found a wrong ID", workers, wrong)
			}
		}
	}
}

// TestManySmallRuns starts runs from several goroutines while workers fall asleep in between: each must end.
func TestManySmallRuns(t *testing.T) {
	p := testPool(t, 2)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for n := range 3000 {
				if r := run(t, p, fib, 3+n%8); r < 0 {
					t.Error(r)
				}
			}
		})
	}
	wg.Wait()
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
	return int(worker(f).Head)
}

func TestEarlyEndAborts(t *testing.T) {
	p := testPool(t, 1)
	if left := run(t, p, early, 100); left != 0 {
		t.Errorf("%d children left after the loop", left)
	}
	if s := p.Stats(); s.Aborted != 99 {
		t.Errorf("%d of 99 children aborted", s.Aborted)
	}
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

// bulky has an argument and a result that would not fit on a stack that may not grow.
func bulky(f *satin.Frame, a [512]int) [512]int {
	if a[0] == 0 {
		return a
	}
	a[0]--
	b := satin.Spawn(f, bulky, a).Get()
	b[1]++
	return b
}

func TestBulkyTypes(t *testing.T) {
	for _, workers := range []int{0, 2} {
		if b := run(t, testPool(t, workers), bulky, [512]int{0: 100}); b[1] != 100 {
			t.Error(b[1])
		}
	}
}

// nilFuncs spawns a nil function in every way, in slots that were used and in ones that were not, and counts
// clear panics.
func nilFuncs(f *satin.Frame, used int) (clear int) {
	for range used {
		satin.Spawn(f, fib, 1)
	}
	f.Sync()
	try := func(spawn func()) {
		defer func() {
			if s, ok := recover().(string); ok && strings.Contains(s, "nil function") {
				clear++
			}
		}()
		spawn()
	}
	var fn func(*satin.Frame, [512]byte) [512]byte
	var fails func(*satin.Frame, [512]byte) ([512]byte, error)
	try(func() { satin.Spawn(f, fn, [512]byte{1}) })
	try(func() { g := satin.Fork(f, fn); g.Spawn([512]byte{1}) })
	try(func() { satin.SpawnErr(f, fails, [512]byte{1}) })
	try(func() { g := satin.ForkErr(f, fails); g.Spawn([512]byte{1}) })
	return clear
}

func TestNilFunction(t *testing.T) {
	for _, workers := range []int{0, 1, 2} {
		p := testPool(t, workers)
		for _, used := range []int{0, 1, engine.FirstSlots + 10} {
			if n := run(t, p, nilFuncs, used); n != 4 {
				t.Errorf("%d workers, %d slots used: %d of 4 nil functions were refused", workers, used, n)
			}
		}
		if r := run(t, p, fib, 15); r != 610 {
			t.Error("after nil functions:", r)
		}
	}
}
