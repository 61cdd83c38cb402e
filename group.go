package satin

import (
	"iter"
	"unsafe"

	"github.com/satin-peer/satin/internal/engine"
)

// A Group is a set of children of one function whose results are taken in order of completion. It is a small value
// that lives on the spawner's stack, is used only there and must not be copied.
type Group[A, R any] struct {
	w    *engine.Worker
	key  unsafe.Pointer
	id   uint64
	left int // children whose results have not been taken
}

// Fork opens a group of children of the running job that call fn.
func Fork[A, R any](f *Frame, fn func(*Frame, A) R) Group[A, R] {
	return fork[A, R](f.worker(), funcKey(fn))
}

func fork[A, R any](w *engine.Worker, key unsafe.Pointer) Group[A, R] {
	w.Groups++
	return Group[A, R]{w: w, key: key, id: w.Groups}
}

// Spawn adds a child fn(arg), as the function Spawn does. It may be called in the body of the group's Results loop.
func (g *Group[A, R]) Spawn(arg A) {
	spawnKey[A, R](g.w, g.key, arg).r.Group = g.id
	g.left++
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
		w := g.w
		for g.left > 0 {
			head, cur, limit := w.Head, w.Cur, limitOf(w)
			h := head - 1
			d := cur>>engine.DepthShift + 1
			if ^head < limit && !ready(w, g.id) && d < uint64(len(w.Levels)) {
				if r := slotAt(w, h); r.Group == g.id { // newest, private, of this group: call it here
					t := taskOf[A, R](r)
					r.Group = 0
					w.Head = h
					w.Levels[d] = engine.Level{Job: r.ID, From: cur}
					w.Cur = d << engine.DepthShift
					w.Counts.Inline++
					g.left--
					res := t.fn(frameOf(w), t.arg)
					if w.Head != h {
						w.SyncTo(h)
					}
					w.Cur = cur
					if overtaken(w, g.id) {
						taskOf[A, R](w.Finished(g.key, g.id)).res = res
						g.left++
						continue
					}
					if !yield(res) {
						g.abort()
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
				g.abort()
				return
			}
		}
	}
}

// mustNext gives the result of the next child that has finished; false if none is left. It panics if the child failed.
func (g *Group[A, R]) mustNext() (res R, ok bool) {
	r := g.next()
	if r == nil {
		g.w.PopConsumed()
		return res, false
	}
	res, err := take[A, R](g.w, r)
	if err != nil {
		panic(err)
	}
	return res, true
}

// next gives the next child that has finished; nil if none is left.
func (g *Group[A, R]) next() *engine.Record {
	if g.left == 0 {
		return nil
	}
	r := g.w.Next(g.id)
	if g.left--; r == nil {
		g.left = 0
	}
	return r
}

// abort drops what is left.
func (g *Group[A, R]) abort() {
	g.w.AbortGroup(g.id, g.left)
	g.left = 0
}

// ready and overtaken are not generic: see room.
func slotAt(w *engine.Worker, h uint32) *engine.Record { return w.SlotAt(h) }
func limitOf(w *engine.Worker) uint32                  { return w.Limit() }
func ready(w *engine.Worker, group uint64) bool        { return w.Ready(group) }
func overtaken(w *engine.Worker, group uint64) bool    { return w.Overtaken(group) }

// Tries is Results that yields a panic in a child as an error, a *JobError that names the child.
func (g *Group[A, R]) Tries() iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for r := g.next(); r != nil; r = g.next() {
			if !yield(take[A, R](g.w, r)) {
				g.abort()
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
