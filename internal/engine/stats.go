package engine

import (
	"sync/atomic"
	"time"
)

// counts are a worker's counters: written by its owner only, with plain stores. Times are in ns.
type counts struct {
	Inline    uint64 // jobs that Get or Results called in place
	detached  uint64 // jobs run ahead of their Get
	roots     uint64 // jobs run for somebody else
	unwound   uint64 // of those three, the ones that an abort ended
	recalled  uint64 // own jobs aborted before they began
	unbegun   uint64 // jobs of others aborted before they began
	aborts    uint64 // times a frame gave up jobs of its own
	back      uint64 // own jobs that thieves brought back, or were left with
	syncs     uint64 // Get, Try and Sync calls and Results steps that were not inline
	attempts  uint64 // looks at another worker's stack
	steals    uint64 // successful ones
	waits     uint64 // times the newest job was away when its result was wanted
	parks     uint64 // of those, the ones that gave the core away
	rests     uint64 // times a core fell idle
	published uint64 // times jobs were made stealable
	visits    uint64 // looks at the attention word's wishes
	search    int64  // looking for a job, with a core
}

// begun counts the jobs of this stack that were run here.
func (c *counts) begun() uint64 { return c.Inline + c.detached }

func (c *counts) add(o *counts) {
	c.Inline += o.Inline
	c.detached += o.detached
	c.roots += o.roots
	c.unwound += o.unwound
	c.recalled += o.recalled
	c.unbegun += o.unbegun
	c.aborts += o.aborts
	c.back += o.back
	c.syncs += o.syncs
	c.attempts += o.attempts
	c.steals += o.steals
	c.waits += o.waits
	c.parks += o.parks
	c.rests += o.rests
	c.published += o.published
	c.visits += o.visits
	c.search += o.search
}

// counted is all that a worker has counted.
type counted struct {
	counts
	spent
}

// A report is what a worker last told about itself.
type report struct {
	live   atomic.Uint64 // its jobs that have not begun or are away
	seq    atomic.Uint64 // the request it answers
	asleep atomic.Bool   // it has no core: what it told is all there is
	counts atomic.Pointer[counted]
	shares atomic.Pointer[[]rootShare]
}

// tell answers a request for statistics of w, whose report it is; number 0 is told by a worker that is about to sleep.
func (told *report) tell(w *Worker, seq uint64) {
	w.tallied.count(&w.Stack.Counts, w.tallied.to)
	told.counts.Store(&counted{w.Stack.Counts, w.spent})
	live := uint64(0)
	for _, r := range w.Stack.slots[:w.Stack.Head] {
		if !r.joined {
			live++
		}
	}
	told.live.Store(live)
	shares := w.roots.shares(&w.Stack)
	told.shares.Store(&shares)
	if seq == 0 {
		told.asleep.Store(true)
	} else {
		told.seq.Store(seq)
	}
}

// Stats are a Pool's statistics since its start, in the terms of Satin's (programming model, 5.1). They are sums over
// its workers. While jobs run, each worker's part is as old as its last Spawn or Get.
type Stats struct {
	Workers  int    // cores the pool may use at most
	Busy     int    // workers that run a job at this moment
	Late     int    // of those, the ones in the middle of a leaf: what they count is as old as their last Spawn or Get
	Spawned  uint64 // jobs spawned
	Launched uint64 // jobs that began a run or came from outside
	Executed uint64 // jobs run to their end in this process, also those that failed
	Aborts   uint64 // calls of Abort and loops that were left, with jobs left to abort
	Aborted  uint64 // jobs that an abort ended or kept from beginning
	Syncs    uint64 // results taken and syncs

	StealAttempts uint64 // looks at another worker's stack
	Steals        uint64 // jobs stolen between the workers of this process
	Waits         uint64 // times a wanted result was not there yet
	Parks         uint64 // times a waiting job gave its core away
	Rests         uint64 // times a core found nothing to do

	Taken    uint64 // jobs given to thieves outside
	Returned uint64 // of those, the ones whose result came back
	PutBack  uint64 // of those, the ones that came back without

	Elapsed time.Duration // since the pool's start
	Idle    time.Duration // of the time that cores might run: looking for a job or waiting for one that is away

	// Times says more exactly where the cores' time went.
	Times Times
}

// Stats and Progress wait so long for workers to report, and look so often.
const (
	statsPatience = 20 * time.Millisecond
	statsPoll     = 20 * time.Microsecond
)

// Stats asks the workers for their counts and adds them up. It waits up to 20 ms for workers in the middle of a
// leaf, then takes what they told last. When all cores are idle the counts are exact.
func (p *Pool) Stats() Stats {
	s := Stats{Workers: p.cfg.Workers, Late: p.survey(), Elapsed: time.Duration(p.sched.now()) - poolEpoch}
	var c counted
	live := uint64(0)
	for _, w := range *p.sched.workers.Load() {
		if told := w.stats.counts.Load(); told != nil {
			c.counts.add(&told.counts)
			c.spent.add(&told.spent)
			live += w.stats.live.Load()
		}
		if w.busy.Load() && !w.stats.asleep.Load() {
			s.Busy++
		}
	}
	p.frontier.runMu.Lock()
	t := p.frontier.tallies
	p.frontier.runMu.Unlock()
	// Nothing is counted at a spawn: each job leaves its stack in one of these ways or is still there.
	s.Spawned, s.Launched = c.Inline+c.detached+c.recalled+c.back+live, t.launched
	s.Executed = c.Inline + c.detached + c.roots - c.unwound
	s.Aborts, s.Aborted = c.aborts, c.unwound+c.recalled+c.unbegun+t.dropped
	s.Syncs = c.Inline + c.syncs
	s.StealAttempts, s.Steals, s.Waits, s.Parks, s.Rests = c.attempts, c.steals, c.waits, c.parks, c.rests
	s.Taken, s.Returned, s.PutBack = t.taken, t.returned, t.putBack
	p.sched.mu.Lock()
	p.sched.addFree(0)
	s.Times = p.sched.times.sum(c.search, &c.spent)
	p.sched.mu.Unlock()
	s.Times.CPU = p.threads.time()
	s.Idle = s.Times.Searching + s.Times.Waiting + s.Times.Free
	return s
}

// survey makes all workers report, those in a long leaf excepted, which it counts.
func (p *Pool) survey() (late int) {
	seq := p.sample.Add(1)
	for until := time.Now().Add(statsPatience); ; time.Sleep(statsPoll) {
		late = 0
		for _, w := range *p.sched.workers.Load() {
			if !w.stats.asleep.Load() && w.stats.seq.Load() < seq {
				w.Stack.raise()
				late++
			}
		}
		if late == 0 || time.Now().After(until) {
			return late
		}
	}
}
