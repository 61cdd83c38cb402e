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
	id  uint64  // of the child: its spawner's depth, and its index
	of  []Level // its spawner: see frame
	err error   // a *job.Error
}

// note notes the failure of r, a child of the running frame of that stack that has left it, if it failed. The function
// says which frame that is.
func (f *failures) note(r *Record, s *stack, running func() job.ID) {
	err := r.Fail
	if err == nil && r.d.MayFail {
		err = r.d.Ops.Err(r)
	}
	if err == nil {
		return
	}
	child := failedChild{r, r.ID &^ doneBit, slices.Clone(f.frame(s)), err}
	if _, named := err.(*job.Error); !named { // it came from outside
		id := running()
		id.Path = append(id.Path, childIndex(child.id))
		child.err = &job.Error{ID: id, Func: r.d.Name, Err: err}
	}
	f.list = append(f.list, child)
}

// failures are those that nobody has taken.
type failures struct {
	list  []failedChild
	base  int    // those from here on are of the frame that call runs, and of those above it
	depth uint64 // of that frame
}

// enter begins a frame of that depth, which leave ends with what enter gave: the failures of frames below count as they
// did.
func (f *failures) enter(depth uint64) (before failures) {
	before = *f
	f.base, f.depth = len(f.list), depth
	return before
}

func (f *failures) leave(before failures) {
	f.list, f.base, f.depth = f.list[:len(before.list)], before.base, before.depth
}

// frame tells the running frame of a stack from others of its depth that Get or Results began, and that have ended: by
// how those were entered that lie above the one that call runs, and it.
func (f *failures) frame(s *stack) []Level { return s.Levels[f.depth+1 : s.Cur>>DepthShift+1] }

func (f *failures) any() bool { return len(f.list) > f.base }

// crossOut forgets the failure of r: its result is taken, or was given up.
func (f *failures) crossOut(r *Record) {
	if f.any() {
		f.list = slices.DeleteFunc(f.list, func(c failedChild) bool { return c.r == r })
	}
}

// crossOutOf forgets the failures of children of the running frame of that stack.
func (f *failures) crossOutOf(s *stack) {
	mine := slices.DeleteFunc(f.list[f.base:], func(c failedChild) bool { return slices.Equal(c.of, f.frame(s)) })
	f.list = f.list[:f.base+len(mine)]
}

// oldest gives the failure that ends the running frame, which has that depth: of its oldest child that failed; nil if
// there is none.
func (f *failures) oldest(depth uint64) error {
	var oldest *failedChild
	for i := f.base; i < len(f.list); i++ {
		if c := &f.list[i]; c.id>>DepthShift >= depth && (oldest == nil || c.id < oldest.id) {
			oldest = c
		}
	}
	if oldest == nil {
		return nil
	}
	return oldest.err
}
