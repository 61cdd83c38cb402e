package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
)

// What a runtime that moves jobs between processes needs of the engine. Applications do not use it.

// Outside is told about a Pool's needs. Its methods are called by workers, without locks, and must neither block nor
// call back into the Pool: hand the news to another goroutine.
type Outside interface {
	// Hungry says that a core which may run has found no work in this process. It is called once each time a
	// core falls idle; not for one that SetCores took away.
	Hungry()
	// Dropped says that nobody waits any more for a job that was taken: an abort. Its Complete, Fail and PutBack
	// will do nothing.
	Dropped(*Taken)
}

// An OutsideFed is an Outside that is also told when an idle core gets work: after each change of Pool.Idle
// one of Hungry and Fed is called, so whoever asks Idle after each call knows it without polling (the caller
// of SetCores asks by itself). The core may find that another one was faster; then Hungry follows, 50 us
// later or more.
type OutsideFed interface {
	Outside
	Fed()
}

// A passport is what a record carries that crossed the border of the process.
type passport struct {
	id        job.ID        // of a job that came in
	ended     func(*Record) // called once when a job that came in has finished or was cancelled
	why       error         // why it was cancelled
	tally     tally
	taken     *Taken // of a job that went out
	restarted bool   // somebody may have worked on it before (restart.go)
}

// borderCounts are the statistics of the border; Pool.runMu guards them.
type borderCounts struct{ taken, returned, putBack, dropped, launched uint64 }

// A Taken is a job on its way out of, or outside, the process.
type Taken struct {
	p    *Pool
	r    *Record
	id   job.ID
	back bool // put back or completed; Pool.runMu guards it

	restarted bool // it descends from a restarted job, or is one
	found     bool // a Salvager got this job once
	telling   bool // Found is being called; Pool.runMu guards this and the next
	lateDrop  bool // it was dropped meanwhile
}

// Take gives away the oldest stealable job of some worker, for a thief outside the process; nil if there is none.
// When no job is published, Take asks the running workers for one and waits for it, 1 ms at most. From
// workers that SetCores stopped it takes all but their running jobs.
// The job's owner goes on at once; when it needs the result it parks, and another job uses its core.
//
// The record of who has the job must be made before it leaves (write before send); whoever cannot deliver it
// calls PutBack.
func (p *Pool) Take() *Taken {
	p.demand.Store(true)
	for {
		r := p.stealForOutside()
		if r == nil {
			return nil
		}
		id, restarted, ok := p.idOf(r)
		if !ok { // it, or an ancestor, was dropped a moment ago
			p.countDropped()
			return nil
		}
		if hit, _ := p.ask(r, id.Path, restarted); !hit {
			return p.give(r, id, restarted, false)
		}
		if t := p.give(r, id, true, true); t != nil {
			t.tellFound()
		}
	}
}

// Take looks for a job for so long by itself, and then waits so long for a worker to offer one.
const (
	takeSpin     = 5_000 // ns
	takePatience = time.Millisecond
)

func (p *Pool) stealForOutside() *Record {
	p.starve.Add(1) // before the look: a worker publishes, then looks at starve
	defer p.starve.Add(-1)
	var timer *time.Timer
	for spinUntil := p.now() + takeSpin; ; {
		if r := p.takeInbox(true); r != nil {
			return r
		}
		busy := false
		for _, v := range *p.workers.Load() {
			if !v.busy.Load() {
				continue
			}
			busy = busy || !v.stats.asleep.Load() // a worker without a core published all it has before it fell asleep
			if r := v.steal(); r != nil {
				return r
			}
		}
		switch {
		case !busy:
			return nil
		case p.now() < spinUntil:
			pause()
			continue
		case timer == nil:
			timer = time.NewTimer(takePatience)
			defer timer.Stop()
		}
		select {
		case <-p.offers:
		case <-timer.C:
			return nil
		}
	}
}

// offer tells a thief outside that waits, if there is one, that a job was published.
func (p *Pool) offer() {
	if p.starve.Load() > 0 {
		select {
		case p.offers <- struct{}{}:
		default: // it has been told
		}
	}
}

// ID gives the job's ID.
func (t *Taken) ID() job.ID { return t.id }

// Func gives the registered name of its function.
func (t *Taken) Func() string { return t.r.d.Name }

// Arg gives its argument, not encoded. It must not be changed.
func (t *Taken) Arg() any { return t.r.d.Ops.Arg(t.r) }

// Restarted says that the job descends from one that was restarted, or is one: parts of it may have been
// computed before.
func (t *Taken) Restarted() bool { return t.restarted }

// PutBack returns the job to this process's workers, which run it as if it had never left; false if it was dropped,
// completed or put back before.
func (t *Taken) PutBack() bool { return t.putBack(false) }

func (t *Taken) putBack(restarted bool) bool {
	if !t.settle(func(c *borderCounts) { c.putBack++ }) {
		return false
	}
	if restarted {
		t.r.out.restarted = true
		t.p.restarts.Store(true)
	}
	if !t.r.state.CompareAndSwap(running, stolen) {
		return false // dropped a moment ago
	}
	t.p.inject(t.r)
	return true
}

