package satin

import (
	"sync/atomic"
	"unsafe"

	"github.com/satin-peer/satin/internal/engine"
)

// A Frame is the handle of a running job: its first parameter, through which it spawns children. It is valid
// until the job returns, in the goroutine that runs the job, and must not be kept or handed to another
// goroutine.
//
// A plain call of a function with the same Frame is part of the calling job: what it spawns are children of
// that job, and its Sync and Abort mean all children of that job. A Group's loop means its own children only.
type Frame struct { // the beginning of the engine.Worker that runs the job
	door    unsafe.Pointer
	head, _ uint32
	cur     uint64
}

// These are arrays without elements only if the stack is first in a Worker, and its fields are in the same places.
var (
	_ [0]int = [unsafe.Offsetof(engine.Worker{}.Stack)]int{}
	_ [0]int = [unsafe.Offsetof(Frame{}.door) ^ unsafe.Offsetof(engine.Worker{}.Stack.Door)]int{}
	_ [0]int = [unsafe.Offsetof(Frame{}.head) ^ unsafe.Offsetof(engine.Worker{}.Stack.Head)]int{}
	_ [0]int = [unsafe.Offsetof(Frame{}.cur) ^ unsafe.Offsetof(engine.Worker{}.Stack.Cur)]int{}
)

// worker is who runs the job.
func (f *Frame) worker() *engine.Worker { return (*engine.Worker)(unsafe.Pointer(f)) }

// frameOf is a worker as its jobs see it.
func frameOf(w *engine.Worker) *Frame { return (*Frame)(unsafe.Pointer(w)) }

// Spawn makes a child job fn(arg) and returns at once. The child runs later in this goroutine, at the latest when its
// result is wanted or this job returns; or, if somebody steals it first, on another core or machine. Inside one
// process the argument is handed over by reference: neither side may change what it points to.
//
// Spawn panics if fn is not a registered function. It costs a few nanoseconds and allocates nothing.
func Spawn[A, R any](f *Frame, fn func(*Frame, A) R, arg A) Future[A, R] {
	// The compiler puts this into the functions that call it, which saves a nanosecond, because it costs no more
	// than the 80 that are allowed for that. See "Spawn, and the door" in the engine.
	key := *(*unsafe.Pointer)(unsafe.Pointer(&fn))
	r := *(**engine.Record)(unsafe.Add(atomic.LoadPointer(&f.door), slotSize*f.head))
	if r.Key == key {
		(*task[A, R])(unsafe.Pointer(r)).arg = arg
		f.cur++
		r.ID = f.cur
		f.head++
	} else {
		r = by(spawnSlow, f, key, unsafe.Pointer(&arg))
	}
	return Future[A, R]{r, f.cur}
}

const slotSize = uint32(unsafe.Sizeof(uintptr(0)))

// by calls slow: to call a parameter costs a third of what another call does. What slow is the compiler sees all the
// same, and so that the argument stays on the stack.
func by(slow func(f *Frame, key, arg unsafe.Pointer) *engine.Record, f *Frame, key, arg unsafe.Pointer) *engine.Record {
	return slow(f, key, arg)
}

//go:noinline
func spawnSlow(f *Frame, key, arg unsafe.Pointer) *engine.Record { return f.worker().Spawn(key, arg) }

// SpawnErr is Spawn for a function that may return an error. An error that no Get takes is not lost: it fails
// the job that spawned the child, when that job ends, like a panic that nobody takes. If the job returns an
// error itself, that one counts. Abort, or leaving a Results loop early, gives up the failures of the
// children concerned.
func SpawnErr[A, R any](f *Frame, fn func(*Frame, A) (R, error), arg A) FutureErr[A, R] {
	return FutureErr[A, R]{spawnKey[A, outcome[R]](f.worker(), funcKey(fn), arg)}
}

// spawnKey is Spawn of the function with the given key.
func spawnKey[A, R any](w *engine.Worker, key unsafe.Pointer, arg A) Future[A, R] {
	r := room(w)
	if r.Key != key {
		r = w.Spawn(key, unsafe.Pointer(new(arg))) // a copy: else every argument would be put into memory
		return Future[A, R]{r, r.ID}
	}
	taskOf[A, R](r).arg = arg
	id := w.Stack.Cur + 1
	w.Stack.Cur = id
	r.ID = id
	w.Stack.Head++
	return Future[A, R]{r, id}
}

// room gives the record of the next slot. It is not generic: the compiler inlines into programs what other packages'
// functions do here only if this package inlines it too.
func room(w *engine.Worker) *engine.Record { return w.Stack.NextSlot() }

// Sync waits until all children of the running job have finished. Their results stay for Get and Results.
// It runs children that nobody has stolen; while it waits for stolen ones, other jobs use its core.
func (f *Frame) Sync() { f.worker().Sync() }

// Abort drops all outstanding children of the running job and their descendants, wherever they are
// (programming model, 4.3), and forgets the failures of those that ended. It does not wait: children that
// have not begun never will; those that a thief is running unwind at their next Spawn, Get, Sync or look at
// Aborted. A child that has finished keeps its result; Get on an aborted one panics, Try gives ErrAborted.
// Abort is best effort: a correct program does not depend on it.
func (f *Frame) Abort() { f.worker().Abort() }

// Aborted says whether the running job, or one it descends from, has been aborted: for long leaves that neither
// spawn nor sync. A job that sees it may return anything, also to one that called it in place: whatever comes of either
// reaches nobody, and what they offer to lattices from then on neither. It costs a few nanoseconds.
func (f *Frame) Aborted() bool { return f.worker().Aborted() }

// Deeper says by how many steps the running job should be divided further than usual: 0, nearly always. It is more
// in a job, and in all below it, that somebody else has had for long and that was given to a peer with nothing else
// to do as well: it is too large, so the peers that have nothing to do share it if it spawns where it would
// otherwise compute alone (Javelin 3, "Dynamic Depth Expansion"). It is a hint, which may be lost, and at most 16:
// what the job returns must not depend on it. It takes a nanosecond as long as it is 0 in the process, and then
// time in proportion to the job's depth.
func (f *Frame) Deeper() int { return f.worker().Deeper() }

// ID gives the running job's ID. It takes time in proportion to the job's depth: for messages, not for inner loops.
func (f *Frame) ID() JobID { return f.worker().ID() }
