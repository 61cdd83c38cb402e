package sim

import (
	"slices"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// engine models how one peer runs jobs: a queue that its workers take the newest job from and thieves the
// oldest, frames that wait for their children without holding a worker, and workers that spend virtual time.
// It stands for the engine at the module's root, whose private stacks and attention words cost too little to
// show at this scale. The workers of one peer share its queue.
type engine struct {
	tree     Tree
	phased   Phased       // the tree, if it is one
	informed Informed     // the same
	where    func() Where // for it
	queue    deque
	frames   []frame
	free     []int32 // frames for reuse
	workers  []worker
	idle     int
	spent    int    // workers whose job nobody wants any more
	held     int    // workers whose core is somebody else's at the moment
	deaf     bool   // Config.Deaf
	runs     uint64 // Run orders received
	given    map[steal.Ref]givenJob
	lastRef  steal.Ref
	revoked  map[steal.Ref]bool // reported as aborted; an order that crossed the report is ignored
	segments map[steal.SegmentID]*segment
	books    books
	children []Node // scratch

	owner    int32          // number of the peer
	run      job.RunID      // for outcomes
	orphans  *steal.Orphans // as of the last LostWork order; nil: nothing to look for
	keep     int64          // Config.KeepAfter
	kept     []port.KeptJob
	keepJobs bool                  // whole
	traced   int32                 // number of the outcast
	nodes    map[job.Identity]Node // audit: of all outcomes that were stored
	shuffled func(again bool) bool // whether a frame spawns its children in another order
	largest  bool                  // Config.Largest
	halts    func(worker int)      // books what a worker has done that is not to end its job
	writing  Writing               // the tree, if jobs of it change what all read,
	wrote    func(Node)            // and who is told of one that has ended
	sharing  *sharer               // nil: nothing is shared
}

// frame is a running invocation: it gathers the results of its children until the last has come.
type frame struct {
	place
	node    Node
	pending int32
	phase   int32  // how often it has spawned again
	job     int32  // of an informed tree
	spawned uint32 // children so far
	used    bool
	any     bool
	dead    bool  // it has what it wants of its children; what is left of them is dropped
	again   bool  // restarted, and so are its children
	deeper  uint8 // by so many steps, and so are its children
	watched bool  // somebody has results of jobs below it: they are looked for before its children begin
	took    int64 // workers' time below it
	own     int64 // of it, for nothing that is kept or was done elsewhere
	sum     Result
	version int32              // of what is shared, when it began
	names   []sharedobj.Digest // what it has handles of, by results
	touched bool               // by the outcast
}

// place says whose child a job is.
type place struct {
	parent  int32    // frame; noFrame for the topmost job of a run or a segment
	index   uint32   // among its siblings, from 1
	segment *segment // of the topmost job of a segment, else nil
}

const noFrame = -1

// segment is what a peer remembers of a job it runs for another.
type segment struct {
	id   steal.SegmentID
	path job.Path
	dead bool // nobody wants it any more
	// alone says that nothing of it leaves the peer.
	alone bool
}

// entry is a job in the queue: spawned, not begun.
type entry struct {
	place
	node  Node
	again bool // given away before, or below such a job: somebody may have its result
	// deeper is by how many steps it is to be divided further.
	deeper uint8
	back   bool // it was itself given away and came back
	found  bool // it was found once and came back: it is not looked for again
	stays  bool // it cannot leave

	version int32 // of what is shared: which one it reads

	cost   int64  // once it has begun
	answer Result // of a leaf of an Informed tree that has begun
}

// worker is one core of the peer.
type worker struct {
	busy  bool
	spent bool // nobody wants its job any more, which it notices at the end
	held  bool // it has no core for its job
	job   entry
	token uint64 // of its leafDone event; older ones are void
	since int64  // when it last began, or changed speed
	left  int64  // work left then, in nanoseconds at speed 1
	took  int64  // nanoseconds spent on the job so far
}

// runs says whether it is at its job.
func (w *worker) runs() bool { return w.busy && !w.held }

// givenJob is a job that was taken to be given away, or whose result was found elsewhere.
type givenJob struct {
	entry
	path     job.Path
	salvaged bool // found
}

func newEngine(tree Tree, workers int) engine {
	phased, _ := tree.(Phased)
	informed, _ := tree.(Informed)
	return engine{
		tree: tree, phased: phased, informed: informed, workers: make([]worker, workers), idle: workers,
		shuffled: func(bool) bool { return false }, halts: func(int) {},
		given: make(map[steal.Ref]givenJob), revoked: make(map[steal.Ref]bool),
		segments: make(map[steal.SegmentID]*segment),
	}
}

// newFrame makes a frame for a job whose children are about to be spawned.
func (g *engine) newFrame(e *entry, children int) int32 {
	if len(g.free) == 0 {
		g.free = append(g.free, int32(len(g.frames)))
		g.frames = append(g.frames, frame{})
	}
	i := g.free[len(g.free)-1]
	g.free = g.free[:len(g.free)-1]
	g.frames[i] = frame{place: e.place, node: e.node, pending: int32(children), spawned: uint32(children),
		used: true, any: g.tree.Any(e.node),
		again:   e.again,
		deeper:  e.deeper,
		version: e.version,
		watched: g.looks(e) && g.below(e.place)}
	g.books.open++
	return i
}

func (g *engine) release(f int32) {
	g.frames[f] = frame{}
	g.free = append(g.free, f)
	g.books.open--
}

// path reads a job's place in the tree off its frames.
func (g *engine) path(at place) job.Path {
	var up job.Path
	for at.segment == nil {
		up = append(up, at.index)
		at = g.frames[at.parent].place
	}
	slices.Reverse(up)
	return slices.Concat(at.segment.path, up)
}

// top is the segment that a job belongs to.
func (g *engine) top(at place) *segment {
	for at.segment == nil {
		at = g.frames[at.parent].place
	}
	return at.segment
}

// doomed says whether nobody waits for a job at this place any more.
func (g *engine) doomed(at place) bool {
	for {
		if at.segment != nil {
			return at.segment.dead
		}
		if at.parent == noFrame {
			return false
		}
		f := &g.frames[at.parent]
		if f.dead {
			return true
		}
		at = f.place
	}
}

// modelFunction is the registered name that modelled jobs travel under.
const modelFunction = "sim.node"

// identify hashes what a modelled job computes.
func identify(arg []byte) job.Identity { return job.Identify(modelFunction, arg) }

// take removes up to most of the oldest jobs from the queue, or of the largest, to be given away. A job that came from
// elsewhere, or a run's root, does not leave before it has begun.
func (g *engine) take(most int) []steal.Taken {
	var taken []steal.Taken
	var stay []entry
	for len(taken) < most && g.queue.len() > 0 {
		if g.largest {
			g.queue.largestFirst()
		}
		e := g.queue.popOldest()
		if e.stays || e.parent == noFrame || g.top(e.place).alone {
			stay = append(stay, e)
			continue
		}
		g.books.given++
		taken = append(taken, g.out(givenJob{entry: e, path: g.path(e.place)}))
	}
	for _, e := range slices.Backward(stay) {
		g.queue.pushOldest(e)
	}
	return taken
}

// out notes that a job is outside from now on.
func (g *engine) out(j givenJob) steal.Taken {
	g.lastRef++
	g.given[g.lastRef] = j
	return steal.Taken{Ref: g.lastRef, Job: jobOf(g.tree, &j.entry, j.path), Spawned: j.parent != noFrame,
		Segment: g.top(j.place).id}
}

// jobOf is a modelled job as it travels.
func jobOf(t Tree, e *entry, p job.Path) steal.Job {
	arg := e.node.encode(t.ArgBytes(e.node))
	return steal.Job{Path: p, Identity: identify(arg), Function: modelFunction, Arg: arg, Restarted: e.again,
		Depth: e.deeper}
}

// shape is the tree as jobs see it that are divided so many steps further.
func (g *engine) shape(steps uint8) Tree {
	if d, ok := g.tree.(Deepening); ok && steps > 0 {
		return d.Deeper(steps)
	}
	return g.tree
}

// close takes a job that was given away off the list, for an order that ends its absence; false if the engine
// has reported it as aborted meanwhile.
func (g *engine) close(ref steal.Ref) (j givenJob, ok bool) {
	if g.revoked[ref] {
		delete(g.revoked, ref) // at most one order may cross
		return givenJob{}, false
	}
	j, ok = g.given[ref]
	if !ok {
		panic(violation(slotOnce, "ref %d is filled or put back, but it is not out", ref))
	}
	delete(g.given, ref)
	return j, true
}

// putBack takes a job back that was given away.
func (g *engine) putBack(o *port.Order) {
	if j, ok := g.close(o.Ref); ok {
		if j.stays = o.Stays; o.Restarted {
			j.again, j.back = true, true
		}
		if g.books.putBack++; j.salvaged {
			j.found = true
		}
		g.queue.pushOldest(j.entry)
	}
}

// enter queues a job that the core wants to be run as the newest: the run's root, or one of another peer.
func (g *engine) enter(n Node, s *segment, j *steal.Job, version int32) {
	if g.segments[s.id] != nil {
		panic(violation(segmentOnce, "segment %d is run twice", s.id))
	}
	g.segments[s.id] = s
	g.books.entered++
	g.queue.pushNewest(entry{node: n, place: place{parent: noFrame, segment: s}, again: j.Restarted,
		deeper: j.Depth, version: version})
}

// spawn begins a job: an inner node's children are queued; a leaf is for a worker to spend its cost on.
func (g *engine) spawn(e *entry) (cost int64, isLeaf bool) {
	var job int32
	if g.informed != nil {
		g.children, e.cost, e.answer, job = g.informed.Begin(g.where(), e.node, g.children[:0])
	} else {
		t := g.shape(e.deeper)
		g.children, e.cost = t.Children(e.node, g.children[:0]), t.Cost(e.node)
	}
	cost = e.cost
	if len(g.children) == 0 {
		if g.informed == nil {
			e.answer = leafResult(g.tree, e.node)
		}
		return cost, true
	}
	f := g.newFrame(e, len(g.children))
	g.frames[f].job = job
	if g.shuffled(e.again) {
		slices.Reverse(g.children)
	}
	for i := range g.children {
		g.queue.pushNewest(entry{node: g.children[i], place: place{parent: f, index: uint32(i) + 1}, again: e.again,
			deeper: e.deeper, version: e.version})
	}
	g.books.spawned += uint64(len(g.children))
	return cost, false
}

// child is a job that has its result.
type child struct {
	place
	node    Node
	result  Result
	took    int64 // workers' time
	own     int64 // as a frame's
	outside bool  // elsewhere, where it is kept if it is worth it
	names   []sharedobj.Digest
	touched bool
}

// complete gives a job's result to its parent, and the parent's to its own if that was all it waited for, and
// so on. It returns the job at the top, in its segment, if that was reached, and the stolen jobs that nobody wants
// any more.
func (g *engine) complete(c child) (done *child, unwanted []steal.Ref) {
	for c.parent != noFrame {
		kept := g.offer(&c)
		f := &g.frames[c.parent]
		f.pending--
		if !f.used || f.pending < 0 {
			panic(violation(slotOnce, "job %x has more results than children", f.node.Key))
		}
		var enough bool
		f.sum, enough = g.added(f, &c)
		f.names = g.sharing.gets(f.names, c.names)
		f.took += c.took
		if !kept {
			f.own += c.own
		}
		f.touched = f.touched || c.touched
		r := c.result
		switch {
		case enough, f.any && r == something:
			if enough {
				r = f.sum
			}
			if f.pending > 0 {
				f.dead = true
				g.books.aborts++
				unwanted = g.sweep(unwanted)
			}
		case f.pending > 0 || g.nextPhase(c.parent):
			return nil, unwanted
		case f.any:
			r = nothing
		default:
			r = f.sum
		}
		up := child{place: f.place, node: f.node, result: r, took: f.took, own: f.own,
			names: g.sharing.returns(f.names), touched: f.touched}
		g.release(c.parent)
		g.ended(up.node, r)
		if g.wrote != nil {
			g.wrote(up.node)
		}
		g.books.executed++
		c = up
	}
	delete(g.segments, c.segment.id)
	return &c, unwanted
}
