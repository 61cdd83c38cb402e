package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

// A visitLog notes which jobs of one run call program, while it is on.
type visitLog struct {
	on   atomic.Bool
	mu   sync.Mutex
	run  job.RunID
	args map[string]map[programArg]int // by path
	then func(path job.Path)           // called at each visit
}

// visits is what program tells of itself.
var visits visitLog

func (l *visitLog) note(f *satin.Frame, a programArg) {
	if !l.on.Load() {
		return
	}
	id := f.ID()
	l.mu.Lock()
	if id.Run != l.run || l.args == nil { // an aborted job may still be on its way when the log has ended
		l.mu.Unlock()
		return
	}
	if l.args[id.Path.String()] == nil {
		l.args[id.Path.String()] = map[programArg]int{}
	}
	l.args[id.Path.String()][a]++
	then := l.then
	l.mu.Unlock()
	if then != nil {
		then(id.Path)
	}
}

// begin starts a log of the given run; end gives it.
func (l *visitLog) begin(run job.RunID, then func(job.Path)) {
	l.mu.Lock()
	l.run, l.args, l.then = run, map[string]map[programArg]int{}, then
	l.mu.Unlock()
	l.on.Store(true)
}

func (l *visitLog) end() map[string]map[programArg]int {
	l.on.Store(false)
	l.mu.Lock()
	defer l.mu.Unlock()
	args := l.args
	l.args, l.then = nil, nil
	return args
}

// A table is what a salvager knows: paths that are hits, and all paths above them.
type table struct{ hits, above map[string]bool }

func newTable(paths []job.Path) *table {
	t := &table{map[string]bool{}, map[string]bool{}}
	for _, p := range paths {
		t.hits[p.String()] = true
		for n := range p {
			t.above[p[:n].String()] = true
		}
	}
	return t
}

// A salvager is a Host whose other half is a goroutine that does something with what was found.
type salvager struct {
	engine.Alone
	known atomic.Pointer[table]
	asked atomic.Uint64
	mu    sync.Mutex
	found []*engine.Taken
	more  chan struct{} // has an element when found is not empty
	lost  map[*engine.Taken]bool
	runs  map[job.RunID]bool // all that were submitted; of one that has ended, something may yet be kept
	kept  []keptJob
	full  int // each so manieth is refused; 0: none
}

type keptJob struct {
	engine.Job
	engine.Outcome
}

func newSalvager() *salvager {
	s := &salvager{more: make(chan struct{}, 1), lost: map[*engine.Taken]bool{}, runs: map[job.RunID]bool{}}
	s.known.Store(newTable(nil))
	return s
}

func (s *salvager) Dropped(t *engine.Taken) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost[t] = true
}

func (s *salvager) Salvage(path job.Path) (hit, below bool) {
	s.asked.Add(1)
	k := s.known.Load()
	return k.hits[path.String()], k.above[path.String()]
}

func (s *salvager) Found(t *engine.Taken) {
	s.mu.Lock()
	if s.lost[t] {
		panic("dropped before it was found")
	}
	s.found = append(s.found, t)
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

func (s *salvager) Kept(j engine.Job, o engine.Outcome) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, keptJob{j, o})
	return s.full == 0 || len(s.kept)%s.full > 0
}

func (s *salvager) takeFound() []*engine.Taken {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.found
	s.found = nil
	return f
}

// compute gives a job the outcome that the sequential program has.
func compute(t testing.TB, job *engine.Taken) bool {
	v, err := (*engine.Pool)(nil).Run(context.Background(), job.Job().Func, job.Job().Arg)
	ok, err := job.End(outcomeOf(v, err))
	if err != nil {
		t.Error(err)
	}
	return ok
}

// outcomeOf makes an outcome of what Run says.
func outcomeOf(v any, err error) engine.Outcome {
	if v == nil {
		return engine.Outcome{Failure: err}
	}
	return engine.Outcome{Result: v, Err: err}
}

// A restartTrial is one run of a program whose outcomes are known in part.
type restartTrial struct {
	t         testing.TB
	p         *engine.Pool
	s         *salvager
	rng       *rand.Rand      // of the goroutine outside
	foundOnce map[string]bool // by run and path: aborted jobs of an earlier trial may be found in this one
	delivered map[string]bool // the same
}

// outside does with what is found what a peer might: deliver, fail to, put back; and now and then steals.
func (r *restartTrial) outside(stop chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-r.s.more:
		default:
			if job := r.p.Take(); job != nil {
				r.steal(job)
			} else {
				time.Sleep(pollEvery)
			}
		}
		for _, job := range r.s.takeFound() {
			id := job.Job().ID.String()
			if r.foundOnce[id] {
				r.t.Errorf("job %s was found twice", id)
			}
			r.foundOnce[id] = true
			if !job.Job().Restarted {
				r.t.Errorf("job %s was found but is not restarted", id)
			}
			switch r.rng.IntN(4) {
			case 0:
				job.PutBack(false)
			case 1:
				job.PutBack(true)
			default:
				if compute(r.t, job) {
					r.delivered[id] = true
				}
			}
		}
	}
}

func (r *restartTrial) steal(job *engine.Taken) {
	if !job.Job().Restarted {
		r.t.Errorf("job %s was taken from a restarted run, but is not restarted", job.Job().ID)
	}
	switch r.rng.IntN(3) {
	case 0:
		job.PutBack(false)
	case 1:
		job.PutBack(true)
	default:
		compute(r.t, job)
	}
}

