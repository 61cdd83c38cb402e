package engine

import (
	"github.com/satin-peer/satin/job"
)

// Jobs that leave the middle of a stack
//
// A thief takes the oldest job, so away are always the oldest: the slots below tail. Two kinds of record are
// gone from their slot before a thief's turn comes:
//
//   - a job that was about to begin in its owner's hands when the Host said hit (salvage.go): it is handed over
//     to the outside, its state is running and its owner waits for it as for any that is away, while older jobs of
//     the same stack may be private or stealable;
//   - a spacer (stopwatch.go), which holds a slot that has no job.
//
// The owner alone makes a slot gone, when it is the newest and private. From then on:
//
//   - Get and Results must not call it: its slot is in handed, and the fence stays above (lowestFence). It is
//     done with by step, drop or popBack only, which look at gone before they claim anything.
//   - It may be published like any other slot, so that newer jobs can be had by thieves, who must therefore
//     step over it: after the compare-and-swap that moves tail over a slot, a thief which finds its record
//     not fresh marks it passed and tries the next. Nobody else's record can be in the slot then: the owner
//     changes a slot only after regain. And a job that a thief finds fresh cannot become gone under its eyes:
//     the slot was not private.
//   - Before the owner gives the slot to another record it regains it. Either its claim succeeds: no thief
//     has come by, none can any more, the slot is private; it is popped by lowering head alone. Or tail has
//     passed it: then all below are stolen and the slot is popped as if it had been stolen too (popStolen),
//     but not before the thief's mark, its last touch, is seen; that is a few nanoseconds away. This is the
//     part of the mark stolen in stack.go.
//
// A worker that waits for a handed-over job parks at once instead of helping, even when the job was put back
// and runs on a worker here: help needs that all older jobs are stolen (join.go). Parking publishes them, so
// others run them.
//
// Rejected: to take the job off the stack altogether, with a count of absent children in each frame: every
// place that asks whether a frame has children would have to know; and to wait inside the job's own frame,
// which holds up the results of its siblings, and an abort by the inlet that takes them.

// handOver gives r, the newest job, in slot h and claimed, to the Host.
func (w *Worker) handOver(r *Record, h uint32, id job.ID) {
	p := w.pool
	t := p.newTaken(r, id, true, true)
	r.out = &passport{taken: t}
	r.gone = true
	w.Stack.handed = append(w.Stack.handed, h)
	r.state.Store(running)
	w.publish(h + 1 - w.Stack.split)
	p.frontier.runMu.Lock()
	p.frontier.outside[t] = true
	p.frontier.tallies.taken++
	p.frontier.runMu.Unlock()
	t.tellFound()
}

// regain makes sure that no thief looks at slot h, the newest, if its record r is gone.
func (s *stack) regain(r *Record, h uint32) {
	if !r.gone {
		return
	}
	r.gone = false
	if n := len(s.handed) - 1; n >= 0 && s.handed[n] == h {
		s.handed = s.handed[:n]
	}
	if s.claim(h) {
		return
	}
	for !r.passed.Load() {
		pause()
	}
}