// Complete delivers the job's result, and the error it returned if its function may. An error of this call
// says that the result has the wrong type: the job is then still outstanding. A result for a job that was
// dropped, completed or put back before is ignored, and reported by false. A *JobError for a function that
// returns no error is its failure, as for Fail: it panicked, or forgot a failed child.
func (t *Taken) Complete(result any, err error) (bool, error) {
	if je, ok := err.(*job.Error); ok && !t.r.d.MayFail {
		return t.Fail(je), nil
	}
	if err != nil && !t.r.d.MayFail {
		return false, fmt.Errorf("satin: %s returns no error, but one came as its result", t.r.d.Name)
	}
	if probe := t.r.d.Ops.NewRecord(); !t.r.d.Ops.SetResult(probe, result, err) {
		return false, fmt.Errorf("satin: %s gives a result of type %s, not %T", t.r.d.Name, t.r.d.Result, result)
	}
	if !t.settle(func(c *borderCounts) { c.returned++ }) {
		return false, nil
	}
	t.r.d.Ops.SetResult(t.r, result, err)
	t.hand()
	return true, nil
}

// Fail delivers a job's panic, or the failure that it forgot, from wherever it ran. It reports false as
// Complete does.
func (t *Taken) Fail(e *job.Error) bool {
	if e == nil || !t.settle(func(c *borderCounts) { c.returned++ }) {
		return false
	}
	t.r.Fail = e
	t.hand()
	return true
}

// settle ends the job's time outside, once.
func (t *Taken) settle(count func(*borderCounts)) bool {
	t.p.runMu.Lock()
	defer t.p.runMu.Unlock()
	if t.back || t.r.state.Load() != running {
		return false
	}
	t.back = true
	delete(t.p.taken, t)
	count(&t.p.tallies)
	return true
}

// hand gives the finished record to its owner, unless it was dropped a moment ago.
func (t *Taken) hand() {
	if t.r.state.CompareAndSwap(running, done) {
		t.r.deliver()
	}
}

// Outstanding lists the jobs that are outside the process at this moment, in no order.
func (p *Pool) Outstanding() []*Taken {
	p.runMu.Lock()
	defer p.runMu.Unlock()
	list := make([]*Taken, 0, len(p.taken))
	for t := range p.taken {
		list = append(list, t)
	}
	return list
}

// tellDropped lets whoever runs r know that nobody waits for it any more.
func (p *Pool) tellDropped(r *Record) {
	if v := r.thief.Load(); v != nil {
		v.limit.Store(0)
		v.wake()
		return
	}
	if r.out == nil || r.out.taken == nil {
		return
	}
	t := r.out.taken
	p.runMu.Lock()
	outside := p.taken[t]
	if delete(p.taken, t); outside {
		p.tallies.dropped++
		t.lateDrop = t.telling
	}
	told := outside && !t.telling
	p.runMu.Unlock()
	if told && p.cfg.Outside != nil {
		p.cfg.Outside.Dropped(t)
	}
}

// A Guest is a job from outside that runs in this pool.
type Guest struct {
	p *Pool
	r *Record
}

// Submit runs a job that was stolen elsewhere: the function registered as fn, with an argument of its type.
// ended is called once, by a worker, when the job has finished: with its result, and its error if its
// function may return one, or with the *JobError of its panic or of a child whose failure it forgot. It is
// not called for a job that was cancelled, and must not block.
func (p *Pool) Submit(id job.ID, fn string, arg any, ended func(result any, err error)) (*Guest, error) {
	return p.submit(&passport{id: id}, fn, arg, ended)
}

func (p *Pool) submit(out *passport, fn string, arg any, ended func(result any, err error)) (*Guest, error) {
	r, err := newNamed(fn, arg)
	if err != nil {
		return nil, err
	}
	r.out = out
	if out.restarted {
		p.restarts.Store(true)
	}
	r.out.ended = func(r *Record) {
		if r.out.why != nil {
			return
		}
		if r.Fail != nil {
			ended(nil, r.Fail)
			return
		}
		ended(r.d.Ops.Result(r))
	}
	if err := p.launch(r); err != nil {
		return nil, err
	}
	return &Guest{p, r}, nil
}

// errCancelled is why a guest was aborted.
var errCancelled = errors.New("satin: cancelled by its owner")

// Hurry has the job begin before those that run now, if it has not begun: a worker gives its core up to it at
// its next Spawn or Get, and goes on when the job waits for what is elsewhere, or has ended. For the root of
// a run that is begun again: it has little to do itself, and much waits for it.
func (g *Guest) Hurry() {
	p := g.p
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.inbox, g.r)
	if i < 0 || p.closed.Load() {
		return
	}
	var v *Worker
	switch {
	case len(p.spares) > 0:
		v = p.popSpare()
	case len(*p.workers.Load()) < maxWorkers:
		v = p.addWorker()
	default:
		return // it begins when a worker has nothing else to do
	}
	p.inbox = slices.Delete(p.inbox, i, i+1)
	p.inboxLen.Add(-1)
	v.first = g.r
	if p.free.Load() > 0 {
		p.feed(v)
		return
	}
	p.ready = slices.Insert(p.ready, 0, v)
	p.waiting.Add(1)
	p.resumable.Add(1)
	p.callAll()
}

// Cancel aborts the job and its descendants, best effort; it does nothing if the job has finished.
func (g *Guest) Cancel() { g.p.cancel(g.r, errCancelled) }
