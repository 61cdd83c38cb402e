package engine_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

func init() {
	satin.Register("watchtest.loop", watchLoop)
	satin.Register("watchtest.leaf", watchLeaf)
	satin.Register("watchtest.fibs", watchFibs)
	satin.Register("watchtest.wait", watchWait)
}

// watchAt is called by the leaves of watchLoop, and by watchWait.
var watchAt atomic.Pointer[func(f *satin.Frame, path string)]

func watchLeaf(f *satin.Frame, n int) int {
	if at := watchAt.Load(); at != nil {
		(*at)(f, f.ID().Path.String())
	}
	return n
}

// watchLoop spawns and gets three children, one after the other, down to leaves: 3^n of them.
func watchLoop(f *satin.Frame, n int) (sum int) {
	if n == 0 {
		return watchLeaf(f, 1)
	}
	for range 3 {
		sum += satin.Spawn(f, watchLoop, n-1).Get()
	}
	return sum
}

func watchFibs(f *satin.Frame, n int) int {
	return satin.Spawn(f, fib, n).Get() + satin.Spawn(f, fib, n).Get()
}

// watchWait needs a child that is away before it begins two more.
func watchWait(f *satin.Frame, n int) int {
	x := satin.Spawn(f, fib, n)
	(*watchAt.Load())(f, "")
	sum := x.Get()
	return sum + satin.Spawn(f, fib, n).Get() + satin.Spawn(f, watchLoop, 1).Get()
}

// watchTrial runs a restarted job on one worker and delivers 1000 for whatever is found.
func watchTrial(t *testing.T, s *salvager, p *engine.Pool, fn string, arg any) (result any, found []string) {
	t.Helper()
	ended := make(chan any, 1)
	if _, err := p.Submit(engine.Job{ID: satin.JobID{Run: job.NewRunID()}, Func: fn, Arg: arg, Restarted: true},
		func(o engine.Outcome) { ended <- o.Result }); err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case v := <-ended:
			return v, found
		case <-s.more:
			for _, job := range s.takeFound() {
				found = append(found, job.Job().ID.Path.String())
				if ok, err := job.End(engine.Outcome{Result: 1000}); !ok || err != nil {
					t.Error(ok, err)
				}
			}
		}
	}
}

func salvagePool(t *testing.T, workers int, hits ...job.Path) (*salvager, *engine.Pool) {
	s := newSalvager()
	s.known.Store(newTable(hits))
	p, err := engine.NewPool(engine.Config{Workers: workers, Host: s})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return s, p
}

// Jobs are asked about only as far as something is below their parents: the rest runs by the fast paths.
func TestOnlySearchedAreAsked(t *testing.T) {
	s, p := salvagePool(t, 1, job.Path{1, 1, 2}, job.Path{2, 4})
	sum, found := watchTrial(t, s, p, "watchtest.fibs", 20)
	if fmt.Sprint(found) != "[1.1.2 2.4]" && fmt.Sprint(found) != "[2.4 1.1.2]" {
		t.Errorf("found %v", found)
	}
	if sum == 2*6765 {
		t.Error("what was found was not used")
	}
	until(t, "the core is idle", func() bool { return p.Idle() == 1 })
	st := p.Stats()
	if asked := s.asked.Load(); asked > 60 || st.Executed < 10_000 {
		t.Errorf("asked %d times for %d jobs, want about the children of three frames", asked, st.Executed)
	}
}

// When the table changes, all running frames ask about their next children, those begun by fast paths included.
func TestResalvageReachesRunningFrames(t *testing.T) {
	for _, first := range [][]job.Path{nil, {{3, 3, 3, 3}}} { // nothing was searched before, or something else
		s, p := salvagePool(t, 1, first...)
		at := func(f *satin.Frame, path string) {
			if path == "1.1.1.1" {
				s.known.Store(newTable([]job.Path{{1, 1, 1, 2}, {1, 1, 2}, {1, 2, 3}, {1, 3}, {3, 1}}))
				p.Resalvage()
			}
		}
		watchAt.Store(&at)
		defer watchAt.Store(nil)
		sum, found := watchTrial(t, s, p, "watchtest.loop", 4)
		if want := "[1.1.1.2 1.1.2 1.2.3 1.3 3.1]"; fmt.Sprint(found) != want {
			t.Errorf("found %v, want %s", found, want)
		}
		if want := 81 - 1 - 3 - 3 - 9 - 9 + 5000; sum != want {
			t.Errorf("the sum is %v, want %d", sum, want)
		}
	}
}

// When the table forgets, running frames become fast again.
func TestResalvageOfNothing(t *testing.T) {
	s, p := salvagePool(t, 1, job.Path{3, 3, 3, 3, 3, 3, 3, 3})
	at := func(f *satin.Frame, path string) {
		if path == "1.1.1.1.1.1.1.1" {
			s.known.Store(newTable(nil))
			p.Resalvage()
		}
	}
	watchAt.Store(&at)
	defer watchAt.Store(nil)
	if sum, _ := watchTrial(t, s, p, "watchtest.loop", 8); sum != 6561 || s.asked.Load() > 10 {
		t.Errorf("the sum is %v, asked %d times", sum, s.asked.Load())
	}
}

