package engine

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/satin-peer/satin/job"
)

// A frontier is what a pool knows of jobs that came in or went out.
type frontier struct {
	starve atomic.Int32  // thieves from outside that look for a job this moment
	offers chan struct{} // wakes one of them

	runMu   sync.Mutex
	runs    map[*Record]bool // roots that have not finished
	outside map[*Taken]bool  // what was taken and neither ended nor was put back or dropped
	tallies borderCounts
}

func newFrontier() frontier {
	return frontier{runs: map[*Record]bool{}, outside: map[*Taken]bool{}, offers: make(chan struct{}, 1)}
}

// A Taken is a job on its way out of, or outside, the process.
type Taken struct {
	p   *Pool
	r   *Record
	job Job

	found bool    // it went to Host.Found once
	root  *Record // the run's or the guest's root that it descends from; nil if that could not be told
	// frontier.runMu guards the rest.
	telling  bool // Found is being called
	lateDrop bool // it was dropped meanwhile
}

// Take gives away the oldest stealable job of some worker, for a thief outside the process; nil if there is none.
// When no job is published, Take asks the running workers for one and waits for it, 1 ms at most. From
// workers that SetCores stopped it takes all but their running jobs.
// The job's owner goes on at once; when it needs the result it parks, and another job uses its core.
//
// The record of who has the job must be made before it leaves (write before send); whoever cannot deliver it
// calls PutBack.
func (p *Pool) Take() *Taken {
	t, _ := p.take(takePatience)
	return t
}

// TakeNow is Take for those who may not block: later says that there is none yet, but a worker may offer one.
func (p *Pool) TakeNow() (t *Taken, later bool) { return p.take(0) }

