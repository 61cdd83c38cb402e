package peer

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

func init() { satin.Register("peertest.chore", chore) }

// chore is the root of the runs of livesTest: so many leaves that take their time, in a tenth of a second each. Its
// engine is a model, and does what this would do.
func chore(_ *satin.Frame, c errand) (sum int) {
	for i := range c.Leaves {
		sum += i * i
	}
	return sum
}

type errand struct {
	Leaves, Tenths, Salt int
	Kills                bool // its process dies in the middle of a leaf
}

// A choreEngine is a model of an engine with one worker.
type choreEngine struct {
	run   job.RunID
	fail  func(format string, args ...any)
	queue []*choreTask
	works *choreTask
	until time.Time
	slots map[steal.Ref]*choreTask
	held  map[steal.SegmentID]*choreTask

	ref     steal.Ref
	orphans *steal.Orphans
	told    steal.Load
	runs    uint64
	events  []port.Event
	dead    atomic.Bool // its process is to die
	bell    chan struct{}
	dies    func()
	closed  atomic.Bool
}

// choreTask is a job in it.
type choreTask struct {
	steal.Job
	segment steal.SegmentID
	parent  *choreTask
	pending int
	looked  bool
	aborted bool
}

func newChoreEngine(run job.RunID, fail func(string, ...any), dies func()) *choreEngine {
	return &choreEngine{run: run, fail: fail, dies: dies, slots: map[steal.Ref]*choreTask{},
		held: map[steal.SegmentID]*choreTask{}, bell: make(chan struct{}, 1)}
}

func (e *choreEngine) kill() {
	e.dead.Store(true)
	select {
	case e.bell <- struct{}{}:
	default:
	}
}

func (e *choreEngine) Bell() <-chan struct{} { return e.bell }
func (e *choreEngine) Close()                { e.closed.Store(true) }

func (e *choreEngine) tell(x port.Event) { e.events = append(e.events, x) }

// Do implements port.Engine.
func (e *choreEngine) Do(o *port.Order) {
	switch o.Kind {
	case port.Take:
		var jobs []steal.Taken
		for len(jobs) < o.Max && len(e.queue) > 0 && e.queue[0].parent != nil {
			jobs = append(jobs, e.out(e.queue[0]))
			e.queue = e.queue[1:]
		}
		e.tell(port.Event{Kind: port.Taken, Ticket: o.Ticket, Jobs: jobs})
	case port.Run:
		t := &choreTask{Job: *o.Job, segment: o.Segment, looked: true}
		e.runs++
		e.held[o.Segment] = t
		e.queue = append(e.queue, t)
	case port.PutBack:
		if t := e.back(o.Ref); t != nil {
			t.Restarted = t.Restarted || o.Restarted
			e.queue = slices.Insert(e.queue, 0, t)
		}
	case port.Deliver:
		if t := e.back(o.Ref); t != nil {
			if string(o.Outcome) != string(choreOutcome(t.leafNumber())) {
				e.fail("leaf %v gets the outcome %q", t.Path, o.Outcome)
			}
			e.tell(port.Event{Kind: port.Delivered, Ref: o.Ref, Good: true})
			e.complete(t)
		}
	case port.Abort:
		if t := e.held[o.Segment]; t != nil {
			delete(e.held, o.Segment)
			t.aborted = true
			e.tell(port.Event{Kind: port.Stopped, Segment: o.Segment})
			e.sweep()
		}
	case port.LostWork:
		e.orphans = o.Orphans
	case port.Count:
		e.tell(port.Event{Kind: port.Counted, Figures: &port.Figures{Whole: true, Executed: e.runs}})
	}
}

func (e *choreEngine) out(t *choreTask) steal.Taken {
	e.ref++
	e.slots[e.ref] = t
	return steal.Taken{Ref: e.ref, Job: t.Job, Spawned: true}
}

func (e *choreEngine) back(r steal.Ref) *choreTask {
	t := e.slots[r]
	delete(e.slots, r)
	return t
}

