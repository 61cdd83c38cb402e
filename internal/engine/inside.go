package engine

import (
	"time"
	"unsafe"

	"github.com/satin-peer/satin/job"
)

// A pool inside a job
//
// A program that was compiled to a WebAssembly module is a job of another engine, and has an engine itself: a pool of
// one worker that runs on the goroutine which calls Run, without cores to hand on. What another pool's scheduler
// does, the Outer does: it stores 0 in the worker's attention word when it wants jobs; at its next look the worker
// gives it the oldest ones, as Take would; and where a worker would park, it asks the Outer for an outcome.

// An Outer is the engine around an Inside. Its methods are called by the goroutine that called Run, and may block.
type Outer interface {
	// Wanted says how many jobs it would like to have.
	Wanted() int
	// Offer gives it a job. That ends by Await or Dropped.
	Offer(*Taken)
	// Await waits until one of some jobs has ended, or is given back, and says which, and what came of it; nil:
	// it is to be run here.
	Await([]*Taken) (int, *Outcome)
	// Dropped says that nobody waits for a job any more.
	Dropped(*Taken)
}

// An Inside is such a pool.
type Inside struct {
	Alone
	p     *Pool
	w     *Worker
	outer Outer
}

// NewInside makes one. Shared values are around it, and outside names them.
func NewInside(outer Outer, outside Outside, around Around) *Inside {
	in := &Inside{outer: outer}
	in.p = &Pool{host: in, inside: in, sched: scheduler{start: time.Now().Add(-poolEpoch)}, frontier: newFrontier()}
	in.p.clock = in.p.sched.now
	in.p.shelf.Outside, in.p.shelf.Around = outside, around
	in.w = NewWorker(in.p, 0)
	in.p.sched.workers.Store(&[]*Worker{in.w})
	return in
}

// Word gives the place of the attention word. Who stores 0 there is heard at the next Get or Results: the door, which
// Spawn looks at, stays open.
func (in *Inside) Word() *uint32 { return (*uint32)(unsafe.Pointer(&in.w.Stack.limit)) }

// Run runs a job to its end, by the registered name of its function. The paths of what it offers begin with it.
func (in *Inside) Run(fn string, arg any) (Outcome, error) {
	r, err := newNamed(fn, arg)
	if err != nil {
		return Outcome{}, err
	}
	r.out = &passport{id: job.ID{}, ended: func(*Record) {}}
	r.state.Store(stolen)
	in.w.runRoot(r)
	return r.outcome(), nil
}

// Pool is the pool, for its shelf and its guards.
func (in *Inside) Pool() *Pool { return in.p }

// attend takes in what lattices have grown by elsewhere, and offers the oldest jobs, as many as are wanted.
func (in *Inside) attend() {
	w := in.w
	in.p.shelf.grow()
	for n := in.outer.Wanted(); n > 0 && w.Stack.Head > w.Stack.split; n-- {
		w.publish(1)
		r := w.steal()
		id, restarted, ok := in.p.paths.idOf(r)
		if !ok {
			continue
		}
		if t := in.p.give(r, id, restarted, false); t != nil {
			in.outer.Offer(t)
		}
	}
}

// await is what park is elsewhere: it returns when one of the running frame's children came back.
func (in *Inside) await() {
	w := in.w
	var away []*Taken
	for h := w.Stack.Head; h > 0 && w.Stack.slots[h-1].ID>>DepthShift == w.Stack.Cur>>DepthShift; h-- {
		if r := w.Stack.slots[h-1]; r.state.Load() == running && r.out != nil && r.out.taken != nil {
			away = append(away, r.out.taken)
		}
	}
	i, o := in.outer.Await(away)
	t := away[i]
	if o != nil {
		if _, err := t.End(*o); err == nil {
			return
		}
		o = nil // garbage: it is run here
	}
	if t.settle(func(c *borderCounts) { c.putBack++ }) && t.r.state.CompareAndSwap(running, stolen) {
		w.runRoot(t.r)
	}
}

// Dropped passes on what the pool tells its Host.
func (in *Inside) Dropped(t *Taken) { in.outer.Dropped(t) }
