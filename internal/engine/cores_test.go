package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

// TestSetCoresPrograms runs random programs while the number of cores changes all the time and a thief
// outside takes jobs: the result is the sequential program's, and no run hangs.
func TestSetCoresPrograms(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			p := testPool(t, workers)
			stop := make(chan struct{})
			var others sync.WaitGroup
			others.Go(func() { thiefOutside(t, p, stop) })
			others.Go(func() {
				rng := rand.New(rand.NewPCG(1, 2))
				for {
					select {
					case <-stop:
						return
					default:
						p.SetCores(rng.IntN(workers+3) - 1)
						for range rng.IntN(300) {
							runtime.Gosched()
						}
					}
				}
			})
			trials(t, func(rng *rand.Rand) {
				a := anyProgram(rng, 0)
				want, _ := Run(context.Background(), nil, program, a)
				if got, err := Run(context.Background(), p, program, a); got != want || err != nil {
					t.Fatalf("got %d, %v; the sequential program gives %d", got, err, want)
				}
			})
			close(stop)
			others.Wait()
			p.SetCores(workers)
			until(t, "all cores are idle again", func() bool { return p.Idle() == workers })
		})
	}
}

// spread keeps all cores busy until gate 1 opens.
func spread(f *satin.Frame, n int) int {
	g := satin.Fork(f, spinUntil)
	for range n {
		g.Spawn(1)
	}
	s := 0
	for r := range g.Results() {
		s += r
	}
	return s
}

func init() { satin.Register("test.spread", spread) }

// A pool works on as many cores as it is told, at once, down to none; paused, it still gives jobs away and takes
// results.
func TestPause(t *testing.T) {
	p := testPool(t, 3)
	for range 10 {
		resetGates()
		res := make(chan int)
		go func() { res <- run(t, p, spread, 8) }()
		// the job itself too, then: no thief is given one that has not
		until(t, "a child of the job has begun", gates[1].reached.Load)
		until(t, "all cores work", func() bool { return p.Held() == 3 && p.Queued() > 0 })
		for _, cores := range []int{1, 3, 0, 2, 0} {
			p.SetCores(cores)
			until(t, fmt.Sprint(cores, " cores work"), func() bool { return p.Held() == cores })
			if p.Cores() != cores || p.Idle() != 0 {
				t.Errorf("Cores %d, Idle %d when all %d cores should work", p.Cores(), p.Idle(), cores)
			}
		}
		if p.Queued() == 0 {
			t.Error("what stopped workers hold is not counted")
		}
		job := p.Take()
		if job == nil {
			t.Fatal("a thief outside gets nothing from a paused pool")
		}
		want := 8
		if job.Job().Func == "test.spinUntil" { // else a child of one, whose result does not count
			want = 17
		}
		if ok, err := job.End(engine.Outcome{Result: 10}); !ok || err != nil {
			t.Error("a paused pool does not take a result", err)
		}
		p.SetCores(-1)
		gates[1].open.Store(true)
		p.SetCores(99)
		if r := <-res; r != want {
			t.Error(r, "instead of", want)
		}
		if p.Cores() != 3 {
			t.Error("a number above Workers does not count as Workers:", p.Cores())
		}
	}
}

// TestPausedBorder: what is given to a paused pool waits, what is cancelled ends, and Close ends the rest.
func TestPausedBorder(t *testing.T) {
	p := testPool(t, 2)
	p.SetCores(0)
	got := make(chan any, 2)
	ended := func(o engine.Outcome) { got <- o.Result }
	if _, err := p.Submit(engine.Job{Func: "test.fib", Arg: 10}, ended); err != nil {
		t.Fatal(err)
	}
	guest, err := p.Submit(engine.Job{Func: "test.fib", Arg: 11}, ended)
	if err != nil {
		t.Fatal(err)
	}
	if p.Queued() != 2 {
		t.Errorf("%d of 2 jobs are queued", p.Queued())
	}
	if guest.Cancel(); p.Queued() != 1 {
		t.Errorf("%d jobs are queued when one of 2 was cancelled", p.Queued())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancelled := make(chan error)
	go func() {
		_, err := Run(ctx, p, fib, 5)
		cancelled <- err
	}()
	until(t, "the run is queued", func() bool { return p.Queued() == 2 })
	cancel()
	if err := <-cancelled; err != context.Canceled {
		t.Error(err)
	}
	if len(got) != 0 {
		t.Error("a paused pool runs jobs")
	}
	if n := p.Inbox(); n != 1 {
		t.Errorf("%d jobs wait, not the only one that was not cancelled", n)
	}
	p.SetCores(1)
	if v := <-got; v != 55 {
		t.Error(v)
	}
	until(t, "the only core is idle", func() bool { return p.Idle() == 1 })
	if p.Queued() != 0 || len(got) != 0 {
		t.Error("a cancelled guest is there still")
	}
	if s := p.Stats(); s.Launched != 3 || s.Spawned+s.Launched != s.Executed+s.Aborted {
		t.Errorf("jobs do not add up: %+v", s)
	}

	resetGates()
	closed := make(chan error)
	go func() {
		_, err := Run(context.Background(), p, spread, 3)
		closed <- err
	}()
	until(t, "the run begins", gates[1].reached.Load)
	p.SetCores(0)
	until(t, "the run stops", func() bool { return p.Held() == 0 })
	job := p.Take()
	if job == nil {
		t.Fatal("nothing to take")
	}
	p.Close()
	if err := <-closed; err != engine.ErrClosed {
		t.Error(err)
	}
	if ok, err := job.End(engine.Outcome{Result: 1}); ok || err != nil {
		t.Error("a closed pool took a result", err)
	}
	if _, err := p.Submit(engine.Job{Func: "test.fib", Arg: 10}, ended); !errors.Is(err, engine.ErrClosed) {
		t.Error(err)
	}
	p.SetCores(1)
}

// An idleWatch asks for Idle whenever it is told of a change, as the driver of a peer does.
type idleWatch struct {
	engine.Alone
	news chan struct{}
}

func (w *idleWatch) tell() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}
func (w *idleWatch) Hungry() { w.tell() }
func (w *idleWatch) Fed()    { w.tell() }

