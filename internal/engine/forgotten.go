package engine

import (
	"slices"

	"github.com/satin-peer/satin/job"
)

// Forgotten failures
//
// A panic or error in a child that no Get, Try or Results takes fails the job that spawned it, when that job
// ends: no failure is lost because somebody forgot to look. A failed child is noted when it leaves the stack
// with its result, and crossed out when the result is taken. What is still noted at a job's end fails it.
//
// Only failures cost anything. The fast paths of Get and Results, which look at nothing at the end of a job
// whose children have all left the stack (after Sync), miss what such a job forgot; it stays noted, and fails
// the nearest enclosing job that call runs. That is no later than a panic would have been caught: all jobs
// between were begun by Get or Results, which would have passed it on, and Try begins jobs by call.

// A failedChild is a child of the running frame, or of one that ran in place above it, that failed.
type failedChild struct {
	r   *Record
	id  uint64 // of the child: its spawner's depth, and its index
	err error  // a *job.Error
}

// noteFailure notes the failure of r, a child of the running frame that has left the stack, if it failed.
func (w *Worker) noteFailure(r *Record) {
	err := r.Fail
	if err == nil && r.d.MayFail {
		err = r.d.Ops.Err(r)
	}
	if err == nil {
		return
	}
	child := failedChild{r, r.ID &^ doneBit, err}
	if _, named := err.(*job.Error); !named { // it came from outside
		id := w.ID()
		id.Path = append(id.Path, childIndex(child.id))
		child.err = &job.Error{ID: id, Func: r.d.Name, Err: err}
	}
	w.failed = append(w.failed, child)
}

// crossOut forgets the failure of r: its result is taken, or was given up.
func (w *Worker) crossOut(r *Record) {
	if len(w.failed) > w.failBase {
		w.failed = slices.DeleteFunc(w.failed, func(c failedChild) bool { return c.r == r })
	}
}

// crossOutAll forgets the failures of the running frame's children.
func (w *Worker) crossOutAll() {
	mine := slices.DeleteFunc(w.failed[w.failBase:],
		func(c failedChild) bool { return c.id>>DepthShift == w.Cur>>DepthShift })
	w.failed = w.failed[:w.failBase+len(mine)]
}

// forgotten gives the failure that ends the running frame, nil if there is none: of its oldest child that failed.
func (w *Worker) forgotten() error {
	var oldest *failedChild
	depth := w.Cur >> DepthShift
	for i := w.failBase; i < len(w.failed); i++ {
		if c := &w.failed[i]; c.id>>DepthShift >= depth && (oldest == nil || c.id < oldest.id) {
			oldest = c
		}
	}
	if oldest == nil {
		return nil
	}
	return oldest.err
}
