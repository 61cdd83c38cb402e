//go:build unix

package chaos

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
	"github.com/satin-peer/satin/peer/control"
)

const (
	lookEvery = 25 * time.Millisecond
	lookTime  = 2 * time.Second // a process that is stopped does not answer
)

// A watch looks at all processes of a swarm again and again, as a user could with satin-peer status and runs.
type watch struct {
	jobs uint64 // that the run has without faults

	mu   sync.Mutex
	run  string // the run that is looked at
	seen map[int]sight
	did  map[int]uint64 // jobs that a process had executed when it last answered, by its pid
	wait sync.WaitGroup
	ctx  context.Context
	stop context.CancelFunc
}

// A sight is what a process said last. The zero value is of one that has not answered since it was started.
type sight struct {
	pid    int
	status control.Status
	run    *control.RunInfo // nil if it does not know the run
}

func newWatch(ctx context.Context, run string, jobs uint64, list []*swarm.Process) *watch {
	w := &watch{run: run, jobs: jobs, seen: map[int]sight{}, did: map[int]uint64{}}
	w.ctx, w.stop = context.WithCancel(ctx)
	for _, p := range list {
		w.add(p)
	}
	return w
}

func (w *watch) add(p *swarm.Process) {
	w.wait.Go(func() {
		for w.ctx.Err() == nil {
			s, ok := w.look(w.ctx, p)
			w.mu.Lock()
			if ok {
				w.seen[p.Number] = s
				if s.run != nil {
					w.did[s.pid] = s.run.Executed
				}
			} else if !p.Alive() {
				delete(w.seen, p.Number)
			}
			w.mu.Unlock()
			select {
			case <-w.ctx.Done():
			case <-time.After(lookEvery):
			}
		}
	})
}

func (w *watch) look(ctx context.Context, p *swarm.Process) (s sight, ok bool) {
	client := p.Client()
	if client == nil {
		return s, false
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	status, err := client.Status(ctx)
	if err != nil {
		return s, false
	}
	runs, err := client.Runs(ctx)
	if err != nil {
		return s, false
	}
	s = sight{pid: status.PID, status: status}
	run := w.name()
	if i := slices.IndexFunc(runs, func(r control.RunInfo) bool { return r.Run == run }); i >= 0 {
		s.run = &runs[i]
	}
	return s, true
}

func (w *watch) name() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.run
}

// follow looks at another run from now on.
func (w *watch) follow(run string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.run = run
	clear(w.seen)
}

// forget forgets what a process said, which has ended.
func (w *watch) forget(number int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.seen, number)
}

// end stops looking.
func (w *watch) end() {
	w.stop()
	w.wait.Wait()
}

// at is what a process said last; false if it has said nothing.
func (w *watch) at(number int) (sight, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.seen[number]
	return s, ok
}

// done is how many jobs all have executed, those that are gone included, as a share of the jobs that there
// are. It passes 1 when jobs are executed again.
func (w *watch) done() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	sum := uint64(0)
	for _, n := range w.did {
		sum += n
	}
	return float64(sum) / float64(max(w.jobs, 1))
}

// ended says whether some process says that the run has an end.
func (w *watch) ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.seen {
		if s.run != nil && s.run.State.Ended() && s.run.State != control.RunRefused &&
			s.run.State != control.RunSuspended {
			return true
		}
	}
	return false
}

// holding says whether a process runs a job that it has stolen.
func (w *watch) holding(number int) bool {
	s, ok := w.at(number)
	return ok && s.status.Work.Taken > 0 && s.status.Busy > 0
}

// masters are the processes that say of themselves that they hold the root job.
func (w *watch) masters() (list []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n, s := range w.seen {
		if s.run != nil && !s.run.State.Ended() && s.run.Master == s.status.Peer {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}
