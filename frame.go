package satin

import (
	"unsafe"

	"github.com/satin-peer/satin/internal/engine"
)

// A Frame is the handle of a running job: its first parameter, through which it spawns children. It is valid
// until the job returns, in the goroutine that runs the job, and must not be kept or handed to another
// goroutine.
//
// A plain call of a function with the same Frame is part of the calling job: what it spawns are children of
// that job, and its Sync and Abort mean all children of that job. A Group's loop means its own children only.
type Frame struct{ worker engine.Worker }

// frameOf is a worker as its jobs see it.
func frameOf(w *engine.Worker) *Frame { return (*Frame)(unsafe.Pointer(w)) }

// Spawn makes a child job fn(arg) and returns at once. The child runs later in this goroutine, at the latest when its
// result is wanted or this job returns; or, if somebody steals it first, on another core or machine. Inside one
// process the argument is handed over by reference: neither side may change what it points to.
//
// Spawn panics if fn is not a registered function. It costs a few nanoseconds and allocates nothing.
func Spawn[A, R any](f *Frame, fn func(*Frame, A) R, arg A) Future[A, R] {
	w := &f.worker
	r := room(w, funcKey(fn))
	if r == nil {
		return spawnSlow[A, R](w, funcKey(fn), arg)
	}
	t := (*task[A, R])(unsafe.Pointer(r))
	t.arg = arg
	id := w.Cur + 1
	w.Cur = id
	t.ID = id
	w.Head++
	return Future[A, R]{t, id}
}

// SpawnErr is Spawn for a function that may return an error. An error that no Get takes is not lost: it fails
// the job that spawned the child, when that job ends, like a panic that nobody takes. If the job returns an
// error itself, that one counts. Abort, or leaving a Results loop early, gives up the failures of the
// children concerned.
func SpawnErr[A, R any](f *Frame, fn func(*Frame, A) (R, error), arg A) FutureErr[A, R] {
	return FutureErr[A, R]{spawnKey[A, outcome[R]](&f.worker, funcKey(fn), arg)}
}

// spawnKey is Spawn of the function with the given key.
func spawnKey[A, R any](w *engine.Worker, key unsafe.Pointer, arg A) Future[A, R] {
	r := room(w, key)
	if r == nil {
		return spawnSlow[A, R](w, key, arg)
	}
	t := (*task[A, R])(unsafe.Pointer(r))
	t.arg = arg
	id := w.Cur + 1
	w.Cur = id
	t.ID = id
	w.Head++
	return Future[A, R]{t, id}
}

// room gives the record of the next slot, if it is of the function with the given key and nothing else is to be
// done; else nil. It is not generic: the compiler inlines into programs what other packages' functions do here only
// if this package inlines it too.
func room(w *engine.Worker, key unsafe.Pointer) *engine.Record {
	if h := w.Head; h < w.Limit() {
		if r := w.SlotAt(h); r.Key == key {
			return r
		}
	}
	return nil
}

//go:noinline
func spawnSlow[A, R any](w *engine.Worker, key unsafe.Pointer, arg A) Future[A, R] {
	t := taskOf[A, R](w.Room(key))
	t.arg = arg
	w.Spawned(&t.Record)
	return Future[A, R]{t, t.ID}
}

// Sync waits until all children of the running job have finished. Their results stay for Get and Results.
// It runs children that nobody has stolen; while it waits for stolen ones, other jobs use its core.
func (f *Frame) Sync() { f.worker.Sync() }

// Abort drops all outstanding children of the running job and their descendants, wherever they are
// (programming model, 4.3), and forgets the failures of those that ended. It does not wait: children that
// have not begun never will; those that a thief is running unwind at their next Spawn, Get, Sync or look at
// Aborted. A child that has finished keeps its result; Get on an aborted one panics, Try gives ErrAborted.
// Abort is best effort: a correct program does not depend on it.
func (f *Frame) Abort() { f.worker.Abort() }

// Aborted says whether the running job, or one it descends from, has been aborted: for long leaves that neither
// spawn nor sync. A job that sees it may return anything. It costs a few nanoseconds.
func (f *Frame) Aborted() bool { return f.worker.Aborted() }

// ID gives the running job's ID. It takes time in proportion to the job's depth: for messages, not for inner loops.
func (f *Frame) ID() JobID { return f.worker.ID() }