func (p *Pool) take(patience time.Duration) (t *Taken, later bool) {
	p.demand.Store(true)
	for {
		r, later := p.stealForOutside(patience)
		if r == nil {
			return nil, later
		}
		if p.stays(r) { // its worker began that root after it was looked at
			r.out = &passport{alone: true, restarted: r.restarted()}
			p.sched.inject(r)
			continue
		}
		id, restarted, ok := p.paths.idOf(r)
		if !ok { // it, or an ancestor, was dropped a moment ago
			p.frontier.countDropped()
			return nil, false
		}
		if hit, _ := p.ask(r, id.Path, restarted); !hit {
			return p.give(r, id, restarted, false), false
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

// stealForOutside gives the oldest job of some worker. If there is none, later says whether one may be offered after
// all; without patience that was not waited for.
func (p *Pool) stealForOutside(patience time.Duration) (r *Record, later bool) {
	p.frontier.starve.Add(1) // before the look: a worker publishes, then looks at starve
	defer p.frontier.starve.Add(-1)
	var timer *time.Timer
	for spinUntil := p.sched.now() + takeSpin; ; {
		if r := p.sched.takeInbox(true); r != nil {
			return r, false
		}
		busy := false
		for _, v := range *p.sched.workers.Load() {
			if !v.busy.Load() || v.alone.Load() {
				continue
			}
			busy = busy || !v.stats.asleep.Load() // a worker without a core published all it has before it fell asleep
			if r := v.steal(); r != nil {
				return r, false
			}
		}
		switch {
		case !busy:
			return nil, false
		case p.sched.now() < spinUntil:
			pause()
			continue
		case patience == 0:
			return nil, true
		case timer == nil:
			timer = time.NewTimer(patience)
			defer timer.Stop()
		}
		select {
		case <-p.frontier.offers:
		case <-timer.C:
			return nil, true
		}
	}
}

// stays says whether a job may not leave this process: see Job.Alone.
func (p *Pool) stays(r *Record) bool {
	if !p.alone.Load() {
		return false
	}
	root := p.paths.rootOf(r)
	return root != nil && root.out.alone
}

// offer tells a thief outside that waits, if there is one, that a job was published.
func (f *frontier) offer() {
	if f.starve.Load() > 0 {
		select {
		case f.offers <- struct{}{}:
		default: // it has been told
		}
	}
}

// give makes r, which is stolen, a job outside; nil if it was dropped a moment ago.
func (p *Pool) give(r *Record, id job.ID, restarted, found bool) *Taken {
	t := p.newTaken(r, id, restarted, found)
	r.out = &passport{taken: t, restarted: r.restarted()}
	p.frontier.runMu.Lock()
	defer p.frontier.runMu.Unlock()
	if t.root != nil && t.root.state.Load() == dropped || !r.state.CompareAndSwap(stolen, running) {
		p.frontier.tallies.dropped++
		return nil
	}
	p.frontier.outside[t] = true
	p.frontier.tallies.taken++
	return t
}

func (p *Pool) newTaken(r *Record, id job.ID, restarted, found bool) *Taken {
	root := p.paths.rootOf(r)
	j := Job{ID: id, Func: r.d.Name, Arg: r.d.Ops.Arg(r), Root: root.name(), Restarted: restarted,
		Depth: p.paths.depthOf(r)}
	return &Taken{p: p, r: r, job: j, root: root, found: found || r.wasFound(), telling: found}
}

// Job says what was taken.
func (t *Taken) Job() Job { return t.job }

// PutBack returns the job to this process's workers, which run it as if it had never left; false if it was dropped,
// ended or put back before. If it is restarted, somebody may have worked on it meanwhile, because its thief was
// lost: the Host is asked before its descendants begin, and before the job itself begins or leaves, unless the
// Host got it by Found.
func (t *Taken) PutBack(restarted bool) bool { return t.back(restarted, false) }

// Stay is PutBack for a job that cannot leave: it is not taken again, and stands in the way of none that can.
func (t *Taken) Stay(restarted bool) bool { return t.back(restarted, true) }

func (t *Taken) back(restarted, stays bool) bool {
	if !t.settle(func(c *borderCounts) { c.putBack++ }) {
		return false
	}
	if restarted {
		t.r.out.restarted = true
		t.p.restarts.Store(true)
	}
	t.r.out.alone = stays
	if !t.r.state.CompareAndSwap(running, stolen) {
		return false // dropped a moment ago
	}
	t.p.sched.inject(t.r)
	return true
}

// End delivers what came of the job, wherever it ran. An error says that the outcome does not fit the job's function:
// the job is then still outstanding. An outcome of a job that was dropped, ended or put back before is ignored,
// and reported by false.
func (t *Taken) End(o Outcome) (bool, error) {
	d := t.r.d
	switch {
	case o.Failure != nil:
	case o.Err != nil && !d.MayFail:
		return false, fmt.Errorf("satin: %s returns no error, but one came as its result", d.Name)
	case o.Result == nil && o.Err == nil:
		return false, fmt.Errorf("satin: %s gives a result of type %s, but none came", d.Name, d.Result)
	default:
		if probe := d.Ops.NewRecord(); !d.Ops.SetResult(probe, o.Result, o.Err) {
			return false, fmt.Errorf("satin: %s gives a result of type %s, not %T", d.Name, d.Result, o.Result)
		}
	}
	if !t.settle(func(c *borderCounts) { c.returned++ }) {
		return false, nil
	}
	if t.r.Fail = o.Failure; o.Failure == nil {
		d.Ops.SetResult(t.r, o.Result, o.Err)
	}
	if t.r.state.CompareAndSwap(running, done) { // not dropped a moment ago
		t.r.deliver()
	}
	return true, nil
}

// settle ends the job's time outside, once.
func (t *Taken) settle(count func(*borderCounts)) bool {
	t.p.frontier.runMu.Lock()
	defer t.p.frontier.runMu.Unlock()
	if !t.p.frontier.outside[t] || t.r.state.Load() != running {
		return false
	}
	delete(t.p.frontier.outside, t)
	count(&t.p.frontier.tallies)
	return true
}

// tellFound gives the job to the Host. If it is dropped meanwhile, that is told afterwards.
func (t *Taken) tellFound() {
	p := t.p
	p.host.Found(t)
	p.frontier.runMu.Lock()
	t.telling = false
	late := t.lateDrop
	p.frontier.runMu.Unlock()
	if late {
		p.host.Dropped(t)
	}
}

// tellDropped lets whoever runs r know that nobody waits for it any more.
func (p *Pool) tellDropped(r *Record) {
	if v := r.thief.Load(); v != nil {
		v.Stack.raise()
		p.sched.wake(v)
		return
	}
	if r.out == nil || r.out.taken == nil {
		return
	}
	t := r.out.taken
	p.frontier.runMu.Lock()
	tell := t.drop()
	p.frontier.runMu.Unlock()
	if tell {
		p.host.Dropped(t)
	}
}

// drop ends the job's time outside because nobody waits for it any more, and says whether the Host is to be told now.
// frontier.runMu is held.
func (t *Taken) drop() (tell bool) {
	p := t.p
	if !p.frontier.outside[t] {
		return false
	}
	delete(p.frontier.outside, t)
	p.frontier.tallies.dropped++
	t.lateDrop = t.telling
	return !t.telling
}

// Cut through
//
// An abort unwinds frame by frame, and a frame in a long leaf does not notice before that ends. What is outside must
// not go on so long. So when a root is cancelled, all that was taken from under it is dropped in the same step: the
// Host is told, and no outcome is wanted any more. Only the Host learns of it then. The jobs' records stay as they
// are, and their frames wait on, until the unwinding comes to them, as it does to whatever descends from a dropped
// root: a frame that saw one of its children aborted before could go on with that, and what it returns be kept.

// cutThrough drops what was taken from under the root r, and gives those that the Host is to be told of.
// frontier.runMu is held. r is dropped: give lets nothing more out.
func (f *frontier) cutThrough(r *Record) (told []*Taken) {
	for t := range f.outside {
		if t.root == r && t.drop() {
			told = append(told, t)
		}
	}
	return told
}

// countDropped counts a job that was dropped before it left.
func (f *frontier) countDropped() {
	f.runMu.Lock()
	f.tallies.dropped++
	f.runMu.Unlock()
}
