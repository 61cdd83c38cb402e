package satin

import (
	"sync/atomic"
	"unsafe"
)

// States of a record. The thief moves a record from fresh to stolen when it has found it in its slot, to
// running when it begins, to done when result and fail are final. The owner, or whoever cancels a run, may
// move it from stolen or running to dropped. Whoever loses the compare-and-swap yields to the other: a done
// record can no longer be dropped, a dropped one never becomes done.
//
// An owner that wants to drop a record which it sees stolen from the stack but still fresh waits for the thief's next
// step, a few nanoseconds away: before it, the thief has yet to read the slot, which must not change.
const (
	fresh   uint32 = iota // on its owner's stack, or stolen a moment ago
	stolen                // a thief has taken it from its slot, or it waits in the inbox
	running               // a thief, here or outside, runs it
	done                  // it is on its way to the owner
	dropped               // nobody waits for it any more; the thief owns the record
)

// noSlot marks a record that is on no stack: a root, or one that left the stack with its result.
const noSlot = ^uint32(0) - 1

// doneBit in a record's id says that it ran ahead of its Get and holds the result. abortedBit says that Abort
// dropped it.
const (
	doneBit    = uint64(1) << 63
	abortedBit = uint64(1) << 62
)

// A record is the paper's invocation record (programming model, 4.1.1) without its typed part: one job's place on a
// worker's stack. Records stay in their slots and are reused in place by the next job of the same function.
//
// Fields without a remark belong to the owner, or, between a successful steal and the record's return through the
// owner's finished list, to the thief.
type record struct {
	key   unsafe.Pointer // identity of the function; in a slot that was never used the record's own address
	w     *worker        // owner: the worker whose stack the record is on; nil for a root that came from outside
	id    uint64         // depth<<depthShift | child index, and doneBit or abortedBit
	slot  uint32         // where on the stack; noSlot when it is on none
	state atomic.Uint32  // fresh, stolen, running, done, dropped: anybody

	d        *funcDesc
	group    uint64      // the Group it was spawned by; 0 for a Future
	joined   bool        // owner only: it came back through the finished list
	consumed bool        // owner only: it came back, its result was taken, and it waits to be popped
	gone     bool        // owner only: it left its slot before a thief's turn came (handover.go)
	passed   atomic.Bool // gone, and a thief has stepped over the slot
	fail     error       // a *JobError: the job panicked
	thief    atomic.Pointer[worker]
	next     *record   // in a free list, the finished list or nowhere
	out      *passport // how it came in from, or went to, the outside
}

// A task is a record with its typed part.
type task[A, R any] struct {
	record
	fn  func(*Frame, A) R
	arg A
	res R
}

// finished reports that the job with the given id has run and that its result is here for the owner.
func (r *record) finished(id uint64) bool {
	return r.id == id|doneBit || r.id == id && r.joined && !r.consumed
}

// renew makes a record that came back from a thief usable in its slot again.
func (r *record) renew() {
	r.group, r.joined, r.consumed, r.gone, r.fail, r.out = 0, false, false, false, nil, nil
	r.passed.Store(false)
	r.thief.Store(nil)
	r.state.Store(fresh)
}

// typedOps is what the engine does with a record without knowing its types.
type typedOps interface {
	newRecord() *record
	run(w *worker, r *record) // calls the function and stores the result; may panic
	clear(r *record)          // forgets argument and result, so that they can be collected
	arg(r *record) any
	setArg(r *record, arg any) bool
	result(r *record) (any, error)
	err(r *record) error // the error that the function returned
	setResult(r *record, res any, err error) bool
}

// typed is the typedOps of a function registered by Register.
type typed[A, R any] struct {
	d  *funcDesc
	fn func(*Frame, A) R
}

func (o *typed[A, R]) newRecord() *record {
	t := &task[A, R]{fn: o.fn}
	t.key, t.d, t.slot = o.d.key, o.d, noSlot
	return &t.record
}

func (o *typed[A, R]) run(w *worker, r *record) {
	t := (*task[A, R])(unsafe.Pointer(r))
	t.res = o.fn(w.frame(), t.arg)
}

func (o *typed[A, R]) clear(r *record) {
	t := (*task[A, R])(unsafe.Pointer(r))
	var a A
	var res R
	t.arg, t.res = a, res
}

func (o *typed[A, R]) arg(r *record) any { return (*task[A, R])(unsafe.Pointer(r)).arg }

func (o *typed[A, R]) setArg(r *record, arg any) bool {
	a, ok := arg.(A)
	(*task[A, R])(unsafe.Pointer(r)).arg = a
	return ok
}

func (o *typed[A, R]) result(r *record) (any, error) {
	return (*task[A, R])(unsafe.Pointer(r)).res, nil
}

func (o *typed[A, R]) err(*record) error { return nil }

func (o *typed[A, R]) setResult(r *record, res any, _ error) bool {
	v, ok := res.(R)
	(*task[A, R])(unsafe.Pointer(r)).res = v
	return ok
}

// outcome is the one result of a function that may also return an error.
type outcome[R any] struct {
	res R
	err error
}

// typedErr is the typedOps of a function registered by RegisterErr: records hold an outcome, the outside sees
// two values.
type typedErr[A, R any] struct{ typed[A, outcome[R]] }

func (o *typedErr[A, R]) result(r *record) (any, error) {
	res := (*task[A, outcome[R]])(unsafe.Pointer(r)).res
	return res.res, res.err
}

func (o *typedErr[A, R]) err(r *record) error {
	return (*task[A, outcome[R]])(unsafe.Pointer(r)).res.err
}

func (o *typedErr[A, R]) setResult(r *record, res any, err error) bool {
	v, ok := res.(R)
	(*task[A, outcome[R]])(unsafe.Pointer(r)).res = outcome[R]{v, err}
	return ok || err != nil
}
