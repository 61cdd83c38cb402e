package job

import (
	"slices"
	"strconv"
	"strings"
)

// A Path names a job within its run, from the root down: element i is the index, from 1, of the child taken at level
// i. It is the paper's level stamp (programming model, 4.1.1), the same when a job is spawned again. The root's
// path is empty.
type Path []uint32

// String gives the path as "1.3.2", the root's as "root".
func (p Path) String() string {
	if len(p) == 0 {
		return "root"
	}
	var b strings.Builder
	for i, c := range p {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(strconv.FormatUint(uint64(c), 10))
	}
	return b.String()
}

// Above says whether the job at p is an ancestor of the one at q. No job is its own ancestor.
func (p Path) Above(q Path) bool { return len(p) < len(q) && slices.Equal(p, q[:len(p)]) }

// Compare orders paths as a walk through the tree meets them: a job comes before its descendants, and those follow it
// without a gap.
func (p Path) Compare(q Path) int { return slices.Compare(p, q) }

// Common is the length of the path of the last ancestor that p and q share, either of which may be that ancestor.
func (p Path) Common(q Path) int {
	n := 0
	for n < len(p) && n < len(q) && p[n] == q[n] {
		n++
	}
	return n
}

// An ID names a job in all the swarm.
type ID struct {
	Run  RunID
	Path Path
}

// String gives run and path as "6fd1c2a0/1.3.2".
func (id ID) String() string { return id.Run.String() + "/" + id.Path.String() }