// Poll implements port.Live.
func (e *choreEngine) Poll() ([]port.Event, time.Duration) {
	if e.dead.Load() {
		e.events = nil
		e.dies()
		return []port.Event{{Kind: port.Died, Text: "it was killed", Good: true}}, 0
	}
	for {
		if e.works != nil && !time.Now().Before(e.until) {
			t := e.works
			if errandOf(t.Arg).Kills {
				e.dead.Store(true)
				return e.Poll()
			}
			e.works = nil
			e.complete(t)
		}
		if n := len(e.queue) - 1; e.works == nil && n >= 0 {
			t := e.queue[n]
			e.queue = e.queue[:n]
			e.begin(t)
			continue
		}
		break
	}
	l := steal.Load{Workers: 1, Runs: e.runs, Queued: len(e.queue)}
	if e.works == nil {
		l.Idle = 1
	}
	if l != e.told {
		e.told = l
		e.tell(port.Event{Kind: port.LoadChanged, Load: l})
	}
	events, again := e.events, time.Duration(0)
	if e.events = nil; e.works != nil {
		again = max(time.Until(e.until), 1)
	}
	return events, again
}

// begin runs a task: the root spawns its leaves and waits, a leaf takes its time, unless somebody has it already.
func (e *choreEngine) begin(t *choreTask) {
	if len(t.Path) == 0 {
		c := errandOf(t.Arg)
		t.pending = c.Leaves
		for i := range c.Leaves {
			e.queue = append(e.queue, &choreTask{Job: leafOf(c, i, t.Restarted), parent: t})
		}
		return
	}
	if t.Restarted && !t.looked && e.orphans != nil {
		t.looked = true
		if hit, _ := e.orphans.Look(t.Path); hit {
			e.tell(port.Event{Kind: port.Found, Jobs: []steal.Taken{e.out(t)}})
			return
		}
	}
	e.works, e.until = t, time.Now().Add(time.Duration(errandOf(t.Arg).Tenths)*time.Second/10)
}

// complete passes the end of a leaf on.
func (e *choreEngine) complete(t *choreTask) {
	out := choreOutcome(t.leafNumber())
	if up := t.parent; up != nil {
		if up.aborted {
			return
		}
		p := steal.Partial{Path: t.Path, Identity: t.Identity, Outcome: out}
		e.tell(port.Event{Kind: port.Kept, Kept: []port.KeptJob{{Partial: p, Segment: up.segment, Job: t.Job}}})
		if up.pending--; up.pending > 0 {
			return
		}
		t, out = up, choreOutcome(chore(nil, errandOf(up.Arg)))
	}
	if e.held[t.segment] == t {
		delete(e.held, t.segment)
		e.tell(port.Event{Kind: port.Finished, Segment: t.segment, Outcome: out, Good: true})
	}
}

// sweep drops what nobody waits for.
func (e *choreEngine) sweep() {
	doomed := func(t *choreTask) bool { return t.aborted || t.parent != nil && t.parent.aborted }
	e.queue = slices.DeleteFunc(e.queue, doomed)
	if e.works != nil && doomed(e.works) {
		e.works = nil
	}
	var refs []steal.Ref
	for r, t := range e.slots {
		if doomed(t) {
			refs = append(refs, r)
			delete(e.slots, r)
		}
	}
	if len(refs) > 0 {
		e.tell(port.Event{Kind: port.Dropped, Refs: refs})
	}
}

func (t *choreTask) leafNumber() int {
	if len(t.Path) == 0 {
		return -1
	}
	i := int(t.Path[0]) - 1
	return i * i
}

func choreFunc() engine.Func {
	f, _ := engine.Lookup("peertest.chore")
	return f
}

// leafOf is the i-th child of a root.
func leafOf(c errand, i int, restarted bool) steal.Job {
	arg, err := wire.Value().Encode(errand{-1, c.Tenths, c.Salt + i, c.Kills})
	if err != nil {
		panic(err)
	}
	return steal.Job{Path: job.Path{uint32(i + 1)}, Function: "peertest.chore", Arg: arg,
		Identity: job.Identify("peertest.chore", arg), Restarted: restarted}
}

func errandOf(arg []byte) (c errand) {
	if err := wire.Value().Decode(arg, &c); err != nil {
		panic(fmt.Sprintf("argument %x: %v", arg, err))
	}
	return c
}

// choreOutcome is an outcome that is a number.
func choreOutcome(n int) []byte {
	b, err := wire.Outcomes().Encode(n)
	if err == nil {
		b, err = wire.Outcomes().Encode(&compute.Outcome{Value: b})
	}
	if err != nil {
		panic(err)
	}
	return b
}
