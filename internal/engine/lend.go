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
type Lender struct{ *Worker }

// Wanted visits attention if somebody raised the attention word, and says how many jobs of this worker others would
// like to have. It may unwind the job.
func (w Lender) Wanted() int {
	w.attend()
	p := w.pool
	if p == nil {
		return 0
	}
	if w.want.Load() == 0 && !p.hungry() && (w.stealable() || !p.demand.Load()) {
		return 0
	}
	return 1 + max(0, int(p.free.Load()))
}

// Lend makes the record in the next slot a child that anybody may have, and says by which steps it descends from the
// running job: before it can be seen, which may be at once.
func (w Lender) Lend(r *Record, steps job.Path) {
	r.steps = steps
	w.Spawned(r)
	w.shareAll()
}

// TakeBack takes a child back if it is the newest that has not finished and nobody has it: then it is as if
// it had not been spawned.
func (w Lender) TakeBack(r *Record, id uint64) bool {
	if r.ID != id || w.settleNewest() != r {
		return false
	}
	h := w.Head - 1
	if r.gone || !w.claim(h) {
		return false
	}
	r.ID |= abortedBit
	w.Head = h
	w.lowerFence(h)
	w.Counts.recalled++
	return true
}

// settleNewest takes children of the running frame that came back, or were consumed, off the stack until the
// newest is one that is not here, which it gives; nil if there is none. Those that came back keep their
// results.
func (w Lender) settleNewest() *Record {
	for w.drain(); w.hasChildren(); {
		h := w.Head - 1
		switch r := w.slots[h]; {
		case r.consumed:
			w.popBack(h)
		case r.joined:
			w.regain(r, h)
			w.detach(r, h)
			w.popStolen(h)
			w.failures.note(r, w.ID)
		default:
			return r
		}
	}
	return nil
}

// AwaitAny waits until one of some children has finished, or is the newest and nobody has it, and says which. The
// function gives record and id of one of n.
func (w Lender) AwaitAny(n int, child func(int) (*Record, uint64)) int {
	w.Counts.syncs++
	for {
		newest := w.settleNewest()
		free := newest != nil && !newest.gone && w.Head-1 >= uint32(w.ts.Load()>>32)
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
func (w Lender) DropChild(r *Record, id uint64) {
	newest := w.settleNewest()
	if r.ID == id && r == newest {
		w.drop()
	}
	if r.finished(id) {
		w.Release(r)
	}
}