// visitAll runs the sequential program and gives the paths of its jobs, without the root's.
func visitAll(t *testing.T, a programArg) (want int, paths []job.Path) {
	id := job.NewRunID()
	seen := map[string]bool{"root": true}
	visits.begin(id, func(p job.Path) {
		if !seen[p.String()] {
			seen[p.String()] = true
			paths = append(paths, p)
		}
	})
	defer visits.end()
	v, err := engine.RunSequential(id, "test.program", a)
	if err != nil {
		t.Fatal(err)
	}
	return v.(int), paths
}

// TestRestartedPrograms runs random programs some of whose outcomes are known, with workers that come and go
// and a thief outside, and compares with the sequential program.
func TestRestartedPrograms(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			s := newSalvager()
			p, err := engine.NewPool(engine.Config{Workers: workers, Host: s, KeepAfter: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			found, kept := 0, 0
			trials(t, func(rng *rand.Rand) {
				n, k := restartProgram(t, rng, p, s)
				found, kept = found+n, kept+k
			})
			t.Logf("%d found, %d kept, asked %d times", found, kept, s.asked.Load())
			if found == 0 || kept == 0 {
				t.Errorf("%d found, %d kept: nothing was tried", found, kept)
			}
		})
	}
}

func restartProgram(t *testing.T, rng *rand.Rand, p *engine.Pool, s *salvager) (found, kept int) {
	a := anyProgram(rng, 1)
	want, paths := visitAll(t, a)
	part := []int{1, 2, 5, 20}[rng.IntN(4)] // one in so many is known
	var known []job.Path
	for _, path := range paths {
		if rng.IntN(part) == 0 {
			known = append(known, path)
		}
	}
	whole, half := newTable(known), newTable(known[:len(known)/2])
	steady := rng.IntN(2) == 0 // the table never changes
	if s.known.Store(half); steady {
		s.known.Store(whole)
	}
	s.mu.Lock()
	s.found, s.lost, s.kept = nil, map[*engine.Taken]bool{}, nil
	s.mu.Unlock()
	trial := &restartTrial{t: t, p: p, s: s, rng: rng, foundOnce: map[string]bool{}, delivered: map[string]bool{}}

	stop, pause := make(chan struct{}), make(chan int, 1)
	var wg sync.WaitGroup
	wg.Go(func() { trial.outside(stop) })
	wg.Go(func() { // cores come and go
		for {
			select {
			case <-stop:
				p.SetCores(p.Workers())
				return
			case n := <-pause:
				p.SetCores(n)
				p.SetCores(p.Workers())
			}
		}
	})
	run, visited := job.NewRunID(), atomic.Uint64{}
	visits.begin(run, func(job.Path) {
		switch n := visited.Add(1); n % 8 {
		case 1:
			if s.known.Store(whole); !steady {
				p.Resalvage()
			}
		case 3:
			p.Pulse()
		case 5:
			select {
			case pause <- int(n / 8 % 3):
			default:
			}
		case 7:
			if !steady {
				s.known.Store(half)
				p.Resalvage()
			}
		}
	})
	ended := make(chan engine.Outcome, 1)
	s.mu.Lock()
	s.runs[run] = true
	s.mu.Unlock()
	root := engine.Job{ID: satin.JobID{Run: run}, Func: "test.program", Arg: a, Restarted: true}
	if _, err := p.Submit(root, func(o engine.Outcome) { ended <- o }); err != nil {
		t.Fatal(err)
	}
	got := <-ended
	close(stop)
	wg.Wait()
	executed := visits.end()
	if got != (engine.Outcome{Result: want}) {
		t.Fatalf("got %v; the sequential program gives %d", got, want)
	}
	for path, args := range executed {
		id := run.String() + "/" + path
		if trial.delivered[id] {
			t.Fatalf("job %s ran although its outcome was delivered", id)
		}
		if steady && whole.hits[path] && !trial.foundOnce[id] {
			t.Fatalf("job %s ran, although it was known all the time", id)
		}
		for arg, times := range args {
			if times > 1 {
				t.Fatalf("job %s ran %d times with %v", id, times, arg)
			}
		}
	}
	return len(trial.foundOnce), s.checkKept(t)
}

// checkKept compares what was kept with the sequential program.
func (s *salvager) checkKept(t *testing.T) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[string]bool{}
	for _, k := range s.kept {
		if !s.runs[k.ID.Run] {
			t.Fatalf("%s was kept in a run that nobody began", k.ID)
		}
		if seen[k.ID.String()] {
			t.Fatalf("%s was kept twice", k.ID)
		}
		seen[k.ID.String()] = true
		v, err := (*engine.Pool)(nil).Run(context.Background(), k.Func, k.Arg)
		if je := (*satin.JobError)(nil); errors.As(err, &je) && je.Panic != nil {
			t.Fatalf("%s was kept, which panics", k.ID)
		}
		if v != k.Result || (err == nil) != (k.Err == nil) {
			t.Fatalf("%s was kept with %v, %v; the sequential program gives %v, %v", k.ID, k.Result, k.Err, v, err)
		}
	}
	return len(s.kept)
}