// Every change in how many cores have no work is told, also of one whose job waits for a child outside.
func TestIdleIsTold(t *testing.T) {
	watch := &idleWatch{news: make(chan struct{}, 1)}
	p, err := engine.NewPool(engine.Config{Workers: 3, Host: watch})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	await := func(idle int) { // no time limit but the test's: a change that is not told never comes
		for p.Idle() != idle {
			<-watch.news
		}
	}
	for range 20 {
		await(3)
		resetGates()
		res := make(chan int)
		go func() { res <- run(t, p, spread, 3) }()
		await(0)
		gates[1].open.Store(true)
		<-res
	}
	// One job at work, whose child is outside: its core is idle.
	p.SetCores(1)
	await(1)
	res := make(chan int)
	go func() { res <- run(t, p, waitChild, 0) }()
	job := takeSoon(p)
	await(1)
	job.End(engine.Outcome{Result: 6765})
	if r := <-res; r != 6765 {
		t.Error(r)
	}
	await(1)
}

// TestProcessorsForAllPools: GOMAXPROCS leaves one processor to the network however many pools compute, and whatever
// runs beside them.
func TestProcessorsForAllPools(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	step := func(what string, want int) {
		t.Helper()
		if has := runtime.GOMAXPROCS(0); has != want {
			t.Errorf("%s: GOMAXPROCS is %d, not %d", what, has, want)
		}
	}
	if n := engine.Pools(); n != 0 {
		t.Fatalf("%d pools are listed before the first", n)
	}
	p := testPool(t, 6)
	until(t, "all cores are idle", func() bool { return p.Idle() == 6 }) // those in use count until they stop
	runtime.GOMAXPROCS(2)
	p.SetCores(1)
	step("a reduction does nothing", 2)
	q := testPool(t, 3)
	step("1 and 3 cores", 5)
	p.SetCores(4)
	step("4 and 3 cores", 8)
	p.SetCores(2)
	step("a reduction lowers nothing", 8)
	p.Close()
	runtime.GOMAXPROCS(2)
	q.SetCores(1)
	q.SetCores(3)
	step("3 cores, another pool closed", 4)
	q.Beside(func() { step("3 cores, and something beside", 5) })
	runtime.GOMAXPROCS(2)
	q.SetCores(1)
	q.SetCores(3)
	step("3 cores again", 4)
}

// TestBallastOnce: pools share the memory that keeps the garbage collector quiet, and closing them does not free it.
func TestBallastOnce(t *testing.T) {
	testPool(t, 1).Close()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	testPool(t, 1).Close()
	testPool(t, 1).Close()
	runtime.ReadMemStats(&after)
	if more := after.TotalAlloc - before.TotalAlloc; more > engine.GCBallast/8 {
		t.Errorf("two more pools took %d bytes", more)
	}
	if before.HeapAlloc < engine.GCBallast {
		t.Errorf("the heap is %d bytes after a pool was closed: the ballast is gone", before.HeapAlloc)
	}
}

// TestLastSetCoresCounts: however SetCores races with workers that fall asleep, stop and wake, nobody is
// forgotten: after the last call, which leaves a core, everything ends without another.
func TestLastSetCoresCounts(t *testing.T) {
	p := testPool(t, 3)
	rng := rand.New(rand.NewPCG(3, 4))
	rounds := 1000
	if testing.Short() {
		rounds = 250
	}
	for round := range rounds {
		var runs sync.WaitGroup
		for n := range 1 + round%3 {
			runs.Go(func() {
				if r := run(t, p, fib2, 5+n*5); r != []int{5, 55, 610}[n] {
					t.Error(r)
				}
			})
		}
		for range 1 + rng.IntN(6) {
			p.SetCores(rng.IntN(4))
			for range rng.IntN(20) {
				runtime.Gosched()
			}
		}
		cores := 1 + rng.IntN(3)
		p.SetCores(cores)
		runs.Wait()
		if round%10 == 0 {
			until(t, "all cores are idle", func() bool { return p.Idle() == cores && p.Held() == 0 })
		}
	}
}