// A worker that is parked when the table changes asks when it goes on.
func TestParkedAreSearched(t *testing.T) {
	s, p := salvagePool(t, 1)
	var first atomic.Pointer[engine.Taken]
	at := func(f *satin.Frame, path string) {
		if path == "" {
			worker(f).ShareAll()
			first.Store(p.GiveOldest(worker(f)))
		}
	}
	watchAt.Store(&at)
	defer watchAt.Store(nil)
	go func() {
		until(t, "the worker parks", func() bool { return first.Load() != nil && p.Idle() == 1 })
		s.known.Store(newTable([]job.Path{{2}, {3, 2}}))
		p.Resalvage()
		if ok, err := first.Load().End(engine.Outcome{Result: 7}); !ok || err != nil {
			t.Error(ok, err)
		}
	}()
	sum, found := watchTrial(t, s, p, "watchtest.wait", 10)
	if fmt.Sprint(found) != "[2 3.2]" || sum != 7+1000+1002 {
		t.Errorf("found %v, the sum is %v", found, sum)
	}
}

// A job that is put back as restarted is asked about, and its descendants are searched; its siblings are not. One
// that was found is not asked about again.
func TestPutBackRestartedIsSearched(t *testing.T) {
	s, p := salvagePool(t, 1, job.Path{1}, job.Path{1, 2}, job.Path{1, 3, 1}, job.Path{2}, job.Path{3, 1})
	var first atomic.Pointer[engine.Taken]
	at := func(f *satin.Frame, path string) {
		if path == "" {
			worker(f).ShareAll()
			first.Store(p.GiveOldest(worker(f)))
		}
	}
	watchAt.Store(&at)
	defer watchAt.Store(nil)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	var found []string
	wg.Go(func() {
		until(t, "the worker parks", func() bool { return first.Load() != nil && p.Idle() == 1 })
		if job := first.Load(); job.Job().Restarted || !job.PutBack(true) || job.PutBack(true) {
			t.Error("not put back, or twice, or it was restarted before")
		}
		for {
			select {
			case <-stop:
				return
			case <-s.more:
				for _, job := range s.takeFound() {
					found = append(found, job.Job().ID.Path.String())
					if job.Job().ID.Path.String() == "1" {
						job.PutBack(false)
					} else if _, err := job.End(engine.Outcome{Result: 1000}); err != nil {
						t.Error(err)
					}
				}
			}
		}
	})
	sum, err := Run(context.Background(), p, watchWait, 6)
	close(stop)
	wg.Wait()
	if fmt.Sprint(found) != "[1 1.2]" || sum != 8-2+1000+8+3 || err != nil {
		t.Errorf("found %v, the sum is %d, %v", found, sum, err)
	}
}

// slowSalvager lets a test hold up Found.
type slowSalvager struct {
	*salvager
	entered, leave chan struct{}
	log            []string
}

func (s *slowSalvager) Found(t *engine.Taken) {
	close(s.entered)
	<-s.leave
	s.mu.Lock()
	s.log = append(s.log, "found")
	s.mu.Unlock()
}

func (s *slowSalvager) Dropped(t *engine.Taken) {
	s.mu.Lock()
	s.log = append(s.log, "dropped")
	s.mu.Unlock()
}

func init() { satin.Register("watchtest.abort", watchAbort) }

// watchAbort lets a child be taken, and aborts it.
func watchAbort(f *satin.Frame, n int) int {
	satin.Spawn(f, fib, n)
	(*watchAt.Load())(f, "")
	f.Abort()
	return 7
}

// A job that is dropped while the Host is being told of it is dropped for the Host afterwards.
func TestDroppedAfterFound(t *testing.T) {
	s := &slowSalvager{newSalvager(), make(chan struct{}), make(chan struct{}), nil}
	s.known.Store(newTable([]job.Path{{1}}))
	p, err := engine.NewPool(engine.Config{Workers: 1, Host: s})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	taker := make(chan *engine.Taken)
	at := func(f *satin.Frame, path string) {
		worker(f).ShareAll()
		go func() { taker <- p.Take() }()
		<-s.entered
	}
	watchAt.Store(&at)
	defer watchAt.Store(nil)
	ended := make(chan any, 1)
	if _, err := p.Submit(engine.Job{ID: satin.JobID{}, Func: "watchtest.abort", Arg: 5, Restarted: true},
		func(o engine.Outcome) { ended <- o.Result }); err != nil {
		t.Fatal(err)
	}
	if v := <-ended; v != 7 {
		t.Error(v)
	}
	close(s.leave)
	if job := <-taker; job != nil {
		t.Errorf("Take gave %s, which was found", job.Job().ID)
	}
	if fmt.Sprint(s.log) != "[found dropped]" {
		t.Errorf("the Host was told %v", s.log)
	}
}
