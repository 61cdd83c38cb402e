package engine

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Cores and workers
//
// A pool may use a number of cores that SetCores changes (cores.go). A worker runs only while it holds one;
// there are more workers than cores, because a worker whose newest child is far away parks and hands its core
// on: waiting never buries a frame. A worker is in one of these states; all changes but
// running happen under scheduler.mu.
//
//	running    holds a core: runs jobs, or looks for one
//	spare      no job, no core: in spares
//	parked     waits for a child that is away, no core: parked is set
//	ready      was parked, something came back, waits for a core: in ready; or has a job to begin before
//	           all others: in first
//	preempted  gave its core away in the middle of a job, to a ready worker or to SetCores: in preempted
//
// A core that falls free goes to ready workers first (a frame whose child returned is resumed first), then to
// preempted ones, then to a spare that looks for work; else it is free. A running worker also yields to a
// ready one at its next look at the attention word.
//
// No wake-up is lost, each time by the same argument (Dekker's: each side writes, then reads what the other writes):
//   - park sets parked and then looks at the finished list and the roots' states. Whoever brings something back
//     pushes it (or drops the root) and then looks at parked. One of them sees the other.
//   - rest counts its core as free and then looks for stealable jobs and at the inbox. Whoever publishes or
//     injects does that first and then looks at free cores.
//   - SetCores lowers free below 0 and then raises the attention word of busy workers; wake does so after it
//     made a worker ready. A worker that becomes busy looks at free and waiting when it starts a root
//     (called), one that has no job before it looks for one.
//   - before it rests, a worker has said its wish to all busy workers (nudge); a worker that becomes busy
//     later looks at hungry when it starts a root.
const (
	helpPatience   = 30_000 // ns without a theft until a waiting worker parks
	searchPatience = 50_000 // ns without a job until a worker rests, as long as others work
	// workers of a pool, parked ones included; beyond, the core of a worker that parks stays idle
	maxWorkers  = 4_096
	maxForLocal = 64 // workers beyond which none is added because of a wait for a thief in this process
)

// A scheduler says which worker holds a core, and has the jobs that are on no stack.
type scheduler struct {
	workers   atomic.Pointer[[]*Worker] // only ever grows
	start     time.Time                 // of its clock
	mu        sync.Mutex
	free      atomic.Int32 // cores that nobody uses; negative: so many must be given up (cores.go); changed by addFree
	allowed   int          // cores that may be used
	times     coreTimes
	waiting   atomic.Int32 // workers in ready
	resumable atomic.Int32 // workers in ready or preempted
	ready     []*Worker    // in order of their return
	preempted []*Worker    // the newest is resumed first
	spares    []*Worker
	inbox     []*Record // jobs that are on no stack: what was put back, then roots; each the oldest first
	inboxLen  atomic.Int32
	staying   atomic.Int32 // of them, those that cannot leave
	quit      chan struct{}
	closed    atomic.Bool
}

// poolEpoch is what now says at the pool's start: 0 means never.
const poolEpoch = time.Second

// now is the time in ns since about the pool's start; never 0.
func (s *scheduler) now() int64 { return int64(time.Since(s.start)) }

// workAppeared gives a free core, if there is one, to a spare worker.
func (s *scheduler) workAppeared() {
	if s.free.Load() <= 0 {
		return
	}
	s.mu.Lock()
	if s.free.Load() > 0 && len(s.spares) > 0 {
		s.feed(s.popSpare())
	}
	s.mu.Unlock()
}

func (s *scheduler) popSpare() *Worker {
	n := len(s.spares) - 1
	w := s.spares[n]
	s.spares = s.spares[:n]
	return w
}

// next removes the worker that should have a core first; nil if none could go on with a job. mu is held.
func (s *scheduler) next() *Worker {
	if len(s.ready) > 0 {
		w := s.ready[0]
		s.ready = append(s.ready[:0], s.ready[1:]...)
		s.waiting.Add(-1)
		s.resumable.Add(-1)
		return w
	}
	if n := len(s.preempted) - 1; n >= 0 {
		w := s.preempted[n]
		s.preempted = s.preempted[:n]
		s.resumable.Add(-1)
		return w
	}
	return nil
}

