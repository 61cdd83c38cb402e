package engine

import (
	"runtime"
	"sync"
)

// How many cores
//
// SetCores changes how many cores a pool may use while it runs. One number, free, says all: the cores that
// may be used less those that workers hold. Positive, it counts idle cores; negative, cores that must be
// given up, and then the first workers that come by give them up (giveUp) instead of handing them on: at the
// attention word in the middle of a job (the worker is then preempted), when they wait for a child (parked),
// or when they look for a job (spare). A worker in a long leaf comes by when the leaf is over.
//
// No core is lost, and no worker sleeps that should run. Under mu, with free = allowed - held:
//   - Whoever gives a core up when free < 0 raises free by one, to 0 at most. So nothing is idle and nothing is owed
//     to those that sleep; they stay in the lists they were put in under the same lock.
//   - SetCores raises free by the difference and, while free > 0, feeds in turn the ready, the preempted and
//     the spare workers, and new ones when all are parked. Whoever gave up its core before is in one of these
//     lists, whoever does so afterwards sees the new free. So after SetCores free > 0 only if nobody is left
//     to feed. It feeds spares without asking for work: they look for it themselves, and rest (sched.go) if
//     there is none. So the jobs and roots that appeared while free <= 0, when nobody was told of them, are
//     found.
//   - Between calls of SetCores the argument of sched.go holds: free > 0 only while ready and preempted are
//     empty, because release, park and handOver serve them first, wake and rest look at both, and yield adds
//     to preempted only when that leaves free <= 0.
//
// A busy worker misses no reduction: see called.

// SetCores says how many cores the pool may use from now on, 0 to Workers; a number out of range counts as
// the nearest one in it. It does not wait: workers in excess stop at their job's next Spawn, Get or Sync, a
// long leaf ends first. Stopped jobs go on when there are cores again; whether one has stopped shows in
// Stats.Busy.
//
// 0 pauses the pool. Nothing runs then, but Run, Submit, Take, End, PutBack and Close do what they do:
// roots wait in the inbox, thieves outside get jobs, results are kept for their owners, and Close aborts all.
// A Run whose context ends returns at once.
//
// On a closed pool it does nothing.
func (p *Pool) SetCores(n int) {
	processors.mu.Lock()
	defer processors.mu.Unlock()
	p.sched.mu.Lock()
	if p.sched.closed.Load() {
		p.sched.mu.Unlock()
		return
	}
	more := p.allow(min(max(n, 0), p.cfg.Workers))
	p.sched.mu.Unlock()
	if more {
		processors.raise()
	}
}

// Cores gives the number of cores that the pool may use now.
func (p *Pool) Cores() int {
	p.sched.mu.Lock()
	defer p.sched.mu.Unlock()
	return p.sched.allowed
}

// Idle gives the number of cores that may run and have no work at this moment, those whose jobs all wait for
// results from outside included. A core that has looked for less than 50 us at others that work does not count yet.
func (p *Pool) Idle() int {
	p.sched.mu.Lock()
	defer p.sched.mu.Unlock()
	return int(max(p.sched.free.Load(), 0))
}

// Queued counts the jobs that a core or a thief outside would find now, and runs that have not begun: a hint,
// soon out of date. Busy workers may have private jobs besides, which Take asks them for.
func (p *Pool) Queued() int {
	n := max(0, int(p.sched.inboxLen.Load()-p.sched.staying.Load()))
	for _, w := range *p.sched.workers.Load() {
		v := w.Stack.ts.Load()
		if tail, split := uint32(v>>32), uint32(v); tail < split && !w.alone.Load() {
			n += int(split - tail)
		}
	}
	return n
}

// allow lets the pool use n cores, and says whether these are more than before. mu is held.
func (p *Pool) allow(n int) bool {
	more := n - p.sched.allowed
	p.sched.addFree(int32(more)) // with the time of those that were allowed
	p.sched.allowed = n
	if p.sched.free.Load() < 0 {
		p.sched.callAll()
	}
	for p.sched.free.Load() > 0 {
		w := p.sched.next()
		switch {
		case w != nil:
		case len(p.sched.spares) > 0:
			w = p.sched.popSpare()
		case len(*p.sched.workers.Load()) < maxWorkers && !p.sched.closed.Load():
			w = p.addWorker()
		default:
			return more > 0
		}
		p.sched.feed(w)
	}
	return more > 0
}

// callAll raises the attention word of all busy workers.
func (s *scheduler) callAll() {
	for _, v := range *s.workers.Load() {
		if v.busy.Load() {
			v.Stack.raise()
		}
	}
}

// addFree counts cores that fall idle or are given up, or that are given to a worker again. mu is held.
func (s *scheduler) addFree(n int32) {
	s.times.pass(s.now(), s.allowed, int(s.free.Load()))
	s.free.Add(n)
}

// giveUp takes away a worker's core if the pool has too many. mu is held.
func (s *scheduler) giveUp() bool {
	if s.free.Load() >= 0 {
		return false
	}
	s.addFree(1)
	return true
}

// grant gives w the core of a worker that hands it on. mu is held.
func (s *scheduler) grant(w *Worker) { w.core <- false }

// feed gives w an idle core. mu is held.
func (s *scheduler) feed(w *Worker) {
	s.addFree(-1)
	w.core <- true
}

// gotCore is called by w, a worker of this pool, when it has received a core, an idle one if fed.
func (*scheduler) gotCore(w *Worker, fed bool) {
	w.stats.asleep.Store(false)
	if fed {
		w.pool.host.Fed()
	}
}

// hungry says whether a core, here or outside, has no work at this moment.
func (p *Pool) hungry() bool { return p.sched.free.Load() > 0 || p.frontier.starve.Load() > 0 }

// called says whether a worker that becomes busy should visit attention at once: somebody called all busy
// workers, perhaps before this one had said that it is busy. Either the caller, which wrote free or waiting
// before, sees it busy, or it sees what the caller wrote.
func (p *Pool) called() bool {
	return p.sched.free.Load() != 0 || p.frontier.starve.Load() > 0 || p.sched.waiting.Load() > 0 ||
		p.cfg.Breathe != nil
}

// processors is what the pools of a process share: GOMAXPROCS. A P that computes leaves it to the others to
// serve the network, so there must be one more than all pools together keep busy.
var processors = share{pools: map[*Pool]bool{}}

// A share lists the pools that are not closed, and counts what runs beside their workers, which may have to wait for a
// core with a P in its hands. Its mutex is taken before that of a pool.
type share struct {
	mu    sync.Mutex
	pools map[*Pool]bool
	extra int32
}

// beside counts threads that run beside workers, or no more.
func (s *share) beside(n int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extra += n
	s.raise()
}

// raise makes GOMAXPROCS at least one more than the cores in use or allowed and what runs beside; mu is held.
func (s *share) raise() {
	want := 1 + s.extra
	for q := range s.pools {
		q.sched.mu.Lock()
		want += int32(q.sched.allowed) - min(q.sched.free.Load(), 0) // free < 0: still in use
		q.sched.mu.Unlock()
	}
	if runtime.GOMAXPROCS(0) < int(want) {
		runtime.GOMAXPROCS(int(want))
	}
}

// join and leave keep the list.
func (s *share) join(p *Pool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pools[p] = true
	s.raise()
}

func (s *share) leave(p *Pool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pools, p)
}
