package runlife

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
)

// engine has one worker, which runs leaves, and computes trees of a root with some leaves below it.
type engine struct {
	part     *part
	queue    []*task
	running  *task
	slots    map[steal.Ref]*task // outside
	ref      steal.Ref
	segments map[steal.SegmentID]*task
	orphans  *steal.Orphans
	told     steal.Load
	runs     uint64
}

// task is a job in an engine.
type task struct {
	leaf    int // 0: it is the root
	segment steal.SegmentID
	parent  *task
	again   bool // restarted
	looked  bool // found once
	dead    bool
	pending int
}

func (t *task) doomed() bool { return t.dead || t.parent != nil && t.parent.dead }

// Do takes an order.
func (e *engine) Do(o *port.Order) {
	switch o.Kind {
	case port.Take:
		var jobs []steal.Taken
		for len(jobs) < o.Max && len(e.queue) > 0 && e.queue[0].parent != nil {
			jobs = append(jobs, e.out(e.queue[0]))
			e.queue = e.queue[1:]
		}
		e.happened(port.Event{Kind: port.Taken, Ticket: o.Ticket, Jobs: jobs})
	case port.Run:
		t := &task{segment: o.Segment, again: o.Job.Restarted, looked: true}
		want := rootJob(e.part.p)
		if len(o.Job.Path) > 0 {
			t.leaf = int(o.Job.Path[0])
			want = leafJob(t.leaf, false)
		}
		if o.Job.Identity != want.Identity || e.segments[o.Segment] != nil {
			e.part.m.w.fail("%s: segment %d is run twice, or is another job", e.part.m.id, o.Segment)
		}
		e.runs++
		e.segments[o.Segment] = t
		e.queue = append(e.queue, t)
	case port.PutBack:
		if t := e.back(o.Ref); t != nil {
			t.again = t.again || o.Restarted
			e.queue = slices.Insert(e.queue, 0, t)
		}
	case port.Deliver:
		if t := e.back(o.Ref); t != nil {
			if string(o.Outcome) != string(leafOutcome(t.leaf)) {
				e.part.m.w.fail("%s: leaf %d gets the outcome %q", e.part.m.id, t.leaf, o.Outcome)
			}
			e.happened(port.Event{Kind: port.Delivered, Ref: o.Ref, Good: true})
			e.complete(t)
		}
	case port.Abort:
		if t := e.segments[o.Segment]; t != nil {
			delete(e.segments, o.Segment)
			t.dead = true
			e.sweep()
		}
	case port.LostWork:
		e.orphans = o.Orphans
	}
}

func (e *engine) happened(x port.Event) { e.part.driver.Happened(e.part.now(), x) }

// out gives a leaf away.
func (e *engine) out(t *task) steal.Taken {
	e.ref++
	e.slots[e.ref] = t
	return steal.Taken{Ref: e.ref, Job: leafJob(t.leaf, t.again), Spawned: true}
}

// back is a leaf that was given away; nil if it was dropped meanwhile.
func (e *engine) back(r steal.Ref) *task {
	t := e.slots[r]
	delete(e.slots, r)
	return t
}

// settle gives the worker work, and tells how busy it is, until nothing changes.
func (e *engine) settle() {
	for {
		if n := len(e.queue) - 1; e.running == nil && n >= 0 {
			t := e.queue[n]
			e.queue = e.queue[:n]
			e.begin(t)
			continue
		}
		l := steal.Load{Workers: 1, Runs: e.runs, Queued: len(e.queue)}
		if e.running == nil {
			l.Idle = 1
		}
		if l == e.told {
			return
		}
		e.told = l
		e.happened(port.Event{Kind: port.LoadChanged, Load: l})
	}
}

// begin runs a task: the root spawns its leaves and waits; a leaf takes its time, unless somebody has it already.
func (e *engine) begin(t *task) {
	p := e.part.p
	if t.leaf == 0 {
		t.pending = p.leaves
		for n := range p.leaves {
			e.queue = append(e.queue, &task{leaf: n + 1, parent: t, again: t.again})
		}
		return
	}
	if t.again && !t.looked {
		t.looked = true
		if hit, _ := e.orphans.Look(leafJob(t.leaf, true).Path); hit {
			e.part.m.w.counts.Found++
			e.happened(port.Event{Kind: port.Found, Jobs: []steal.Taken{e.out(t)}})
			return
		}
	}
	if e.running = t; p.killer && t.leaf == 1 {
		return // until the process dies of it
	}
	e.part.later(max(time.Millisecond, p.work/time.Duration(p.leaves)), func() {
		if e.running == t {
			e.running = nil
			e.complete(t)
		}
	})
}

// complete passes the end of a leaf on.
func (e *engine) complete(t *task) {
	out := leafOutcome(t.leaf)
	if up := t.parent; up != nil {
		if up.pending--; up.pending > 0 {
			return
		}
		t, out = up, outcome(e.part.p, e.part.m).Bytes
	}
	if e.segments[t.segment] != t {
		return // it was aborted
	}
	delete(e.segments, t.segment)
	e.happened(port.Event{Kind: port.Finished, Segment: t.segment, Outcome: out, Good: true})
}

// sweep drops what nobody waits for.
func (e *engine) sweep() {
	e.queue = slices.DeleteFunc(e.queue, (*task).doomed)
	if e.running != nil && e.running.doomed() {
		e.running = nil
	}
	var refs []steal.Ref
	for r := range e.slots {
		if e.slots[r].doomed() {
			refs = append(refs, r)
		}
	}
	slices.Sort(refs) // the same seed, the same run
	for _, r := range refs {
		delete(e.slots, r)
	}
	if len(refs) > 0 {
		e.happened(port.Event{Kind: port.Dropped, Refs: refs})
	}
}
