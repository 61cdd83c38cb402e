package satin

// A Future stands for the result of one spawned job. It is used in the job that spawned it, once.
type Future[A, R any] struct {
	t  *task[A, R]
	id uint64
}

// Get waits for the job and returns its result: the paper's sync on one child. If nobody has stolen the job, Get
// calls it here. If a thief inside this process has it, the worker helps that thief; if it is further away, other
// jobs use the core until the result is back.
//
// Get panics with a *JobError if the job panicked, and with a clear message if the result was taken before.
func (x Future[A, R]) Get() R {
	t := x.t
	w := t.w
	h := w.head - 1
	cur := w.cur
	d := cur>>depthShift + 1
	levels, limit := w.levels, w.limit.Load()
	if t.slot != h || t.id != x.id || h < w.fence || h >= limit || d >= uint64(len(levels)) {
		return mustGet(x)
	}
	w.head = h
	levels[d] = level{x.id, cur}
	w.cur = d << depthShift
	w.counts.inline++
	r := t.fn(w.frame(), t.arg)
	if w.head != h {
		w.syncTo(h)
	}
	w.cur = cur
	return r
}

// mustGet is getSlow that panics with the error.
//
//go:noinline
func mustGet[A, R any](x Future[A, R]) R {
	res, err := getSlow(x)
	if err != nil {
		panic(err)
	}
	return res
}

// Try is Get that returns a panic in the job as an error, a *JobError that names the job; and ErrAborted for a job
// that was aborted. Use it, not recover, to survive a child's panic.
func (x Future[A, R]) Try() (R, error) { return getSlow(x) }

// getSlow is Get for all cases but the newest, private job. A panic in the job comes as an error.
//
//go:noinline
func getSlow[A, R any](x Future[A, R]) (res R, err error) {
	t := x.t
	w := t.w
	w.counts.syncs++
	if t.id == x.id|abortedBit || t.id == x.id && t.state.Load() == dropped {
		return res, ErrAborted
	}
	w.join(&t.record, x.id)
	res = t.res
	if t.fail != nil {
		err = t.fail
	}
	w.release(&t.record)
	return res, err
}

// A FutureErr stands for the result of a job that may return an error.
type FutureErr[A, R any] struct{ x Future[A, outcome[R]] }

// Get waits like Future.Get and returns the job's result and error. The error is a *JobError that names the job that
// returned it and wraps what it returned; so is the error for a panic in the job. An aborted job gives ErrAborted.
func (x FutureErr[A, R]) Get() (R, error) {
	o, err := getSlow(x.x)
	if err == nil {
		err = o.err
	}
	return o.res, err
}

// join brings the job with the given id, whose record is r, to its end.
func (w *worker) join(r *record, id uint64) {
	for !r.finished(id) {
		if r.id != id || r.consumed || r.slot >= w.head || w.slots[r.slot] != r {
			panic("satin: a result was taken twice, or after its job was aborted, or outside the job that spawned it")
		}
		if r.state.Load() == done && !r.joined {
			w.drain()
		} else {
			w.step()
		}
	}
}

// release gives up a finished record whose result has been read.
func (w *worker) release(r *record) {
	w.crossOut(r)
	if r.slot == noSlot { // detached
		w.recycle(r)
		return
	}
	r.consumed = true
	w.popConsumed()
}

// popConsumed pops the newest slots of the running frame as long as their jobs came back and were consumed. Slots of
// the frames below it stay: those frames count on their part of the stack.
func (w *worker) popConsumed() {
	for w.hasChildren() && w.slots[w.head-1].consumed {
		w.popBack(w.head - 1)
	}
}

// popBack pops the newest slot, whose record came back and is of no more use.
func (w *worker) popBack(h uint32) {
	r := w.slots[h]
	w.regain(r, h)
	w.popStolen(h)
	r.d.ops.clear(r)
	r.renew()
	r.id = 0
}
