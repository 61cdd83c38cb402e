package dashboard

import (
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

// A Segment is a stolen job and everything that its thief ran in place under it. The root job is one, too.
type Segment struct {
	ID, Parent    string        // its own, and that of the segment that it was stolen from; the root's parent is ""
	Job           string        // its path, "1.3.2", or "root"; then Parent is empty, and found by it; or empty
	Peer, Cluster string        // of the thief
	Start, End    time.Duration // since the run began; End only when it has ended
	Spawned       uint64        // jobs, in place, so far
	Executed      uint64
	State         report.SegmentState
	Restarted     bool // the job, or one above it, had been given away before
}

// A Summary adds up segments.
type Summary struct {
	Segments, Spawned, Executed uint64
	Busy                        time.Duration // of the ended ones, from start to end
	States                      [report.SegmentStates]uint64
}

func summaryOf(s Segment) Summary {
	sum := Summary{Segments: 1, Spawned: s.Spawned, Executed: s.Executed}
	if s.State.Ended() {
		sum.Busy = s.End - s.Start
	}
	sum.States[s.State] = 1
	return sum
}

func (s *Summary) add(o Summary) {
	s.Segments += o.Segments
	s.Spawned += o.Spawned
	s.Executed += o.Executed
	s.Busy += o.Busy
	for i, n := range o.States {
		s.States[i] += n
	}
}

func (s *Summary) subtract(o Summary) { // unsigned numbers wrap around, and back
	s.Segments -= o.Segments
	s.Spawned -= o.Spawned
	s.Executed -= o.Executed
	s.Busy -= o.Busy
	for i, n := range o.States {
		s.States[i] -= n
	}
}

// DefaultSegments is how many segments a Tree holds one by one.
const DefaultSegments = 50_000

// pathOfPlace is how many characters of a job's path the place of a segment has room for: longer ones take several.
const pathOfPlace = 256

// places is how many of those that a Tree has a segment takes.
func (s *Segment) places() int { return 1 + len(s.Job)/pathOfPlace }

// A Tree is the steal tree of one run, of bounded size: when there are too many segments, those that ended
// earliest and have none under them are folded into the one that they were stolen from, which from then on
// counts them. Nothing is lost from the sums.
//
// A segment with a Job is under the one whose path is the longest that its own begins with: jobs are spawned
// in place there. If the job ran more than once, that is the last of them that began before the segment did.
//
// Records may come in any order, a child's before its parent's; a segment whose parent is not known is at the
// top until it is. The record of an end is the last one of its segment: others for it are ignored, for as
// long as it is remembered, which is at least as long as as many others as the tree holds are folded. A Tree
// is for one goroutine at a time.
type Tree struct {
	most    int
	nodes   map[string]*node
	top     *node              // of segments with no parent, or none that is known; no segment itself
	waiting map[string][]*node // those at the top whose parent is not known, by its ID
	ended   byEnd              // segments that may be folded
	byJob   map[string][]*node // those with a Job, in the order in which they came
	of      map[string]int     // places that are taken, by peer
	taken   int                // by all
	looked  int                // at siblings of new segments, for the peer whose report is heard

	changes // tree_changes.go

	into, earlier map[string]string // where folded segments went, by ID: the last ones, and as many before them
}

// A node is a segment in its place. There are very many of them: what few have is in sums.
type node struct {
	Segment
	parent     *node
	under      []*node // its children, in the order in which they began
	at         int     // in Tree.ended; -1 if it is not there
	sums       *sums   // nil while all of them are 0
	number     uint64  // names it in changes
	changed    uint64  // the number of its last change
	prev, next *node   // in the order of changes, which begins and ends with Tree.top
}

// Sums are those of a segment that has others under it.
type sums struct {
	folded Summary // of what was folded into it
	under  Summary // of that, and all under it
}

// sum gives the sums of a segment, to be changed.
func (n *node) sum() *sums {
	if n.sums == nil {
		n.sums = &sums{}
	}
	return n.sums
}

// folded adds up what was folded into a segment.
func (n *node) folded() (s Summary) {
	if n.sums != nil {
		s = n.sums.folded
	}
	return s
}

// total adds up a segment, what was folded into it, and all under it.
func (n *node) total() (s Summary) {
	if n.ID != "" { // else it is the top
		s = summaryOf(n.Segment)
	}
	if n.sums != nil {
		s.add(n.sums.under)
	}
	return s
}

// NewTree makes an empty tree that has so many places for segments, at least one.
func NewTree(most int) *Tree {
	top := &node{at: -1, sums: &sums{}}
	top.prev, top.next = top, top
	return &Tree{
		most: max(1, most), nodes: map[string]*node{}, top: top, waiting: map[string][]*node{},
		into: map[string]string{}, byJob: map[string][]*node{}, of: map[string]int{},
	}
}

// maxOfJob is how many segments of one job a Tree holds one by one, and maxOfJobEach those of one peer, who could keep
// out whoever really runs it: correct peers run none as often.
const (
	maxOfJob     = 64
	maxOfJobEach = maxOfJob / 4
)

// ErrTreeFull is that of a new segment when as many as a tree holds are running, or have such under them, or there
// would not be left to others an eighth of what its peer has in the tree, or there are too many of its job.
var ErrTreeFull = errors.New("too many segments are running")

// Put takes the latest record of a segment. report.ErrBadInput if there is no such record, or a segment would be
// under itself; ErrTreeFull.
func (t *Tree) Put(s Segment) error {
	if s.ID == "" || s.State >= report.SegmentStates || s.State.Ended() && s.End < s.Start ||
		s.Job != "" && s.Parent != "" {
		return fmt.Errorf("%w: segment %q in state %d from %v to %v", report.ErrBadInput, s.ID, s.State, s.Start, s.End)
	}
	if n, ok := t.nodes[s.ID]; ok {
		return t.change(n, s)
	}
	if _, ok := t.swallowed(s.ID); ok {
		return nil
	}
	if s.Parent == s.ID || t.isUnder(s.Parent, s.ID) {
		return fmt.Errorf("%w: segment %q is under itself", report.ErrBadInput, s.ID)
	}
	if t.isFull(&s) || !t.fold(t.most-s.places()-t.of[s.Peer]/8) {
		return ErrTreeFull
	}
	n := &node{Segment: s, at: -1}
	t.nodes[s.ID] = n
	t.add(n)
	t.hang(n)
	t.claim(n)
	for _, child := range t.waiting[s.ID] {
		t.unhang(child)
		t.hang(child)
	}
	delete(t.waiting, s.ID)
	t.consider(n)
	return nil
}

// isFull says whether there are as many segments of the job of a new one as may be.
func (t *Tree) isFull(s *Segment) bool {
	its := 0
	for _, n := range t.byJob[s.Job] {
		if n.Peer == s.Peer {
			its++
		}
	}
	return its >= maxOfJobEach || len(t.byJob[s.Job]) >= maxOfJob
}

// change brings a segment up to date.
func (t *Tree) change(n *node, s Segment) error {
	if s.Parent != n.Parent || s.Job != n.Job || s.Start != n.Start || s.Peer != n.Peer {
		return fmt.Errorf("%w: segment %q has another parent, job, start or peer than before", report.ErrBadInput, s.ID)
	}
	if n.State.Ended() && n.State != report.SegmentRestarted || n.Segment == s {
		return nil
	}
	t.unlist(n)
	was := summaryOf(n.Segment)
	n.Segment = s
	t.touch(n)
	n.parent.less(was)
	n.parent.more(summaryOf(s))
	t.consider(n)
	return nil
}

// find gives the segment that an ID means now: itself, or the one it is folded into; nil if neither is known.
func (t *Tree) find(id string) *node {
	for {
		if n, ok := t.nodes[id]; ok {
			return n
		}
		next, ok := t.swallowed(id)
		if !ok {
			return nil
		}
		id = next
	}
}

// isUnder says whether a segment is under another one, which is not known itself but may be waited for.
func (t *Tree) isUnder(id, above string) bool {
	n := t.find(id)
	for ; n != nil && n != t.top; n = n.parent {
		if n.Parent == above {
			return true
		}
	}
	return false
}

// hang puts a node under its parent, or at the top.
func (t *Tree) hang(n *node) {
	n.parent = t.top
	p := t.find(n.Parent)
	if n.Job != "" {
		p = t.above(n)
	}
	if p != nil {
		n.parent = p
		t.unlist(p)
	} else if n.Parent != "" {
		t.waiting[n.Parent] = append(t.waiting[n.Parent], n)
	}
	n.insert()
	t.touch(n)
	n.parent.more(n.total())
}

// more adds to what is under a node, and so under all above it; less subtracts.
func (n *node) more(s Summary) {
	for ; n != nil; n = n.parent {
		n.sum().under.add(s)
	}
}

func (n *node) less(s Summary) {
	for ; n != nil; n = n.parent {
		n.sum().under.subtract(s)
	}
}

// until counts a node's children that began until a time.
func (n *node) until(at time.Duration) int {
	return sort.Search(len(n.under), func(i int) bool { return n.under[i].Start > at })
}

// insert puts a node among its parent's children.
func (n *node) insert() {
	n.parent.under = slices.Insert(n.parent.under, n.parent.until(n.Start), n)
}

// cut takes a node from its parent's children. Its parent may then be one that can be folded: the caller looks.
func (n *node) cut() {
	i := slices.Index(n.parent.under, n)
	n.parent.under = slices.Delete(n.parent.under, i, i+1)
}

// unhang takes a node, with what is under it, from where it is.
func (t *Tree) unhang(n *node) {
	n.cut()
	n.parent.less(n.total())
}

// consider lists a segment as one that may be folded, if it is.
func (t *Tree) consider(n *node) {
	if n != t.top && n.at < 0 && n.State.Ended() && len(n.under) == 0 {
		heap.Push(&t.ended, n)
	}
}

func (t *Tree) unlist(n *node) {
	if n.at >= 0 {
		heap.Remove(&t.ended, n.at)
	}
}

// fold folds segments until at most so many places are taken, and says whether it could.
func (t *Tree) fold(to int) bool {
	for t.taken > to {
		if len(t.ended) == 0 {
			return false
		}
		n := heap.Pop(&t.ended).(*node)
		p := n.parent
		n.cut()
		p.sum().folded.add(n.total())
		delete(t.nodes, n.ID)
		t.drop(n)
		t.touch(p)
		t.stopWaiting(n)
		t.remember(n)
		t.consider(p)
	}
	return true
}

// stopWaiting forgets that a folded segment waits for its parent.
func (t *Tree) stopWaiting(n *node) {
	list := slices.DeleteFunc(t.waiting[n.Parent], func(o *node) bool { return o == n })
	if len(list) == 0 {
		delete(t.waiting, n.Parent)
	} else {
		t.waiting[n.Parent] = list
	}
}

// remember keeps where a segment went, so that late records of it and of its children find it.
func (t *Tree) remember(n *node) {
	if len(t.into) >= t.most {
		t.into, t.earlier = map[string]string{}, t.into
	}
	t.into[n.ID] = n.parent.ID // that of the top is "", which is none
}

// swallowed gives the ID of the segment that one was folded into, if that is remembered.
func (t *Tree) swallowed(id string) (string, bool) {
	into, ok := t.into[id]
	if !ok {
		into, ok = t.earlier[id]
	}
	return into, ok
}

// Total adds up all segments there have been.
func (t *Tree) Total() Summary { return t.top.sums.under }

// Folded counts those that are not held one by one any more.
func (t *Tree) Folded() uint64 { return t.Total().Segments - uint64(len(t.nodes)) }

// byEnd is a heap: the segment that ended earliest is first.
type byEnd []*node

func (h byEnd) Len() int { return len(h) }
func (h byEnd) Less(i, j int) bool {
	if h[i].End != h[j].End {
		return h[i].End < h[j].End
	}
	return h[i].ID < h[j].ID
}
func (h byEnd) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}
func (h *byEnd) Push(x any) {
	n := x.(*node)
	n.at = len(*h)
	*h = append(*h, n)
}
func (h *byEnd) Pop() any {
	last := len(*h) - 1
	n := (*h)[last]
	n.at = -1
	(*h)[last] = nil
	*h = (*h)[:last]
	return n
}
