package satin

import "github.com/satin-peer/satin/internal/engine"

// A Future stands for the result of one spawned job. It is used in the job that spawned it, once. A second Get there is
// noticed. What comes of a Future that was kept until that job has ended, or is used in another one, is not promised:
// it may be another job's result.
type Future[A, R any] struct {
	r  *engine.Record
	id uint64
}

// Get waits for the job and returns its result: the paper's sync on one child. If nobody has stolen the job, Get
// calls it here. If a thief inside this process has it, the worker helps that thief; if it is further away, other
// jobs use the core until the result is back.
//
// Get panics with a *JobError if the job panicked, and with a clear message if this job took the result before.
func (x Future[A, R]) Get() R {
	t := taskOf[A, R](x.r)
	w := t.W
	head := w.Stack.Head
	h := head - 1
	cur := w.Stack.Cur
	d := cur>>engine.DepthShift + 1
	levels, limit := w.Stack.Levels, limitOf(w)
	if t.Slot != h || t.ID != x.id || ^head >= limit || d >= uint64(len(levels)) {
		return mustGet(x)
	}
	w.Stack.Head = h
	levels[d] = engine.Level{Job: x.id, From: cur}
	w.Stack.Cur = d << engine.DepthShift
	w.Stack.Counts.Inline++
	r := t.fn(frameOf(w), t.arg)
	if w.Stack.Head != h {
		w.SyncTo(h)
	}
	w.Stack.Cur = cur
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
	w := x.r.W
	if !w.Await(x.r, x.id) {
		return res, ErrAborted
	}
	return take[A, R](w, x.r)
}

// take reads and releases the finished record r of a task with result type R. What failed has no result, wherever it
// ran: a job may return one and fail for a child that it forgot.
func take[A, R any](w *engine.Worker, r *engine.Record) (res R, err error) {
	t := taskOf[A, R](r)
	if err = t.Fail; err == nil {
		res = t.res
	}
	w.Release(r)
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
