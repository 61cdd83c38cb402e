package engine_test

import (
	"context"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

func init() {
	satin.Register("keeptest.binary", keepBinary)
	satin.Register("keeptest.loop", keepLoop)
	satin.Register("keeptest.group", keepGroup)
	satin.Register("keeptest.sync", keepSync)
	satin.Register("keeptest.wide", keepWide)
	satin.Register("keeptest.mixed", keepMixed)
	satin.Register("keeptest.leaf", keepLeaf)
	satin.Register("keeptest.parent", keepParent)
	satin.Register("keeptest.garbage", keepGarbage)
	satin.Register("keeptest.sleeper", keepSleeper)
}

// A leafClock is the time of a pool of one worker in which only leaves take any, and the list of those that ended.
type leafClock struct {
	p      *engine.Pool
	now    int64 // ns; the worker's own
	pulse  int64
	leaves []leafEnd
	s      *salvager
}

type leafEnd struct {
	path job.Path
	took int64
	kept int // outcomes kept so far
}

var theLeafClock atomic.Pointer[leafClock]

// work is a leaf: it takes so long.
func (c *leafClock) work(f *satin.Frame, took int64) {
	if c.now/c.pulse < (c.now+took)/c.pulse {
		c.p.Pulse()
	}
	c.now += took
	c.leaves = append(c.leaves, leafEnd{f.ID().Path, took, len(c.s.kept)})
}

// A keepArg is a job of random size: Cost is the time of all leaves below, in ns.
type keepArg struct {
	Cost int64
	Seed uint64
}

// split divides a job's cost unevenly in n parts.
func (a keepArg) split(n int) []keepArg {
	parts := make([]keepArg, n)
	left, x := a.Cost, a.Seed
	for i := range parts {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		parts[i] = keepArg{left / int64(n-i), x | 1}
		if i < n-1 {
			parts[i].Cost = int64(float64(parts[i].Cost) * (0.3 + 1.4*float64(x%1024)/1024))
		}
		left -= parts[i].Cost
	}
	return parts
}

const keepLeafCost = 300_000 // ns

func (a keepArg) leaf(f *satin.Frame) bool {
	if a.Cost > keepLeafCost {
		return false
	}
	theLeafClock.Load().work(f, a.Cost)
	return true
}

func keepLeaf(f *satin.Frame, a keepArg) int {
	theLeafClock.Load().work(f, a.Cost)
	return 1
}

func keepBinary(f *satin.Frame, a keepArg) int {
	if a.leaf(f) {
		return 1
	}
	parts := a.split(2)
	x := satin.Spawn(f, keepBinary, parts[0])
	y := keepBinary(f, parts[1])
	return x.Get() + y
}

func keepLoop(f *satin.Frame, a keepArg) (n int) {
	if a.leaf(f) {
		return 1
	}
	for _, part := range a.split(3) {
		n += satin.Spawn(f, keepLoop, part).Get()
	}
	return n
}

func keepGroup(f *satin.Frame, a keepArg) (n int) {
	if a.leaf(f) {
		return 1
	}
	g := satin.Fork(f, keepGroup)
	for _, part := range a.split(5) {
		g.Spawn(part)
	}
	for r := range g.Results() {
		n += r
	}
	return n
}

func keepSync(f *satin.Frame, a keepArg) (n int) {
	if a.leaf(f) {
		return 1
	}
	var xs [4]satin.Future[keepArg, int]
	for i, part := range a.split(len(xs)) {
		xs[i] = satin.Spawn(f, keepSync, part)
	}
	f.Sync()
	for _, x := range xs {
		n += x.Get()
	}
	return n
}

// keepWide has many children that take less than KeepAfter each.
func keepWide(f *satin.Frame, a keepArg) (n int) {
	for left := a.Cost; left > 0; left -= 12_000_000 {
		n += satin.Spawn(f, keepLoop, keepArg{12_000_000, uint64(left) | 1}).Get()
	}
	return n
}

// keepMixed has large children among many tiny ones.
func keepMixed(f *satin.Frame, a keepArg) (n int) {
	if a.Cost <= 50_000_000 {
		return keepBinary(f, a)
	}
	for _, part := range a.split(3) {
		for range 50 {
			n += satin.Spawn(f, keepLeaf, keepArg{1_000, 1}).Get()
		}
		n += satin.Spawn(f, keepMixed, part).Get()
	}
	return n
}

// newLeafClock makes a pool of one worker whose Host keeps, in time that leaves make.
func newLeafClock(t *testing.T, keepAfter time.Duration) *leafClock {
	s := newSalvager()
	p, err := engine.NewPool(engine.Config{Workers: 1, Host: s, KeepAfter: keepAfter})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	c := &leafClock{p: p, s: s, pulse: 5 * int64(keepAfter)}
	p.SetClock(func() int64 { return c.now })
	theLeafClock.Store(c)
	return c
}

// uncovered gives the time of the first n leaves that are neither kept nor have a kept ancestor by then.
func (c *leafClock) uncovered(n int) (lost, all int64) {
	kept := map[string]bool{}
	for _, k := range c.s.kept[:c.leaves[n-1].kept] {
		kept[k.ID.Path.String()] = true
	}
	for _, l := range c.leaves[:n] {
		all += l.took
		path, covered := l.path.String(), false
		for ; path != "" && path != "root" && !covered; path = path[:max(strings.LastIndexByte(path, '.'), 0)] {
			covered = kept[path]
		}
		if !covered {
			lost += l.took
		}
	}
	return lost, all
}

// TestKeptCoverage counts leaves: of the work that a deterministic program has finished at any moment, what
// is kept must cover all but a few intervals between two calls of Pulse.
func TestKeptCoverage(t *testing.T) {
	const keepAfter = 20 * time.Millisecond
	total := 4 * time.Second
	for _, fn := range []func(*satin.Frame, keepArg) int{keepBinary, keepLoop, keepGroup, keepSync, keepWide,
		keepMixed} {
		name := nameOf(fn)
		c := newLeafClock(t, keepAfter)
		run(t, c.p, fn, keepArg{int64(total), 88172645463325252})
		worst, share, at := int64(0), 0.0, 0
		const moments = 10
		for i := 1; i <= moments; i++ {
			n := len(c.leaves) * i / moments
			lost, all := c.uncovered(n)
			if lost > worst {
				worst, at = lost, i
			}
			if i > moments/2 {
				share = math.Max(share, float64(lost)/float64(all))
			}
		}
		t.Logf("%-16s %d leaves, %d kept: at worst %v of %v not covered (after %d/%d), in the second half %.2f %%",
			name, len(c.leaves), len(c.s.kept), time.Duration(worst), total, at, moments, 100*share)
		if limit := 40 * keepAfter; time.Duration(worst) > limit {
			t.Errorf("%s: %v of work would be lost, want at most %v", name, time.Duration(worst), limit)
		}
		if rate := int(total / keepAfter * engine.SmallShare); len(c.s.kept) > rate {
			t.Errorf("%s: %d outcomes were kept of %v, at most %d are worth it", name, len(c.s.kept), total, rate)
		}
	}
}

// keepParent has a child that panics and one that does not.
func keepParent(f *satin.Frame, n int) int {
	theLeafClock.Load().p.Pulse()
	if _, err := satin.Spawn(f, boom, 3).Try(); err == nil {
		panic("no failure")
	}
	return satin.Spawn(f, fib, n).Get()
}

// What panicked is not kept, what its parent did then is.
func TestKeptOutcomes(t *testing.T) {
	c := newLeafClock(t, 1)
	c.p.SetClock(func() int64 { c.now += 10; return c.now }) // all jobs that are timed are long
	if got := run(t, c.p, keepParent, 9); got != 34 {
		t.Error(got)
	}
	all := map[string]keptJob{}
	for _, k := range c.s.kept {
		if all[k.ID.Path.String()] = k; k.Func == "test.boom" {
			t.Errorf("%s was kept, which panicked", k.ID)
		}
	}
	if k := all["2"]; k.Func != "test.fib" || k.Arg != 9 || k.Result != 34 || k.Err != nil {
		t.Errorf("kept %v", c.s.kept)
	}
}

// keepGarbage has a child that sees the run's end and gives up.
func keepGarbage(f *satin.Frame, n int) int {
	if n > 0 {
		theLeafClock.Load().p.Pulse()
		return satin.Spawn(f, keepGarbage, n-1).Get()
	}
	close(theGarbage)
	for !f.Aborted() {
		runtime.Gosched()
	}
	return -1
}

var theGarbage = make(chan struct{})

// What an abort ended is not kept, even if it looks well.
func TestKeptNotAborted(t *testing.T) {
	c := newLeafClock(t, 1)
	c.p.SetClock(func() int64 { c.now += 10; return c.now })
	ctx, cancel := context.WithCancel(context.Background())
	theGarbage = make(chan struct{})
	go func() {
		<-theGarbage
		cancel()
	}()
	if _, err := Run(ctx, c.p, keepGarbage, 2); err != context.Canceled {
		t.Error(err)
	}
	c.p.Close() // waits for the worker
	if len(c.s.kept) > 0 {
		t.Errorf("kept: %v", c.s.kept)
	}
}

// keepSleeper waits for a child that is away.
func keepSleeper(f *satin.Frame, n int) int {
	x := satin.Spawn(f, fib, n)
	worker(f).ShareAll()
	theSleeper <- theLeafClock.Load().p.GiveOldest(worker(f))
	return x.Get()
}

var theSleeper = make(chan *engine.Taken, 1)

// Time asleep is not a job's time.
func TestSleepIsNotTimed(t *testing.T) {
	c := newLeafClock(t, time.Second)
	c.p.Pulse()
	go func() {
		job := <-theSleeper
		until(t, "the worker sleeps", func() bool { return c.p.AllWorkers()[0].Asleep() })
		c.now += int64(time.Hour)
		if _, err := job.End(engine.Outcome{Result: 5}); err != nil {
			t.Error(err)
		}
	}()
	if got := run(t, c.p, keepSleeperRoot, 5); got != 5 {
		t.Error(got)
	}
	if len(c.s.kept) != 0 {
		t.Errorf("kept: %v", c.s.kept)
	}
}

func init() { satin.Register("keeptest.sleeperRoot", keepSleeperRoot) }

func keepSleeperRoot(f *satin.Frame, n int) int { return satin.Spawn(f, keepSleeper, n).Get() }
