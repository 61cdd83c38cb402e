package satin

import (
	"iter"
	"unsafe"
)

// A Group is a set of children of one function whose results are taken in order of completion. It is a small value
// that lives on the spawner's stack, is used only there and must not be copied.
type Group[A, R any] struct {
	w    *worker
	key  unsafe.Pointer
	id   uint64
	left int // children whose results have not been taken
}

// Fork opens a group of children of the running job that call fn.
func Fork[A, R any](f *Frame, fn func(*Frame, A) R) Group[A, R] {
	return fork[A, R](&f.worker, funcKey(fn))
}

func fork[A, R any](w *worker, key unsafe.Pointer) Group[A, R] {
	w.groups++
	return Group[A, R]{w: w, key: key, id: w.groups}
}

// Spawn adds a child fn(arg), as the function Spawn does. It may be called in the body of the group's Results loop.
func (g *Group[A, R]) Spawn(arg A) {
	spawnKey[A, R](g.w, g.key, arg).t.group = g.id
	g.left++
}

// Results yields the result of each child once, in order of completion. The loop's body is the paper's inlet
// (programming model, 3.3): it runs in the spawning job, between children, never while the job itself or
// another inlet of it runs, so it needs no locks. It may spawn more into the group. Leaving the loop
// early aborts the children that have not finished and forgets the results not yet taken.
//
// Children that nobody stole run inside the loop, the newest first: spawn the most promising one last. If a child
// panicked, Results panics with its *JobError.
func (g *Group[A, R]) Results() iter.Seq[R] {
	return func(yield func(R) bool) {
		w := g.w
		for g.left > 0 {
			h, cur, limit := w.head-1, w.cur, w.limit.Load()
			d := cur>>depthShift + 1
			if h >= w.fence && h < limit && w.ready.below(g.id) && d < uint64(len(w.levels)) {
				if r := w.slots[h]; r.group == g.id { // newest, private, of this group: call it here
					t := (*task[A, R])(unsafe.Pointer(r))
					r.group = 0
					w.head = h
					w.levels[d] = level{r.id, cur}
					w.cur = d << depthShift
					w.counts.inline++
					g.left--
					res := t.fn(w.frame(), t.arg)
					if w.head != h {
						w.syncTo(h)
					}
					w.cur = cur
					if !yield(res) {
						g.abort()
						return
					}
					continue
				}
			}
			r := g.next()
			if r == nil {
				w.popConsumed()
				return
			}
			res, err := result[A, R](w, r)
			if err != nil {
				panic(err)
			}
			if !yield(res) {
				g.abort()
				return
			}
		}
	}
}

// Tries is Results that yields a panic in a child as an error, a *JobError that names the child.
func (g *Group[A, R]) Tries() iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for r := g.next(); r != nil; r = g.next() {
			if !yield(result[A, R](g.w, r)) {
				g.abort()
				return
			}
		}
	}
}

// next runs or awaits children until one of the group has finished; nil if none is left.
func (g *Group[A, R]) next() *record {
	w := g.w
	w.counts.syncs++
	for g.left > 0 {
		w.drain()
		if r := w.ready.take(g.id, w.cur>>depthShift); r != nil {
			g.left--
			return r
		}
		if !w.hasChildren() { // f.Abort dropped them
			g.left = 0
			break
		}
		w.step()
	}
	return nil
}

// abort drops the group's children. Children of the frame that are newer but not of the group are run: their results
// may still be wanted.
func (g *Group[A, R]) abort() {
	w := g.w
	for g.left > 0 {
		if r := w.ready.take(g.id, w.cur>>depthShift); r != nil {
			w.crossOut(r)
			if r.slot == noSlot {
				w.recycle(r)
			} else {
				r.consumed = true
			}
			g.left--
			continue
		}
		if !w.hasChildren() {
			break // f.Abort was there before
		}
		if r := w.slots[w.head-1]; r.group != g.id || r.joined {
			w.step()
		} else if w.drop(); !r.joined {
			g.left--
		}
	}
	g.left = 0
}

// A GroupErr is a Group of a function that may return an error.
type GroupErr[A, R any] struct{ g Group[A, outcome[R]] }

// ForkErr is Fork for a function that may return an error.
func ForkErr[A, R any](f *Frame, fn func(*Frame, A) (R, error)) GroupErr[A, R] {
	return GroupErr[A, R]{fork[A, outcome[R]](&f.worker, funcKey(fn))}
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

// result reads and releases the finished record r of a task with result type R.
func result[A, R any](w *worker, r *record) (R, error) {
	t := (*task[A, R])(unsafe.Pointer(r))
	res, fail := t.res, t.fail
	w.release(r)
	return res, fail
}
