package satin

import (
	"unsafe"

	"github.com/satin-peer/satin/internal/engine"
)

// RegisterGuard gives a registered function a guard, which says whether what a peer knows of the lattices in the
// argument is enough to begin such a job: that a table has been filled, or a bound is at most so much. A job that was
// stolen begins when its guard is true; while it is not, the lattices are compared with those of the peer that
// it was stolen from, and after some time it goes back (Satin paper, sections 3.2 and 4.2). A job that runs
// where it was spawned is not asked: where it was spawned the guard is to hold.
//
// What a job names as constants and versions of objects needs no guard: it is there when the job begins.
//
// guard may read what the argument names, and must not spawn or offer. Call it in an init function, after Register. It
// panics if fn is not registered or has a guard.
func RegisterGuard[A, R any](fn func(*Frame, A) R, guard func(*Frame, A) bool) {
	enterGuard(funcKey(fn), guard)
}

// RegisterGuardErr is RegisterGuard for a function that was registered by RegisterErr.
func RegisterGuardErr[A, R any](fn func(*Frame, A) (R, error), guard func(*Frame, A) bool) {
	enterGuard(funcKey(fn), guard)
}

func enterGuard[A any](key unsafe.Pointer, guard func(*Frame, A) bool) {
	if guard == nil {
		panic("satin: RegisterGuard: the guard is nil")
	}
	engine.EnterGuard(key, nil, func(w *engine.Worker, arg any) (ok, fits bool) {
		a, fits := arg.(A)
		return fits && guard(frameOf(w), a), fits
	})
}
