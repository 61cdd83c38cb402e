package engine

import (
	"context"

	"github.com/satin-peer/satin/job"
)

// What the tests of the engine see of its inside.

const (
	Fresh, Stolen, Running, Done = fresh, stolen, running, done

	FirstSlots = firstSlots
	GCBallast  = gcBallast
	SmallShare = smallShare
)

var ErrGoexit = errGoexit

func Pause() { pause() }

func NotTopLevel(symbol string) string { return notTopLevel(symbol) }

func (w *Worker) Slots() []*Record             { return w.Stack.slots }
func (w *Worker) Split() uint32                { return w.Stack.split }
func (w *Worker) SetTS(ts uint64)              { w.Stack.ts.Store(ts) }
func (w *Worker) Asleep() bool                 { return w.stats.asleep.Load() }
func (w *Worker) Want() int64                  { return w.want.Load() }
func (w *Worker) SetBusy()                     { w.busy.Store(true) }
func (w *Worker) SetAlone(on bool)             { w.alone.Store(on) }
func (w *Worker) Begun() uint64                { return w.Stack.Counts.begun() }
func (w *Worker) Roots() (run, unbegun uint64) { return w.Stack.Counts.roots, w.Stack.Counts.unbegun }
func (w *Worker) Fence() uint32                { return w.Stack.fence }
func (w *Worker) FullLimit() uint32            { return w.Stack.fullLimit() }

func (w *Worker) TS() (tail, split uint32) {
	ts := w.Stack.ts.Load()
	return uint32(ts >> 32), uint32(ts)
}

// Untaken counts the groups that have results which nobody has taken.
func (w *Worker) Untaken() int { return len(w.ready) }

func (w *Worker) Hold()                                   { w.Stack.hold() }
func (w *Worker) Raise()                                  { w.Stack.raise() }
func (w *Worker) SetCoarse()                              { w.Stack.coarse = true }
func (w *Worker) Enter(job, cur uint64)                   { w.Stack.enter(job, cur) }
func (w *Worker) Root(d uint64, r *Record)                { w.Stack.tab.Load().roots[d] = r }
func (w *Worker) Steal() *Record                          { return w.steal() }
func (w *Worker) Stealable() bool                         { return w.Stack.stealable() }
func (w *Worker) Nudge()                                  { w.nudge() }
func (w *Worker) Publish(n uint32)                        { w.publish(n) }
func (w *Worker) ShareAll()                               { w.shareAll() }
func (w *Worker) Claim(h uint32) bool                     { return w.Stack.claim(h) }
func (w *Worker) PopStolen(h uint32)                      { w.popStolen(h) }
func (w *Worker) RunRoot(r *Record)                       { w.runRoot(r) }
func (w *Worker) Attend()                                 { w.attend() }
func (w *Worker) HandOver(r *Record, h uint32, id job.ID) { w.handOver(r, h, id) }
func (w *Worker) Pulse(call uint64)                       { w.stopwatch.pulse(w, call) }

// RaiseLate is raise by somebody who has looked where the slots are, and goes on only when what it gives is called.
func (w *Worker) RaiseLate() func() {
	t := w.Stack.slotTab.Load()
	return func() { w.Stack.shutDoor(t) }
}

// NewRoot makes the record of a root that came from outside, or that only holds a slot.
func NewRoot(slot uint32) *Record { return &Record{Slot: slot, out: &passport{}} }

func (r *Record) State() uint32             { return r.state.Load() }
func (r *Record) SetState(s uint32)         { r.state.Store(s) }
func (r *Record) Move(from, to uint32) bool { return r.state.CompareAndSwap(from, to) }
func (r *Record) Gone() bool                { return r.gone }
func (r *Record) Pass()                     { r.passed.Store(true) }
func (r *Record) Deliver()                  { r.deliver() }
func (r *Record) Arg() any                  { return r.d.Ops.Arg(r) }
func (r *Record) SetResult(v any)           { r.d.Ops.SetResult(r, v, nil) }

// Held gives the number of cores that workers hold.
func (p *Pool) Held() int {
	p.sched.mu.Lock()
	defer p.sched.mu.Unlock()
	return p.sched.allowed - int(p.sched.free.Load())
}

// Inbox gives the number of jobs in the inbox.
func (p *Pool) Inbox() int { return int(p.sched.inboxLen.Load()) }

// SetClock has long jobs timed with another clock.
func (p *Pool) SetClock(clock func() int64) { p.clock = clock }

// AllWorkers gives the pool's workers.
func (p *Pool) AllWorkers() []*Worker { return *p.sched.workers.Load() }

// Pools counts the pools that are not closed.
func Pools() int {
	processors.mu.Lock()
	defer processors.mu.Unlock()
	return len(processors.pools)
}

// GiveOldest takes the worker's oldest job out of the process, as Take does.
func (p *Pool) GiveOldest(w *Worker) *Taken {
	r := w.steal()
	id, restarted, _ := p.paths.idOf(r)
	return p.give(r, id, restarted, false)
}

// RunSequential runs a job without a pool, as the root of a given run.
func RunSequential(run job.RunID, fn string, arg any) (any, error) {
	r, err := newNamed(fn, arg)
	if err != nil {
		return nil, err
	}
	if err := runSequential(context.Background(), r, run, &Shelf{}); err != nil {
		return nil, err
	}
	return r.d.Ops.Result(r)
}

// Outside counts the jobs that are outside the process.
func (p *Pool) Outside() int {
	p.frontier.runMu.Lock()
	defer p.frontier.runMu.Unlock()
	return len(p.frontier.outside)
}

// Park is what a worker does that waits for a thief, here or further away; Parked says whether it does so.
func (w *Worker) Park(local bool) { w.pool.sched.park(w, local) }
func (w *Worker) Parked() bool    { return w.parked.Load() }

// AddWorkers gives the pool n spare workers.
func (p *Pool) AddWorkers(n int) {
	p.sched.mu.Lock()
	defer p.sched.mu.Unlock()
	for range n {
		p.sched.spares = append(p.sched.spares, p.addWorker())
	}
}

const MaxForLocal = maxForLocal

// ReadPaths holds up who waits for readers of paths, until the function that it returns is called.
func (p *Pool) ReadPaths() (done func()) {
	p.paths.mu.Lock()
	return p.paths.mu.Unlock
}

// Resumable counts the workers that wait for a core to go on.
func (p *Pool) Resumable() int { return int(p.sched.resumable.Load()) }

// HideSpares leaves nobody to give a core to until the function that it returns is called.
func (p *Pool) HideSpares() (done func()) {
	p.sched.mu.Lock()
	defer p.sched.mu.Unlock()
	hidden := p.sched.spares
	p.sched.spares = nil
	return func() {
		p.sched.mu.Lock()
		defer p.sched.mu.Unlock()
		p.sched.spares = append(hidden, p.sched.spares...)
	}
}
