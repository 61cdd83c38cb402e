package engine

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/satin-peer/satin/job"
)

// Job IDs cost nothing until somebody asks. A frame knows its depth and counts its children; levels says for each
// running frame which child of its parent it is. A path is read off from there, down to where the stolen job
// begins, and goes on in the stack it was stolen from.
//
// Reading another worker's levels needs no lock against its owner: as long as a job is outstanding, its ancestors'
// frames do not end, so their levels do not change (deeper ones do, those are other words). The one exception
// is an abort, after which the ancestors may end before the thief has noticed. So a reader holds the mutex of
// paths, and gives up at a record that was dropped; and disown waits, after it dropped a record, until no reader holds
// it. So when a root has ended nobody reads through its entry in the table of levels, and its worker clears that: an
// idle one would hold the job's argument.

// paths is what a pool's workers read each other's paths by.
type paths struct {
	mu     sync.Mutex
	deeper atomic.Bool // a job that is to be divided further has come
}

// ID gives the ID of w's running frame. Only w's own goroutine may call it.
func (w *Worker) ID() job.ID {
	id, _ := w.runningPath()
	return id
}

// runningPath is ID that says whether the ID is whole: not if an ancestor was dropped.
func (w *Worker) runningPath() (id job.ID, ok bool) {
	if w.pool != nil {
		w.pool.paths.mu.Lock()
		defer w.pool.paths.mu.Unlock()
	}
	id, _, ok = w.Stack.idAt(w.Stack.Cur>>DepthShift, nil)
	return id, ok
}

// idOf gives the ID of a stolen job, and whether it descends from a restarted one or is one, if nobody has
// dropped it.
func (p *paths) idOf(r *Record) (id job.ID, restarted, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return r.resolve(nil)
}

// rootOf gives the root that a job descends from, which is stolen or has just ended: a run's or a guest's. nil if
// it, or a job between, was dropped.
func (p *paths) rootOf(r *Record) *Record {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r != nil && r.W != nil {
		if r.state.Load() == dropped {
			return nil
		}
		r = r.W.Stack.rootAt(r.ID &^ (doneBit | abortedBit) >> DepthShift)
	}
	return r
}

// rootAt is the stolen job, or the one that came in, under which the frame at the given depth runs.
func (s *stack) rootAt(depth uint64) *Record {
	t := s.tab.Load()
	for depth > 0 && t.levels[depth].Job != 0 {
		depth--
	}
	return t.roots[depth]
}

// RootName is what the root is called that w's running job descends from: see Job.Root. Only w's own goroutine may call
// it.
func RootName(w *Worker) uint64 {
	if w.pool == nil {
		return 0
	}
	w.pool.paths.mu.Lock()
	r := w.Stack.rootAt(w.Stack.Cur >> DepthShift)
	w.pool.paths.mu.Unlock()
	return w.pool.paths.rootOf(r).name()
}

// name is what a root is called that came in: see Job.Root.
func (r *Record) name() uint64 {
	if r == nil || r.out == nil {
		return 0
	}
	return r.out.root
}

// Deeper is by how many steps w's running job is to be divided further than usual: what the job that came in, of which
// it is a part, was submitted with. Only w's own goroutine may call it.
func (w *Worker) Deeper() int {
	if w.pool == nil || !w.pool.paths.deeper.Load() {
		return 0
	}
	w.pool.paths.mu.Lock()
	defer w.pool.paths.mu.Unlock()
	return int(w.Stack.depthAt(w.Stack.Cur >> DepthShift))
}

// depthOf is the same of a stolen job.
func (p *paths) depthOf(r *Record) uint8 {
	if !p.deeper.Load() {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return r.depth()
}

func (r *Record) depth() uint8 {
	switch {
	case r.W == nil:
		return r.out.depth
	case r.state.Load() == dropped:
		return 0
	}
	return r.W.Stack.depthAt(r.ID &^ abortedBit >> DepthShift)
}

// depthAt is that of the jobs of the worker's frame at the given depth of its stack.
func (s *stack) depthAt(at uint64) uint8 {
	t := s.tab.Load()
	for ; at > 0; at-- {
		if t.levels[at].Job == 0 {
			return t.roots[at].depth()
		}
	}
	return 0
}

func (p *paths) awaitReaders() {
	p.mu.Lock()
	//lint:ignore SA2001 the empty section is the point: readers have left
	p.mu.Unlock()
}

// resolve gives the ID of the job below r by the reversed path tail.
func (r *Record) resolve(tail job.Path) (id job.ID, restarted, ok bool) {
	if r.W == nil {
		slices.Reverse(tail)
		return job.ID{Run: r.out.id.Run, Path: append(slices.Clone(r.out.id.Path), tail...)}, r.restarted(), true
	}
	if r.state.Load() == dropped {
		return job.ID{}, false, false
	}
	id, restarted, ok = r.W.Stack.idAt(r.ID&^abortedBit>>DepthShift, r.stepsUp(tail))
	return id, restarted || r.restarted(), ok
}

// idAt gives the ID of the job below the worker's frame at the given depth by the reversed path tail.
func (s *stack) idAt(depth uint64, tail job.Path) (id job.ID, restarted, ok bool) {
	t := s.tab.Load()
	for d := depth; d > 0; d-- {
		if t.levels[d].Job == 0 {
			return t.roots[d].resolve(tail)
		}
		tail = append(tail, childIndex(t.levels[d].Job))
	}
	slices.Reverse(tail)
	return job.ID{Path: tail}, false, true
}

// stepsUp appends to a reversed path the steps from the job that spawned r down to r: one, but for a lent child.
func (r *Record) stepsUp(tail job.Path) job.Path {
	if r.steps == nil {
		return append(tail, childIndex(r.ID))
	}
	for _, step := range slices.Backward(r.steps) {
		tail = append(tail, step)
	}
	return tail
}

// childIndex gives the last element of a job's path. A frame may have more children than an element can count; such
// a job's path says so by the highest number.
func childIndex(id uint64) uint32 { return uint32(min(id&childMask, 1<<32-1)) }

// Children is how many jobs w's running one has spawned. Only w's own goroutine may call it.
func Children(w *Worker) uint64 { return w.Stack.Cur & childMask }
