package satin

import (
	"unsafe"

	"github.com/satin-peer/satin/internal/engine"
)

// Where the types meet the engine
//
// The engine knows records, of which it gives each slot of a worker's stack one; a task is a record with its
// typed part. Types meet records in four places: Spawn fills a task in, Get and Results call it and read its
// result, Run does so with a root, and the engine does the same through Ops with what it runs by itself.

// A task is a job's record with its typed part. The record comes first, so a pointer to one is a pointer to
// the other.
type task[A, R any] struct {
	engine.Record
	fn  func(*Frame, A) R
	arg A
	res R
}

func taskOf[A, R any](r *engine.Record) *task[A, R] { return (*task[A, R])(unsafe.Pointer(r)) }

// funcKey is the identity of a function value: for a top-level function the same in every use.
func funcKey[F any](fn F) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&fn)) }

// typed is the engine.Ops of a function registered by Register.
type typed[A, R any] struct {
	d  *engine.Desc
	fn func(*Frame, A) R
}

func (o *typed[A, R]) NewRecord() *engine.Record {
	t := &task[A, R]{fn: o.fn}
	t.Init(o.d)
	return &t.Record
}

func (o *typed[A, R]) Run(w *engine.Worker, r *engine.Record) {
	t := taskOf[A, R](r)
	t.res = o.fn(frameOf(w), t.arg)
}

func (o *typed[A, R]) Clear(r *engine.Record) {
	t := taskOf[A, R](r)
	var a A
	var res R
	t.arg, t.res = a, res
}

func (o *typed[A, R]) CopyArg(r *engine.Record, arg unsafe.Pointer) { taskOf[A, R](r).arg = *(*A)(arg) }

func (o *typed[A, R]) Arg(r *engine.Record) any { return taskOf[A, R](r).arg }

func (o *typed[A, R]) SetArg(r *engine.Record, arg any) bool {
	a, ok := arg.(A)
	taskOf[A, R](r).arg = a
	return ok
}

func (o *typed[A, R]) Result(r *engine.Record) (any, error) { return taskOf[A, R](r).res, nil }

func (o *typed[A, R]) Err(*engine.Record) error { return nil }

func (o *typed[A, R]) SetResult(r *engine.Record, res any, _ error) bool {
	v, ok := res.(R)
	taskOf[A, R](r).res = v
	return ok
}

// outcome is the one result of a function that may also return an error.
type outcome[R any] struct {
	res R
	err error
}

// typedErr is the engine.Ops of a function registered by RegisterErr: records hold an outcome, the outside sees
// two values.
type typedErr[A, R any] struct{ typed[A, outcome[R]] }

func (o *typedErr[A, R]) Result(r *engine.Record) (any, error) {
	res := taskOf[A, outcome[R]](r).res
	return res.res, res.err
}

func (o *typedErr[A, R]) Err(r *engine.Record) error { return taskOf[A, outcome[R]](r).res.err }

func (o *typedErr[A, R]) SetResult(r *engine.Record, res any, err error) bool {
	v, ok := res.(R)
	taskOf[A, outcome[R]](r).res = outcome[R]{v, err}
	return ok || err != nil
}
