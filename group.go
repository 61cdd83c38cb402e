package satin

import (
	"iter"
	"unsafe"

	"github.com/satin-peer/satin/internal/engine"
)

// A Group is a set of children of one function whose results are taken in order of completion. It is a small value
// that lives on the spawner's stack, is used only there and must not be copied.
type Group[A, R any] struct {
	of  engine.Group
	key unsafe.Pointer
}

// Fork opens a group of children of the running job that call fn.
func Fork[A, R any](f *Frame, fn func(*Frame, A) R) Group[A, R] {
	return fork[A, R](f.worker(), funcKey(fn))
}

func fork[A, R any](w *engine.Worker, key unsafe.Pointer) Group[A, R] {
	return Group[A, R]{open(w), key}
}

// Spawn adds a child fn(arg), as the function Spawn does. It may be called in the body of the group's Results loop.
func (g *Group[A, R]) Spawn(arg A) {
	spawnKey[A, R](g.of.Worker, g.key, arg).r.Group = g.of.ID
	g.of.Left++
}

// Results yields the result of each child once, in order of completion. The loop's body is the paper's inlet
// (programming model, 3.3): it runs in the spawning job, between children, never while the job itself or
// another inlet of it runs, so it needs no locks. It may spawn more into the group. Leaving the loop
// early aborts the children that have not finished and forgets the results not yet taken.
//
// Children that nobody stole run inside the loop, the newest first: spawn the most promising one last. Those that came
// back from thieves while one ran are yielded before it. If a child panicked, Results panics with its *JobError.
func (g *Group[A, R]) Results() iter.Seq[R] {
	return func(yield func(R) bool) {
		w := g.of.Worker
		for g.of.Left > 0 {
			head, cur, limit := w.Stack.Head, w.Stack.Cur, limitOf(w)
			h := head - 1
			d := cur>>engine.DepthShift + 1
			if ^head < limit && !ready(&g.of) && d < uint64(len(w.Stack.Levels)) {
				if r := slotAt(w, h); r.Group == g.of.ID { // newest, private, of this group: call it here
					t := taskOf[A, R](r)
					r.Group = 0
					w.Stack.Head = h
					w.Stack.Levels[d] = engine.Level{Job: r.ID, From: cur}
					w.Stack.Cur = d << engine.DepthShift
					w.Stack.Counts.Inline++
					g.of.Left--
					res := t.fn(frameOf(w), t.arg)
					if w.Stack.Head != h {
						w.SyncTo(h)
					}
					w.Stack.Cur = cur
					if overtaken(&g.of) {
						taskOf[A, R](g.of.Finished(g.key)).res = res
						continue
					}
					if !yield(res) {
						g.of.Abort()
						return
					}
					continue
				}
			}
			res, ok := g.mustNext()
			if !ok {
				return
			}
			if !yield(res) {
				g.of.Abort()
				return
			}
		}
	}
}

// Abort drops the group's children that have not finished, and forgets the results that were not taken, as leaving a
// Results loop early does: for a job that knows its result before it has begun to read theirs. A job that just
// returns has them run for nothing. Other children of the job are not touched; those newer than the group's are run.
func (g *Group[A, R]) Abort() { g.of.Abort() }

// mustNext gives the result of the next child that has finished; false if none is left. It panics if the child failed.
func (g *Group[A, R]) mustNext() (res R, ok bool) {
	r := g.of.Next()
	if r == nil {
		g.of.Worker.PopConsumed()
		return res, false
	}
	res, err := take[A, R](g.of.Worker, r)
	if err != nil {
		panic(err)
	}
	return res, true
}

// open, ready and overtaken are not generic: see room.
func open(w *engine.Worker) engine.Group               { return w.Fork() }
func slotAt(w *engine.Worker, h uint32) *engine.Record { return w.Stack.SlotAt(h) }
func limitOf(w *engine.Worker) uint32                  { return w.Stack.Limit() }
func ready(g *engine.Group) bool                       { return g.Ready() }
func overtaken(g *engine.Group) bool                   { return g.Overtaken() }

// Tries is Results that yields a panic in a child as an error, a *JobError that names the child.
func (g *Group[A, R]) Tries() iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for r := g.of.Next(); r != nil; r = g.of.Next() {
			if !yield(take[A, R](g.of.Worker, r)) {
				g.of.Abort()
				return
			}
		}
	}
}

// A GroupErr is a Group of a function that may return an error.
type GroupErr[A, R any] struct{ g Group[A, outcome[R]] }

// ForkErr is Fork for a function that may return an error.
func ForkErr[A, R any](f *Frame, fn func(*Frame, A) (R, error)) GroupErr[A, R] {
	return GroupErr[A, R]{fork[A, outcome[R]](f.worker(), funcKey(fn))}
}

// Spawn adds a child fn(arg).
func (g *GroupErr[A, R]) Spawn(arg A) { g.g.Spawn(arg) }

// Results yields each child's result and error once, in order of completion, like Group.Results. Errors and panics
// are *JobError values that name the child.
func (g *GroupErr[A, R]) Results() iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for o, err := range g.g.Tries() {
			if err == nil {
				err = o.err
			}
			if !yield(o.res, err) {
				return
			}
		}
	}
}

// Abort drops the group's children, as Group.Abort does.
func (g *GroupErr[A, R]) Abort() { g.g.Abort() }
