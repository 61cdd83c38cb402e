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
	if w.Head >= w.fullLimit() {
		w.growSlots(2 * len(w.slots))
		w.attention() // the new limit has overwritten whatever was said through the old one
	}
	w.attend()
	h := w.Head
	r := w.slots[h]
	if r.Key != key {
		r = w.install(w.desc(key), h)
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
// nothing is called.
func unseen(arg unsafe.Pointer) unsafe.Pointer {
	at := uintptr(arg)
	return *(*unsafe.Pointer)(unsafe.Pointer(&at))
}

// Spawned makes the record in the next slot a child of the running frame.
func (w *Worker) Spawned(r *Record) {
	w.Cur++
	r.ID = w.Cur
	w.Head++
	if w.grain.coarse {
		w.shareAll()
	}
}

// Sync waits until all children of the running job have finished, and runs those that nobody has stolen.
func (w *Worker) Sync() {
	w.Counts.syncs++
	for w.hasChildren() {
		w.step()
	}
}

// Abort drops all outstanding children of the running job and forgets the failures of those that ended.
func (w *Worker) Abort() {
	if w.hasChildren() {
		w.Counts.aborts++
	}
	for w.hasChildren() {
		w.drop()
	}
	w.crossOutAll()
}

// Aborted says whether the running job, or one it descends from, has been aborted.
func (w *Worker) Aborted() bool {
	for _, s := range w.stolen {
		if s.r.state.Load() == dropped {
			return true
		}
	}
	return false
}

// hasChildren says whether the newest slot belongs to the running frame: its children are on top.
func (w *Worker) hasChildren() bool {
	return w.Head > 0 && w.slots[w.Head-1].ID>>DepthShift == w.Cur>>DepthShift
}

// Await brings the job with the given id, whose record is r, to its end; false if it was aborted.
// Whoever has read its result says Release.
func (w *Worker) Await(r *Record, id uint64) bool {
	w.Counts.syncs++
	if r.ID == id|abortedBit || r.ID == id && r.state.Load() == dropped {
		return false
	}
	for !r.finished(id) {
		if r.ID != id || r.consumed || r.Slot >= w.Head || w.slots[r.Slot] != r {
			panic("satin: a result was taken twice, or after its job was aborted, or outside the job that spawned it")
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
	w.crossOut(r)
	if r.Slot == NoSlot { // detached
		w.recycle(r)
		return
	}
	r.consumed = true
	w.PopConsumed()
}

// PopConsumed pops the newest slots of the running frame as long as their jobs came back and were consumed. Slots of
// the frames below it stay: those frames count on their part of the stack.
func (w *Worker) PopConsumed() {
	for w.hasChildren() && w.slots[w.Head-1].consumed {
		w.popBack(w.Head - 1)
	}
}

// popBack pops the newest slot, whose record came back and is of no more use.
func (w *Worker) popBack(h uint32) {
	r := w.slots[h]
	w.regain(r, h)
	w.popStolen(h)
	r.d.Ops.Clear(r)
	r.renew()
	r.ID = 0
}

// Ready says that a child of the group, or of a later one, has finished and waits to be taken.
func (w *Worker) Ready(group uint64) bool {
	return len(w.ready) > 0 && w.ready[len(w.ready)-1].group >= group
}

// Overtaken says that children of the group, or any others, may have finished while one ran in place.
func (w *Worker) Overtaken(group uint64) bool { return w.finished.Load() != nil || w.Ready(group) }

// Finished is said when a child of the group that ran in place was overtaken. It gives a record for the
// child's result, which takes its turn behind those that have finished before: the child's own slot has been
// its children's meanwhile.
func (w *Worker) Finished(key unsafe.Pointer, group uint64) *Record {
	r := w.take(w.desc(key))
	r.ID, r.Group = w.Levels[w.Cur>>DepthShift+1].Job|doneBit, group
	w.drain()
	w.ready.push(r)
	return r
}

// Next runs or awaits children of the running frame until one of the group has finished, which it gives; nil if
// Abort dropped them. There must be one whose result has not been taken.
func (w *Worker) Next(group uint64) *Record {
	w.Counts.syncs++
	for {
		w.drain()
		if r := w.ready.take(group, w.Cur>>DepthShift); r != nil {
			return r
		}
		if !w.hasChildren() {
			return nil
		}
		w.step()
	}
}

// AbortGroup drops the group's children, of which so many are left. Children of the frame that are newer but
// not of the group are run: their results may still be wanted.
func (w *Worker) AbortGroup(group uint64, left int) {
	if left > 0 {
		w.Counts.aborts++
	}
	for left > 0 {
		if r := w.ready.take(group, w.Cur>>DepthShift); r != nil {
			w.crossOut(r)
			if r.Slot == NoSlot {
				w.recycle(r)
			} else {
				r.consumed = true
			}
			left--
			continue
		}
		if !w.hasChildren() {
			break // Abort was there before
		}
		if r := w.slots[w.Head-1]; r.Group != group || r.joined {
			w.step()
		} else if w.drop(); !r.joined {
			left--
		}
	}
}
