package engine

import "sync/atomic"

// A Worker is a goroutine that runs jobs: its stack, and the machines that look after what happens on it.
type Worker struct {
	Stack stack // first: package satin sees a Worker as its Frame

	// Owner only.
	tallied    tallied
	ready      readyList
	roots      roots // the jobs that it runs for somebody else
	failures   failures
	groups     uint64 // opened so far: names them
	forked     uint64 // the least frame that has opened one since a result was held; noFork: none with results there
	grain      grain
	thief      thief
	resalvaged uint64 // the call of Resalvage that was answered last
	stopwatch  stopwatch
	breath     breath
	pool       *Pool  // nil: the sequential program
	shelf      *Shelf // of the sequential program
	index      int
	// to begin with, when it gets a core (Job.First); written under the scheduler's mutex while it has none
	first *Record
	spent spent
	_     [64]byte

	// Written by anybody.
	want     atomic.Int64 // when somebody found nothing to steal here, in ns since the pool's start; 0: nobody
	finished returned
	parked   atomic.Bool
	came     atomic.Bool // what waitUntil waits for, perhaps
	core     chan bool   // receives when the worker is given a core: whether nobody had it before
	_        [64]byte

	busy      atomic.Bool // has a root
	alone     atomic.Bool // and what may be stolen from it does not leave this process; it says so itself
	goroutine atomic.Uint64
	stats     report
}

func NewWorker(p *Pool, id int) *Worker {
	w := &Worker{pool: p, index: id, forked: noFork, stopwatch: newStopwatch(p), thief: newThief(id),
		core: make(chan bool, 1)}
	w.Stack.init(w)
	return w
}

// publish makes the n oldest private jobs stealable.
func (w *Worker) publish(n uint32) {
	w.Stack.expose(n)
	w.Stack.Counts.published++
	if w.pool != nil {
		w.pool.sched.workAppeared()
		w.pool.frontier.offer()
	}
}

// popStolen removes the newest slot, whose job was away and came back, or was dropped.
func (w *Worker) popStolen(h uint32) {
	next := h
	if w.stopwatch.budget > 0 {
		next++ // the next job here is looked at too
	}
	w.Stack.pop(h, next)
}

// lowerFence is called when a job in slot h, below the fence, begins without being timed: those below it may
// be as short.
func (w *Worker) lowerFence(h uint32) {
	n := w.Stack.lowestFence()
	if w.stopwatch.keeps() && h > n {
		n += (h - n) / 2
	}
	w.Stack.setFence(min(w.Stack.fence, n))
}

// steal takes the oldest stealable job of v, or asks v to publish some. Any goroutine may call it.
func (v *Worker) steal() *Record {
	r, last := v.Stack.steal()
	if last {
		v.nudge()
	}
	return r
}

// nudge asks v to publish something at its next Spawn or Get.
func (v *Worker) nudge() {
	if v.want.Load() == 0 && v.busy.Load() {
		v.want.Store(v.pool.sched.now())
		v.Stack.raise()
	}
}

// main is a worker's goroutine.
func (w *Worker) main() {
	w.stats.tell(w, 0)
	if w.pool.sched.awaitCore(w) {
		ownThread(firstThread, w.work)
	} else {
		w.pool.wg.Done()
	}
}

// work runs jobs until the pool is closed, on a thread of its own. The worker holds a core.
func (w *Worker) work() {
	lowerPriority(system(), w.pool.cfg.Nice, w.pool.cfg.Idle)
	w.goroutine.Store(goroutineID())
	ended, thread := false, w.pool.threads.began()
	defer func() {
		w.pool.threads.ends(thread)
		if w.busy.Store(false); ended {
			w.pool.wg.Done()
		} else { // a job ended the goroutine: another one goes on, with the same core
			go ownThread(firstThread, w.work)
		}
	}()
	for r := w.pool.find(w); r != nil; r = w.pool.find(w) {
		w.busy.Store(true)
		w.runRoot(r)
		w.busy.Store(false)
		w.want.Store(0)
	}
	ended = true
}

// find gets a job for a worker that has none; nil when the pool is closed. It gives way to workers that can go on.
func (p *Pool) find(w *Worker) *Record {
	since := p.sched.now()
	defer func() { w.Stack.Counts.search += p.sched.now() - since }()
	for {
		if r := w.first; r != nil {
			w.first = nil
			return r
		}
		if p.sched.resumable.Load() > 0 || p.sched.free.Load() < 0 {
			w.Stack.Counts.search += p.sched.now() - since
			ok := p.sched.handOver(w)
			if since = p.sched.now(); !ok {
				return nil
			}
			continue
		}
		if seq := p.sample.Load(); seq != w.stats.seq.Load() {
			w.stats.tell(w, seq)
		}
		if r := p.sched.takeInbox(false); r != nil {
			return r
		}
		r, from, others := w.thief.steal(w, *p.sched.workers.Load())
		if r != nil {
			if p.sched.free.Load() > 0 && from.Stack.stealable() {
				p.sched.workAppeared() // there is more: one wakes the next
			}
			return r
		}
		if others && p.sched.now()-since < searchPatience && !p.sched.closed.Load() {
			pause()
			continue
		}
		w.Stack.Counts.search += p.sched.now() - since
		ok := p.rest(w)
		if since = p.sched.now(); !ok {
			return nil
		}
	}
}
