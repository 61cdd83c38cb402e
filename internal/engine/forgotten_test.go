package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("test.abortsGroups", abortsGroups)
	satin.RegisterErr("test.failsAt", failsAt)
	satin.RegisterErr("test.forgetsErr", forgetsErr)
	satin.Register("test.forgets", forgets)
	satin.Register("test.inBetween", inBetween)
	satin.Register("test.outer", outer)
}

// failsAt returns an error if n is odd.
func failsAt(_ *satin.Frame, n int) (int, error) {
	if n%2 == 1 {
		return n, fmt.Errorf("odd number %d", n)
	}
	return n, nil
}

// Ways to forget a failed child; those from kept on forget none.
const (
	atEnd = iota
	afterSync
	afterOthers
	inGroup
	panicsAfterSync
	aborted
	leftEarly
	ways
	kept = aborted
)

// forgets forgets the error of a child in the given way. Its result is 1.
func forgets(f *satin.Frame, way int) int {
	switch way {
	case atEnd:
		satin.SpawnErr(f, failsAt, 0)
		satin.SpawnErr(f, failsAt, 1)
		satin.SpawnErr(f, failsAt, 3)
	case afterSync:
		satin.SpawnErr(f, failsAt, 1)
		x := satin.SpawnErr(f, failsAt, 3)
		f.Sync()
		_, _ = x.Get()
	case afterOthers:
		x := satin.SpawnErr(f, failsAt, 5)
		satin.SpawnErr(f, failsAt, 1)
		y := satin.SpawnErr(f, failsAt, 3)
		_, _ = x.Get() // runs the others ahead of their Get
		_, _ = y.Get()
	case inGroup:
		g := satin.ForkErr(f, failsAt)
		g.Spawn(0)
		g.Spawn(1)
		f.Sync()
	case panicsAfterSync:
		satin.Spawn(f, boom, 0)
		f.Sync()
	case aborted:
		satin.SpawnErr(f, failsAt, 1)
		f.Sync()
		satin.SpawnErr(f, failsAt, 3)
		f.Abort()
	case leftEarly:
		g := satin.ForkErr(f, failsAt)
		for range 5 {
			g.Spawn(1)
		}
		for range g.Results() {
			break
		}
	}
	return 1
}

// forgetsErr does so too, and returns an error of its own if it is told to by 100 more.
func forgetsErr(f *satin.Frame, way int) (int, error) {
	n := forgets(f, way%100)
	if way >= 100 {
		return n, errors.New("my own")
	}
	return n, nil
}

// inBetween has a child that forgets, which Get begins, then one that Get begins too and that gives up the failures of
// its own children, and then one that Try begins and that does not forget.
func inBetween(f *satin.Frame, way int) int {
	n := satin.Spawn(f, forgets, way).Get()
	_ = satin.Spawn(f, forgets, aborted).Get()
	m, err := satin.Spawn(f, forgets, aborted).Try()
	if m != 1 || err != nil {
		panic(fmt.Sprint("a job fails for its sibling: ", err))
	}
	return n + m
}

// outer counts the failure of inBetween as 10, and checks that it comes without a result, as from another machine, and
// that the next job has none.
func outer(f *satin.Frame, way int) int {
	n, err := satin.Spawn(f, inBetween, way).Try()
	if err != nil {
		if n != 0 || strings.Contains(err.Error(), "for its sibling") {
			panic(fmt.Sprintf("a job that failed has the result %d and the error %v", n, err))
		}
		n = 10
	}
	m, err := satin.Spawn(f, inBetween, aborted).Try()
	if m != 2 || err != nil {
		panic(fmt.Sprint("a failure shows up again: ", err))
	}
	return n
}

// TestForgottenFailures: an error or panic that nobody takes fails the job that forgot it, however that happened.
func TestForgottenFailures(t *testing.T) {
	ctx := context.Background()
	for _, workers := range []int{0, 1, 2} {
		p := testPool(t, workers)
		stop := make(chan struct{})
		var thief sync.WaitGroup
		if p != nil {
			thief.Go(func() { thiefOutside(t, p, stop) })
		}
		for range 20 {
			for way := range ways {
				_, err := Run(ctx, p, forgets, way)
				_, err2 := RunErr(ctx, p, forgetsErr, way)
				sum, err3 := Run(ctx, p, outer, way)
				if err3 != nil {
					t.Fatalf("%d workers, way %d: %v", workers, way, err3)
				}
				if way >= kept {
					if err != nil || err2 != nil || sum != 2 {
						t.Fatalf("%d workers, way %d: %v, %v, sum %d", workers, way, err, err2, sum)
					}
					continue
				}
				for _, err := range []error{err, err2} {
					je := (*satin.JobError)(nil)
					if !errors.As(err, &je) || way != panicsAfterSync &&
						(je.Func != "test.failsAt" || je.Err.Error() != "odd number 1") {
						t.Fatalf("%d workers, way %d: %v", workers, way, err)
					}
				}
				if sum != 10 {
					t.Fatalf("%d workers, way %d: the job around did not fail but gave %d", workers, way, sum)
				}
				if _, err := RunErr(ctx, p, forgetsErr, 100+way); err == nil ||
					!strings.Contains(err.Error(), "my own") {
					t.Fatalf("%d workers, way %d: a forgotten error counts more than one returned: %v", workers,
						way, err)
				}
			}
		}
		close(stop)
		thief.Wait()
	}
}

// abortsGroups knows its result before it reads those of its groups, and wants another child's all the same.
func abortsGroups(f *satin.Frame, n int) int {
	wanted := satin.Spawn(f, fib, 10)
	g, e := satin.Fork(f, fib), satin.ForkErr(f, failsAt)
	for range n {
		g.Spawn(10)
	}
	for range n {
		e.Spawn(1)
	}
	e.Abort()
	g.Abort()
	for range g.Results() {
		return -1
	}
	return wanted.Get()
}

// Guards that a group can be given up before its results are read: nothing of it runs unless it was stolen, none of it
// fails the job, and what is none of it is left alone.
func TestAbortOfGroup(t *testing.T) {
	for _, workers := range []int{0, 1, 4} {
		p := testPool(t, workers)
		if got := run(t, p, abortsGroups, 100); got != 55 {
			t.Errorf("%d workers: the child beside the groups came to %d, want 55", workers, got)
		}
		if workers != 1 {
			continue
		}
		until(t, "the core is idle", func() bool { return p.Idle() == 1 })
		if s := p.Stats(); s.Aborts != 2 || s.Aborted != 200 {
			t.Errorf("%d of 200 children aborted, in %d operations", s.Aborted, s.Aborts)
		}
	}
}
