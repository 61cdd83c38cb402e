package engine

import "github.com/satin-peer/satin/job"

// Jobs whose spawns happen elsewhere
//
// A job may be an interpreter of jobs: a WebAssembly module spawns and syncs inside, on a stack of its own. It asks
// now and then how many jobs are wanted, and then makes the oldest of its children records on this worker's
// stack, by Room and Lend: children of the interpreting job that thieves may take. Since the oldest
// of those still inside are newer than all that were lent before, both stacks have the same order, and what the
// interpreter waits for is the newest lent one as a rule. If nobody has it, it is taken back and runs inside.
//
// What is inside has a path too: a lent record carries the steps from the job that interprets to it.

// A Lender is a worker as a job sees it whose spawns happen elsewhere. It belongs to the job's goroutine.
type Lender struct{ Worker *Worker }

// Wanted visits attention if somebody raised the attention word, and says how many jobs of this worker others would
// like to have. It may unwind the job.
func (l Lender) Wanted() int {
	w := l.Worker
	w.attend()
	p := w.pool
	if p == nil {
		return 0
	}
	if w.want.Load() == 0 && !p.hungry() && (w.Stack.stealable() || !p.demand.Load()) {
		return 0
	}
	return 1 + max(0, int(p.sched.free.Load()))
}

// Lend makes the record in the next slot a child that anybody may have, and says by which steps it descends from the
// running job: before it can be seen, which may be at once.
func (l Lender) Lend(r *Record, steps job.Path) {
	w := l.Worker
	r.steps = steps
	w.Spawned(r)
	w.shareAll()
}

// TakeBack takes a child back if it is the newest that has not finished and nobody has it: then it is as if
// it had not been spawned.
func (l Lender) TakeBack(r *Record, id uint64) bool {
	w := l.Worker
	if r.ID != id || l.settleNewest() != r {
		return false
	}
	h := w.Stack.Head - 1
	if r.gone || !w.Stack.claim(h) {
		return false
	}
	r.ID |= abortedBit
	w.Stack.Head = h
	w.lowerFence(h)
	return true
}

// settleNewest takes children of the running frame that came back, or were consumed, off the stack until the
// newest is one that is not here, which it gives; nil if there is none. Those that came back keep their
// results.
func (l Lender) settleNewest() *Record {
	w := l.Worker
	for w.drain(); w.Stack.hasChildren(); {
		h := w.Stack.Head - 1
		switch r := w.Stack.slots[h]; {
		case r.consumed:
			w.popBack(h)
		case r.joined:
			w.Stack.regain(r, h)
			w.Stack.detach(r, h)
			w.popStolen(h)
			w.failures.note(r, &w.Stack, w.ID)
		default:
			return r
		}
	}
	return nil
}

// AwaitAny waits until one of some children has finished, or is the newest and nobody has it, and says which. The
// function gives record and id of one of n.
func (l Lender) AwaitAny(n int, child func(int) (*Record, uint64)) int {
	w := l.Worker
	w.Stack.Counts.syncs++
	for {
		newest := l.settleNewest()
		free := newest != nil && !newest.gone && w.Stack.Head-1 >= uint32(w.Stack.ts.Load()>>32)
		for i := range n {
			if r, id := child(i); r.finished(id) || free && r == newest {
				return i
			}
		}
		if newest == nil {
			panic("satin: a job waits for a child that it does not have")
		}
		if free { // not one of them: it is in the way, and somebody waits for it
			w.step()
		} else {
			w.wait(newest)
		}
	}
}

// DropChild gives a child up: at once if it is the newest or has finished, else when the running job ends.
func (l Lender) DropChild(r *Record, id uint64) {
	w := l.Worker
	newest := l.settleNewest()
	if r.ID == id && r == newest {
		w.drop()
	}
	if r.finished(id) {
		w.Release(r)
	}
}
