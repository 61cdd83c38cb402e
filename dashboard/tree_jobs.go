package dashboard

import (
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

// rootJob is the path of the root job, which is empty, as it is written.
const rootJob = "root"

// skew is how much the clocks of peers may differ after what is known of it was taken off.
const skew = 100 * time.Millisecond

// isUnderJob says whether a job is below another one.
func isUnderJob(job, above string) bool {
	if above == rootJob {
		return job != rootJob
	}
	return len(job) > len(above) && job[len(above)] == '.' && strings.HasPrefix(job, above)
}

// above finds the segment that a segment with a Job was stolen from; nil if none is known.
func (t *Tree) above(n *node) *node {
	for job := n.Job; job != rootJob; {
		if i := strings.LastIndexByte(job, '.'); i >= 0 {
			job = job[:i]
		} else {
			job = rootJob
		}
		var last *node
		for p := t.byJob[job]; p != nil; p = p.again {
			if p.Start <= n.Start+skew && (last == nil || p.Start > last.Start) {
				last = p
			}
		}
		if last != nil {
			return last
		}
	}
	return nil
}

// claim moves what came before a segment though it is under it: it is under the same one as the segment, or
// under another of its job.
func (t *Tree) claim(n *node) {
	if n.Job == "" {
		return
	}
	t.claimFrom(n.parent, n)
	for o := t.byJob[n.Job]; o != nil; o = o.again {
		if o != n {
			t.claimFrom(o, n)
		}
	}
}

func (t *Tree) claimFrom(p, n *node) {
	var under []*node
	for c := p.last; c != nil && c.Start+skew >= n.Start; c = c.before { // only what began later is under n
		if c != n && c.Job != "" && isUnderJob(c.Job, n.Job) && t.above(c) == n {
			under = append(under, c)
		}
	}
	for _, c := range under {
		t.unhang(c)
		t.hang(c)
	}
	t.consider(p)
}

// add makes a segment's job known, and drop forgets it.
func (t *Tree) add(n *node) {
	t.last++
	n.number = t.last
	if n.Job == "" {
		return
	}
	first, ok := t.byJob[n.Job]
	if !ok {
		t.byJob[n.Job] = n
		return
	}
	for first.again != nil {
		first = first.again
	}
	first.again = n
}

func (t *Tree) drop(n *node) {
	t.gone(n)
	if n.Job == "" {
		return
	}
	switch first := t.byJob[n.Job]; {
	case first != n:
		for first.again != n {
			first = first.again
		}
		first.again = n.again
	case n.again != nil:
		delete(t.byJob, n.Job) // its key is n's text
		t.byJob[n.again.Job] = n.again
	default:
		delete(t.byJob, n.Job)
	}
	n.again = nil
}

// At lists the segments of a job that are known one by one, in the order they came.
func (t *Tree) At(job string) (list []Segment) {
	for n := t.byJob[job]; n != nil; n = n.again {
		list = append(list, n.Segment)
	}
	return list
}

// Get finds a segment by its ID, if it is known one by one.
func (t *Tree) Get(id string) (Segment, bool) {
	n, ok := t.nodes[id]
	if !ok {
		return Segment{}, false
	}
	return n.Segment, true
}

// Above gives the segment that one was stolen from, if both are known one by one.
func (t *Tree) Above(id string) (Segment, bool) {
	if n, ok := t.nodes[id]; ok && n.parent != t.top {
		return n.parent.Segment, true
	}
	return Segment{}, false
}

// Running lists the segments that have not ended.
func (t *Tree) Running() (list []Segment) {
	if t.Total().States[report.SegmentRunning] == 0 {
		return nil
	}
	for _, n := range t.nodes {
		if !n.State.Ended() {
			list = append(list, n.Segment)
		}
	}
	slices.SortFunc(list, func(a, b Segment) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// Shrink folds what can be until there are at most so many segments, and has the tree hold no more from now on.
func (t *Tree) Shrink(most int) {
	t.most = max(1, min(t.most, most))
	t.fold(t.most)
}