// handOver gives up w's core, if the pool has too many, or gives it to a worker that can go on, and waits for another
// core; false when the pool was closed.
func (s *scheduler) handOver(w *Worker) bool {
	w.stats.tell(w, 0)
	s.mu.Lock()
	if !s.giveUp() {
		v := s.next()
		if v == nil {
			s.mu.Unlock()
			w.stats.asleep.Store(false)
			return true
		}
		s.grant(v)
	}
	s.spares = append(s.spares, w)
	s.mu.Unlock()
	return s.awaitCore(w)
}

// rest gives up w's core until there may be work; false when the pool was closed.
func (p *Pool) rest(w *Worker) bool {
	w.Stack.Counts.rests++
	w.stats.tell(w, 0) // before anybody can see the core idle: what an idle pool tells is exact
	p.sched.mu.Lock()
	if p.sched.closed.Load() {
		p.sched.mu.Unlock()
		p.sched.release()
		return false
	}
	if p.sched.giveUp() {
		p.sched.spares = append(p.sched.spares, w)
		p.sched.mu.Unlock()
		return p.sched.awaitCore(w)
	}
	p.sched.addFree(1)
	work := len(p.sched.inbox) > 0 || len(p.sched.ready) > 0 || len(p.sched.preempted) > 0
	for _, v := range *p.sched.workers.Load() {
		v.nudge()
		work = work || v.Stack.stealable()
	}
	if work {
		p.sched.addFree(-1)
		p.sched.mu.Unlock()
		w.stats.asleep.Store(false)
		return true
	}
	p.sched.spares = append(p.sched.spares, w)
	p.sched.mu.Unlock()
	p.host.Hungry()
	return p.sched.awaitCore(w)
}

// awaitCore blocks a spare worker until it is given a core; false when the pool was closed, and the core, if
// it got one in the same moment, is passed on.
func (s *scheduler) awaitCore(w *Worker) bool {
	w.Stack.empty() // it may wait for long
	select {
	case fed := <-w.core:
		s.gotCore(w, fed)
		return true
	case <-s.quit:
	}
	s.mu.Lock()
	i := slices.Index(s.spares, w)
	if i >= 0 {
		s.spares = slices.Delete(s.spares, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 {
		<-w.core
		s.release()
	}
	return false
}

// release gives up the core of a worker that ends.
func (s *scheduler) release() {
	s.mu.Lock()
	if !s.giveUp() {
		if v := s.next(); v != nil {
			s.grant(v)
		} else {
			s.addFree(1)
		}
	}
	s.mu.Unlock()
}

// inject puts a job that is on no stack where any worker finds it. What came back to a run that has begun goes before
// roots that have not: somebody waits for it.
func (s *scheduler) inject(r *Record) {
	s.mu.Lock()
	i := len(s.inbox)
	if r.W != nil {
		if j := slices.IndexFunc(s.inbox, func(o *Record) bool { return o.W == nil }); j >= 0 {
			i = j
		}
	}
	if r.stays() {
		s.staying.Add(1)
	}
	s.inbox = slices.Insert(s.inbox, i, r)
	s.inboxLen.Add(1)
	s.mu.Unlock()
	s.workAppeared()
}

// putBack says whether a job of a run that has begun is in the inbox. mu is held.
func (s *scheduler) putBack() bool { return len(s.inbox) > 0 && s.inbox[0].W != nil }

// withdraw takes r out of the inbox; false if it is not there.
func (s *scheduler) withdraw(r *Record) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.inbox, r)
	if i >= 0 {
		s.removeFromInbox(i)
	}
	return i >= 0
}

// removeFromInbox is called with mu held.
func (s *scheduler) removeFromInbox(i int) {
	if s.inbox[i].stays() {
		s.staying.Add(-1)
	}
	s.inbox = slices.Delete(s.inbox, i, i+1)
	s.inboxLen.Add(-1)
}

// stays says whether a job in the inbox, which is no root, may not leave the process.
func (r *Record) stays() bool { return r.W != nil && r.out != nil && r.out.alone }

// takeInbox gives the oldest job of the inbox, for a thief outside the oldest that may leave, and is not the root of a
// run or a guest.
func (s *scheduler) takeInbox(outside bool) *Record {
	if s.inboxLen.Load() == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range s.inbox {
		if !outside || r.W != nil && !r.stays() {
			s.removeFromInbox(i)
			return r
		}
	}
	return nil
}
