package engine

import (
	"math"
	"unsafe"
)

// A Group is a set of children of a running job whose results are taken in order of completion. It belongs to the
// goroutine that runs the job.
type Group struct {
	Worker *Worker
	ID     uint64 // later groups have higher ones
	Left   int    // children whose results have not been taken
}

// Fork opens a group of children of the running job.
func (w *Worker) Fork() Group {
	if w.groups++; len(w.ready) > 0 {
		w.forked = min(w.forked, w.Stack.Cur)
	}
	return Group{Worker: w, ID: w.groups}
}

// hold adds a finished job of a group. The first time since groups were opened it forgets what nobody can take any
// more, by the least of the frames that opened them: what was there then and has a higher ID. That Fork notes its frame
// and no more keeps it short.
func hold(w *Worker, r *Record) {
	w.ready.cut(w.forked)
	w.forked = noFork
	w.ready.push(r)
}

// noFork cuts nothing.
const noFork = math.MaxUint64

// Ready says that a child of the group, or of a later one, has finished and waits to be taken.
func (g *Group) Ready() bool {
	l := g.Worker.ready
	return len(l) > 0 && l[len(l)-1].group >= g.ID
}

// Overtaken says that children of the group, or any others, may have finished while one ran in place.
func (g *Group) Overtaken() bool { return g.Worker.finished.any() || g.Ready() }

// Finished is said when a child of the group that ran in place was overtaken. It gives a record for the
// child's result, which takes its turn behind those that have finished before: the child's own slot has been
// its children's meanwhile.
func (g *Group) Finished(key unsafe.Pointer) *Record {
	w := g.Worker
	r := w.Stack.take(w.Stack.desc(key))
	r.ID, r.Group = w.Stack.Levels[w.Stack.Cur>>DepthShift+1].Job|doneBit, g.ID
	w.drain()
	hold(w, r)
	g.Left++
	return r
}

// Next runs or awaits children of the running frame until one of the group has finished, which it gives; nil if none
// is left, or Abort dropped them.
func (g *Group) Next() *Record {
	if g.Left == 0 {
		return nil
	}
	w := g.Worker
	w.Stack.Counts.syncs++
	for {
		w.drain()
		if r := w.ready.take(g.ID, w.Stack.Cur); r != nil {
			g.Left--
			return r
		}
		if !w.Stack.hasChildren() {
			g.Left = 0
			return nil
		}
		w.step()
	}
}

// Abort drops the children that are left. Children of the frame that are newer but not of the group are run: their
// results may still be wanted.
func (g *Group) Abort() {
	w := g.Worker
	if g.Left > 0 {
		w.Stack.Counts.aborts++
	}
	for g.Left > 0 {
		if r := w.ready.take(g.ID, w.Stack.Cur); r != nil {
			w.failures.crossOut(r)
			if r.Slot == NoSlot {
				w.Stack.recycle(r)
			} else {
				r.consumed = true
			}
			g.Left--
			continue
		}
		if !w.Stack.hasChildren() {
			break // the frame's Abort was there before
		}
		if r := w.Stack.slots[w.Stack.Head-1]; r.Group != g.ID || r.joined {
			w.step()
		} else if w.drop(); !r.joined {
			g.Left--
		}
	}
	g.Left = 0
}
