package engine

import "unsafe"

// What the programming model needs of a worker: a job's children, from Spawn to the end of their records. All
// of it belongs to the goroutine that runs the job.

// Room gives the slot of the next child of the running frame, with a record of the function with the given
// key: the slow way, when the stack is full, somebody raised the attention word, or the slot's record is of
// another function. The caller puts the argument into it and says Spawned.
//
//go:noinline
func (w *Worker) Room(key unsafe.Pointer) *Record {
	if w.Stack.Head >= w.Stack.fullLimit() {
		w.Stack.growSlots(2 * len(w.Stack.slots))
		w.attention() // the new limit has overwritten whatever was said through the old one
	}
	w.attend()
	h := w.Stack.Head
	r := w.Stack.slots[h]
	if r.Key != key {
		r = w.Stack.install(w.Stack.desc(key), h)
	}
	return r
}

// Spawn makes a child of the running frame that calls the function with the given key: the slow way. The argument
// is copied.
func (w *Worker) Spawn(key, arg unsafe.Pointer) *Record {
	r := w.Room(key)
	r.d.Ops.CopyArg(r, unseen(arg))
	w.Spawned(r)
	return r
}

// unseen hides from the compiler that an argument is read through an interface, for which it would let it escape to
// the heap: CopyArg keeps nothing of where it was. Between the two conversions the stack does not move, since
// nothing is called: no check of pointers either, as the race detector would have there.
//
//go:nocheckptr
func unseen(arg unsafe.Pointer) unsafe.Pointer {
	at := uintptr(arg)
	return *(*unsafe.Pointer)(unsafe.Pointer(&at))
}

// Spawned makes the record in the next slot a child of the running frame.
func (w *Worker) Spawned(r *Record) {
	w.Stack.Cur++
	r.ID = w.Stack.Cur
	w.Stack.Head++
	if w.Stack.coarse {
		w.shareAll()
	}
}

// Sync waits until all children of the running job have finished, and runs those that nobody has stolen.
func (w *Worker) Sync() {
	w.Stack.Counts.syncs++
	for w.Stack.hasChildren() {
		w.step()
	}
}

// Abort drops all outstanding children of the running job and forgets the failures of those that ended.
func (w *Worker) Abort() {
	if w.Stack.hasChildren() {
		w.Stack.Counts.aborts++
	}
	for w.Stack.hasChildren() {
		w.drop()
	}
	w.failures.crossOutOf(&w.Stack)
}

// Aborted says whether the running job, or one it descends from, has been aborted.
func (w *Worker) Aborted() bool { return w.roots.dropped() != nil }

// Await brings the job with the given id, whose record is r, to its end; false if it was aborted.
// Whoever has read its result says Release.
func (w *Worker) Await(r *Record, id uint64) bool {
	w.Stack.Counts.syncs++
	if r.ID == id|abortedBit || r.ID == id && r.state.Load() == dropped {
		return false
	}
	for !r.finished(id) {
		if r.ID != id || r.consumed || r.Slot >= w.Stack.Head || w.Stack.slots[r.Slot] != r {
			panic("satin: a result was taken twice, or outside the job that spawned it")
		}
		if r.state.Load() == done && !r.joined {
			w.drain()
		} else {
			w.step()
		}
	}
	return true
}

// Release gives up a finished record whose result has been read.
func (w *Worker) Release(r *Record) {
	w.failures.crossOut(r)
	if r.Slot == NoSlot { // detached
		w.Stack.recycle(r)
		return
	}
	r.consumed = true
	w.PopConsumed()
}

// PopConsumed pops the newest slots of the running frame as long as their jobs came back and were consumed. Slots of
// the frames below it stay: those frames count on their part of the stack.
func (w *Worker) PopConsumed() {
	for w.Stack.hasChildren() && w.Stack.slots[w.Stack.Head-1].consumed {
		w.popBack(w.Stack.Head - 1)
	}
}

// popBack pops the newest slot, whose record came back and is of no more use.
func (w *Worker) popBack(h uint32) {
	r := w.Stack.slots[h]
	w.Stack.regain(r, h)
	w.popStolen(h)
	r.d.Ops.Clear(r)
	r.renew()
	r.ID = 0
}
