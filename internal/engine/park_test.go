package engine_test

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

func init() {
	satin.Register("parktest.two", parkTwo)
	satin.Register("parktest.noted", parkNoted)
	satin.Register("parktest.crowd", parkCrowd)
}

var (
	parkTaken = make(chan *engine.Taken, 2)
	parkPool  atomic.Pointer[engine.Pool]
	parkMu    sync.Mutex
	parkOrder []int

	parkAway []*engine.Taken // of parkCrowd, one worker of which runs at a time
)

// parkTwo has two children taken and waits for both.
func parkTwo(f *satin.Frame, _ int) int {
	x, y := satin.Spawn(f, parkNoted, 1), satin.Spawn(f, parkNoted, 2)
	worker(f).ShareAll()
	for range 2 {
		parkTaken <- parkPool.Load().GiveOldest(worker(f))
	}
	return y.Get()*10 + x.Get()
}

// parkCrowd has n more workers wait for children that others have. The last one sees all of these put back, and then
// its own.
func parkCrowd(f *satin.Frame, n int) int {
	give := func() *engine.Taken {
		worker(f).ShareAll()
		return parkPool.Load().GiveOldest(worker(f))
	}
	if n == 0 {
		y := satin.Spawn(f, parkNoted, 1)
		for _, job := range append(parkAway, give()) {
			job.PutBack(true)
		}
		return y.Get()
	}
	x := satin.Spawn(f, parkCrowd, n-1)
	next := give()
	y := satin.Spawn(f, parkNoted, 1)
	parkAway = append(parkAway, give())
	next.PutBack(false) // another worker begins it when this one sleeps
	return y.Get() + x.Get()
}

// parkNoted notes that it runs.
func parkNoted(_ *satin.Frame, n int) int {
	parkMu.Lock()
	defer parkMu.Unlock()
	parkOrder = append(parkOrder, n)
	return n
}

// parked is a pool without a core whose worker sleeps, as both children of parkTwo have been taken.
func parked(t *testing.T) (p *engine.Pool, first, second *engine.Taken, result chan int) {
	p, result = testPool(t, 1), make(chan int)
	parkPool.Store(p)
	go func() { result <- run(t, p, parkTwo, 0) }()
	first, second = <-parkTaken, <-parkTaken
	until(t, "the worker sleeps", func() bool { return p.Idle() == 1 })
	p.SetCores(0)
	return p, first, second, result
}

// TestTwoReturnsWakeOnce: a worker that sleeps gets two results before it gets a core. It goes on once.
func TestTwoReturnsWakeOnce(t *testing.T) {
	p, first, second, result := parked(t)
	for n, job := range []*engine.Taken{first, second} {
		if ok, err := job.End(engine.Outcome{Result: 4 + n}); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if n := p.Resumable(); n != 1 {
		t.Errorf("%d workers can go on, want 1", n)
	}
	p.SetCores(1)
	if got := <-result; got != 54 {
		t.Error(got)
	}
	until(t, "the core is idle", func() bool { return p.Idle() == 1 })
	if got := run(t, p, fib, 10); got != 55 {
		t.Error(got)
	}
}

// TestNotParkedAfterAll: a worker that goes on instead of sleeping, because something came back, or because there are
// workers enough, is not woken later as if it slept.
func TestNotParkedAfterAll(t *testing.T) {
	p := testPool(t, 1)
	w := engine.NewWorker(p, 1)
	w.Enter(0, 0)
	satin.Spawn(frame(w), identity, 1)
	w.ShareAll()
	stealAway(w)
	if w.Park(false); w.Parked() {
		t.Error("something had come back, and the worker counts as parked")
	}
	p = testPool(t, 1)
	p.AddWorkers(engine.MaxForLocal)
	w = engine.NewWorker(p, 1)
	until(t, "the pool's own worker sleeps", func() bool { return p.Idle() == 1 })
	defer p.HideSpares()()
	if w.Park(true); w.Parked() {
		t.Error("there are workers enough, and this one counts as parked")
	}
}

// TestPutBackComesFirst: what was put back begins before runs that have not begun, in the order in which it
// came back.
func TestPutBackComesFirst(t *testing.T) {
	p, first, second, result := parked(t)
	parkMu.Lock()
	parkOrder = nil
	parkMu.Unlock()
	ended := make(chan engine.Outcome, 1)
	if _, err := p.Submit(engine.Job{Func: "parktest.noted", Arg: 9},
		func(o engine.Outcome) { ended <- o }); err != nil {
		t.Fatal(err)
	}
	if !first.PutBack(false) || !second.PutBack(true) {
		t.Fatal("a job could not be put back")
	}
	p.SetCores(1)
	<-ended
	if got := <-result; got != 21 {
		t.Error(got)
	}
	parkMu.Lock()
	defer parkMu.Unlock()
	if want := []int{1, 2, 9}; !slices.Equal(parkOrder, want) {
		t.Errorf("the jobs began in the order %v, want %v", parkOrder, want)
	}
}

// TestPutBackHasAWorker: all workers wait for jobs whose thieves are lost, and there are more of them than are added
// for a wait inside the process. The last one does not keep the core that it waits for.
func TestPutBackHasAWorker(t *testing.T) {
	p := testPool(t, 1)
	parkPool.Store(p)
	parkAway = nil
	if got := run(t, p, parkCrowd, engine.MaxForLocal+2); got != engine.MaxForLocal+3 {
		t.Error(got)
	}
}

// TestStay: a job that cannot leave is for nobody outside, does not count as to give, and runs here.
func TestStay(t *testing.T) {
	p, first, second, result := parked(t)
	if !first.Stay(false) || !second.PutBack(false) || first.Stay(false) {
		t.Fatal("a job could not be put back, or was twice")
	}
	if n := p.Queued(); n != 1 {
		t.Errorf("%d jobs are to be given, want 1", n)
	}
	again := p.Take()
	if again == nil || again.Job().Arg != 2 || p.Take() != nil || p.Queued() != 0 {
		t.Fatalf("%+v is taken, and %d are left to give", again, p.Queued())
	}
	again.PutBack(false)
	if p.SetCores(1); <-result != 21 {
		t.Error("the run comes to something else")
	}
	p.SetCores(0)
	defer p.SetCores(1)
	if _, err := p.Submit(engine.Job{Func: "parktest.noted", Arg: 9}, func(engine.Outcome) {}); err != nil {
		t.Fatal(err)
	}
	if n := p.Queued(); n != 1 {
		t.Errorf("with one job that has not begun %d count", n)
	}
}

// TestAbortWaitsForPathReaders: somebody reads the path of a stolen job, which leads through the frames below it. Its
// owner may drop it, but not go on and end those frames before the reader has left.
func TestAbortWaitsForPathReaders(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // then Gosched lets the other go on, however busy the machine is
	p := testPool(t, 1)
	w := engine.NewWorker(p, 1)
	w.Enter(0, 0)
	satin.Spawn(frame(w), identity, 1)
	w.ShareAll()
	r := w.Steal()
	done := p.ReadPaths()
	var aborted atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		w.Abort()
		aborted.Store(true)
	})
	until(t, "the job is dropped", func() bool { return r.State() > engine.Done })
	for range 10_000 {
		runtime.Gosched()
		if aborted.Load() {
			t.Error("the abort went on although somebody read a path")
			break
		}
	}
	done()
	wg.Wait()
}
