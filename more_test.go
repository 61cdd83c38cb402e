package satin

import (
	"strings"
	"sync"
	"testing"
)

func init() {
	Register("test.paths", paths)
	Register("test.early", early)
	Register("test.aborter", aborter)
	Register("test.deepSpin", deepSpin)
	Register("test.bulky", bulky)
	Register("test.nilFuncs", nilFuncs)
	Register("test.abortDeep", abortDeep)
}

// pathArg carries the path that a job should find to be its own.
type pathArg struct {
	Depth int
	Path  []uint32
}

// paths checks its own ID and spawns children in every way; the result is the number of jobs with a wrong ID.
func paths(f *Frame, a pathArg) (wrong int) {
	if f.ID().Path.String() != Path(a.Path).String() {
		wrong++
	}
	if a.Depth == 0 {
		return wrong
	}
	child := func(i uint32) pathArg {
		return pathArg{a.Depth - 1, append(a.Path[:len(a.Path):len(a.Path)], i)}
	}
	x, y := Spawn(f, paths, child(1)), Spawn(f, paths, child(2))
	wrong += x.Get()
	g := Fork(f, paths)
	g.Spawn(child(3))
	wrong += y.Get()
	g.Spawn(child(4))
	for r := range g.Results() {
		wrong += r
	}
	z := Spawn(f, paths, child(5))
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

func TestReadyInOrder(t *testing.T) {
	var l readyList
	rec := func(group, depth uint64) *record { return &record{group: group, id: depth << depthShift} }
	a1, b1, a2, c1, b2, dead := rec(1, 1), rec(2, 1), rec(1, 1), rec(3, 2), rec(2, 1), rec(4, 9)
	for _, r := range []*record{a1, b1, a2, c1, b2, dead} {
		l.push(r)
	}
	for i, step := range []struct {
		group uint64
		want  *record
	}{{2, b1}, {1, a1}, {2, b2}, {2, nil}, {3, c1}, {1, a2}, {1, nil}} {
		if got := l.take(step.group, 2); got != step.want {
			t.Fatalf("step %d: took %p of group %d, want %p", i, got, step.group, step.want)
		}
	}
	if len(l) != 0 {
		t.Errorf("%d queues left, one of a frame that has ended", len(l))
	}
}

// early leaves its loop at the first result; the rest of the group must not run.
func early(f *Frame, n int) int {
	g := Fork(f, fib)
	for range n {
		g.Spawn(10)
	}
	for r := range g.Results() {
		_ = r
		break
	}
	return int(f.head)
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
func aborter(f *Frame, depth int) int {
	if depth == 0 {
		return 1
	}
	g := Fork(f, aborter)
	for range 4 {
		g.Spawn(depth - 1)
	}
	for range g.Results() {
		break
	}
	x := Spawn(f, aborter, depth-1)
	Spawn(f, fib, 12)
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
		until(t, "all workers unwind", func() bool { return p.Stats().Busy == 0 })
		if s := p.Stats(); s.Spawned+s.Launched != s.Executed+s.Aborted || s.Aborted == 0 {
			t.Errorf("%d workers: jobs do not add up: %+v", workers, s)
		}
	}
}

// deepSpin is a job in a job in a job that waits at a gate.
func deepSpin(f *Frame, depth int) int {
	if depth == 0 {
		return Spawn(f, spinUntil, 1).Get()
	}
	return Spawn(f, deepSpin, depth-1).Get()
}

// abortDeep aborts deepSpin when a thief is in the middle of it.
func abortDeep(f *Frame, depth int) int {
	Spawn(f, deepSpin, depth)
	for !gates[1].reached.Load() {
		Spawn(f, identity, 1).Get()
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
	until(t, "the thief has nothing left", func() bool { return p.Stats().Busy == 0 })
	if s := p.Stats(); s.Aborted < 7 || s.Spawned+s.Launched != s.Executed+s.Aborted {
		t.Errorf("7 frames were aborted: %+v", s)
	}
}

// bulky has an argument and a result that would not fit on a stack that may not grow.
func bulky(f *Frame, a [512]int) [512]int {
	if a[0] == 0 {
		return a
	}
	a[0]--
	b := Spawn(f, bulky, a).Get()
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
func nilFuncs(f *Frame, used int) (clear int) {
	for range used {
		Spawn(f, fib, 1)
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
	var fn func(*Frame, [512]byte) [512]byte
	var fails func(*Frame, [512]byte) ([512]byte, error)
	try(func() { Spawn(f, fn, [512]byte{1}) })
	try(func() { g := Fork(f, fn); g.Spawn([512]byte{1}) })
	try(func() { SpawnErr(f, fails, [512]byte{1}) })
	try(func() { g := ForkErr(f, fails); g.Spawn([512]byte{1}) })
	return clear
}

func TestNilFunction(t *testing.T) {
	for _, workers := range []int{0, 1, 2} {
		p := testPool(t, workers)
		for _, used := range []int{0, 1, firstSlots + 10} {
			if n := run(t, p, nilFuncs, used); n != 4 {
				t.Errorf("%d workers, %d slots used: %d of 4 nil functions were refused", workers, used, n)
			}
		}
		if r := run(t, p, fib, 15); r != 610 {
			t.Error("after nil functions:", r)
		}
	}
}
