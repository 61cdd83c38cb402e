package dashboard

import (
	"math"
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

// lastOf finds the segment of a job that began last, until a time; nil if there is none.
func (t *Tree) lastOf(job string, until time.Duration) (last *node) {
	for _, n := range t.byJob[job] {
		if n.Start <= until && (last == nil || n.Start > last.Start) {
			last = n
		}
	}
	return last
}

// above finds the segment that a segment with a Job was stolen from; nil if none is known.
func (t *Tree) above(n *node) *node {
	for job := n.Job; job != rootJob; {
		if i := strings.LastIndexByte(job, '.'); i >= 0 {
			job = job[:i]
		} else {
			job = rootJob
		}
		if last := t.lastOf(job, n.Start+skew); last != nil {
			return last
		}
	}
	return nil
}

// maxLooked is how many children are looked at for what one peer tells of a run, and lookedRate how many more in each
// second. Segments of correct peers come about in the order in which they began, so that few are to be looked at for
// each. What would be claimed after that stays where it is.
const (
	maxLooked  = 1 << 20
	lookedRate = maxLooked / 32
)

// claim moves what came before a segment though it is under it, as it began later, and before the next of its job: it
// is under the same one as the segment, or under the one of its job before it.
func (t *Tree) claim(n *node) {
	if n.Job == "" {
		return
	}
	next := time.Duration(math.MaxInt64)
	for _, o := range t.byJob[n.Job] {
		if o != n && o.Start >= n.Start {
			next = min(next, o.Start)
		}
	}
	t.claimFrom(n.parent, n, next)
	if p := t.lastOf(n.Job, n.Start-1); p != nil {
		t.claimFrom(p, n, next)
	}
}

func (t *Tree) claimFrom(p, n *node, next time.Duration) {
	from, to := p.until(n.Start-skew-1), p.until(next-skew-1)
	if t.looked += to - from; t.looked > maxLooked {
		return
	}
	var moved Summary
	kept := slices.DeleteFunc(p.under[from:to], func(c *node) bool {
		if c.Job == "" || !isUnderJob(c.Job, n.Job) {
			return false
		}
		c.parent = n
		c.insert()
		moved.add(c.total())
		t.touch(c)
		return true
	})
	p.under = slices.Delete(p.under, from+len(kept), to)
	p.less(moved)
	n.more(moved)
	t.consider(p)
}

// add makes a segment's peer and job known, and drop forgets them.
func (t *Tree) add(n *node) {
	t.last++
	n.number = t.last
	t.of[n.Peer] += n.places()
	t.taken += n.places()
	if n.Job != "" {
		t.byJob[n.Job] = append(t.byJob[n.Job], n)
	}
}

func (t *Tree) drop(n *node) {
	t.gone(n)
	t.taken -= n.places()
	if t.of[n.Peer] -= n.places(); t.of[n.Peer] == 0 {
		delete(t.of, n.Peer)
	}
	list := slices.DeleteFunc(t.byJob[n.Job], func(o *node) bool { return o == n })
	if len(list) == 0 {
		delete(t.byJob, n.Job)
	} else {
		t.byJob[n.Job] = list
	}
}

// At lists the segments of a job that are known one by one, in the order they came.
func (t *Tree) At(job string) (list []Segment) {
	for _, n := range t.byJob[job] {
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

// Shrink folds what can be until at most so many places are taken, and has the tree have no more from now on.
func (t *Tree) Shrink(most int) {
	t.most = max(1, min(t.most, most))
	t.fold(t.most)
}
