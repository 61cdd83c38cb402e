package steal

import (
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
)

// The outcome of an orphan may come round, from a peer that has never said a word to this one: it is used, and
// acknowledged, if it is of the life that was asked. What is not used is not acknowledged, or its sender forgets it.
func TestFirstWordComesRound(t *testing.T) {
	for name, inc := range map[string]Incarnation{"of the life that was asked": 1, "of another life": 2} {
		c := salvageCore(t, nil)
		tuple := Tuple{Path: job.Path{9}, Identity: pathIdentity(job.Path{9}), Holder: living("f"), Done: true}
		c.Hear(c.now, &News{From: living("f"), Tuples: []Tuple{tuple}})
		out := c.Found(c.now, []Taken{{Ref: 1, Job: jobAt(9)}})
		h := out.Messages[0].Adopt.Jobs[0].Handle
		from := Address{Peer: "f", Inc: inc}
		out = c.Step(c.now, &Message{From: living("g"), To: c.self, Relayed: &Message{From: from, To: c.self,
			Result: &Result{Handle: h, Path: tuple.Path, Identity: tuple.Identity, Outcome: []byte("nine")}}})
		used := slices.ContainsFunc(out.Orders, func(o Order) bool { return o.Kind == Deliver && o.Ref == 1 })
		acked := slices.ContainsFunc(out.Messages, func(m *Message) bool {
			return m.To.Peer == "g" && m.Relayed != nil && m.Relayed.Ack != nil && m.Relayed.To == from
		})
		straight := slices.ContainsFunc(out.Messages, func(m *Message) bool { return m.Ack != nil && m.To == from })
		if want := inc == 1; used != want || acked != want || straight != want {
			t.Errorf("%s: it is used: %v, acknowledged round: %v and straight: %v", name, used, acked, straight)
		}
		if p := c.partners.find("f"); p.inc != 0 {
			t.Errorf("%s: a relay's word has put f into life %d", name, p.inc)
		}
	}
}

// Membership may be faster than gossip: a goodbye counts also of whoever is no member any more, if this peer knows it,
// and other news of such a one do not.
func TestGoodbyeOfFormerMembers(t *testing.T) {
	for _, bye := range []bool{true, false} {
		c := salvageCore(t, nil)
		tuple := Tuple{Path: job.Path{9}, Identity: pathIdentity(job.Path{9}), Holder: living("f"), Done: true}
		c.Hear(c.now, &News{From: living("f"), Tuples: []Tuple{tuple}})
		c.Found(c.now, []Taken{{Ref: 1, Job: jobAt(9)}})
		c.SetMembers(c.now, parseMembers("x: a b c d e, y: g"))
		out := c.Hear(c.now, &News{From: living("f"), Goodbye: bye, Tuples: []Tuple{tuple}})
		out.Orders = append(out.Orders, c.Tick(c.now+c.cfg.HeartbeatEvery).Orders...)
		again := slices.ContainsFunc(out.Orders, func(o Order) bool { return o.Kind == RunSegment })
		if out := c.leases.refs[1]; again != bye || (out.copy != nil) != bye || (out.thief == nil) != bye {
			t.Errorf("goodbye %v: the job is run here: %v", bye, again)
		}
	}
}

// So does that of whoever is not known here any more: what went home to it is told, and what it told is with it.
func TestGoodbyeOfTheForgotten(t *testing.T) {
	c := salvageCore(t, nil)
	c.lost.keep(partAt(10, 9, 1), settled, "f")
	c.Hear(c.now, &News{From: living("f"), Tuples: []Tuple{orphanAt("f", 0, jobAt(8))}})
	c.Hear(c.now, &News{From: living("f"), Goodbye: true})
	if ts := told(later(c, c.cfg.TellEvery)); len(ts) != 1 || !slices.Equal(ts[0].Path, job.Path{9, 1}) {
		t.Errorf("it tells of %+v", ts)
	}
	if n := len(c.lost.tuples.index); n > 0 {
		t.Errorf("it knows of %d jobs there", n)
	}
}

// A job can go round: here b gave it to a, which passed it on. When that thief is gone and b says that the job runs
// there, for others who passed it on, a asks b for it and does not run it again.
func TestOwnerHasTheJob(t *testing.T) {
	c := salvageCore(t, nil)
	j := jobAt(9)
	j.Restarted = true
	out := holdFor(c, "b", 1, j)
	running := out.Orders[0].Segment
	out = c.Hear(c.now, &News{From: living("b"),
		Tuples: []Tuple{{Path: j.Path, Identity: j.Identity, Holder: living("b")}}})
	aborted := slices.ContainsFunc(out.Orders, func(o Order) bool {
		return o.Kind == AbortSegment && o.Segment == running
	})
	if !aborted || len(out.Messages) != 1 || out.Messages[0].Adopt == nil || out.Messages[0].To != living("b") {
		t.Fatalf("a job that the owner has leads to %+v and %+v", out.Orders, out.Messages)
	}
	h := out.Messages[0].Adopt.Jobs[0].Handle
	out = c.Step(c.now, &Message{From: living("b"), To: c.self,
		Result: &Result{Handle: h, Path: j.Path, Identity: j.Identity, Outcome: []byte("nine")}})
	if !slices.ContainsFunc(out.Messages, func(m *Message) bool {
		return m.Result != nil && m.Result.Handle == 1 && string(m.Result.Outcome) == "nine"
	}) {
		t.Errorf("its outcome leads to %+v", out.Messages)
	}
}

// What was to go on from a peer that is gone, or falls silent, is sent again at once, and what goes another way is not.
func TestLostDetours(t *testing.T) {
	for name, gone := range map[string]func(c *Core) Output{
		"the relay leaves": func(c *Core) Output {
			return c.Hear(c.now, &News{From: Address{Peer: "c1", Inc: 4}, Goodbye: true})
		},
		"the relay is in another life": func(c *Core) Output {
			c.Step(c.now, &Message{From: Address{Peer: "c1", Inc: 4}, To: c.self, Request: &StealRequest{ID: 1}})
			return c.Step(c.now, &Message{From: Address{Peer: "c1", Inc: 5}, To: c.self, Request: &StealRequest{ID: 1}})
		},
		"another leaves": func(c *Core) Output {
			c.Step(c.now, &Message{From: Address{Peer: "d1", Inc: 4}, To: c.self, Request: &StealRequest{ID: 1}})
			return c.Hear(c.now, &News{From: Address{Peer: "d1", Inc: 4}, Goodbye: true})
		},
	} {
		script := &Scripted{Via: "c"}
		c := coreAt(t, "a: a1, b: b1, c: c1, d: d1", "a1", script)
		c.load = idleOne
		owner := Address{Peer: "b1", Inc: 1}
		holdFor(c, owner.Peer, 1, jobAt(1))
		if sent := c.Finished(c.now, 1, nil, nil).Messages[0]; sent.Relayed == nil || sent.To.Peer != "c1" {
			t.Fatalf("%s: the result goes to %v", name, sent.To)
		}
		script.Via = ""
		out := gone(c)
		again := slices.ContainsFunc(append(out.Messages, c.Tick(c.now).Messages...), func(m *Message) bool {
			return m.Result != nil && m.To.Peer == "b1"
		})
		if want := name != "another leaves"; again != want {
			t.Errorf("%s: the result is sent again: %v", name, again)
		}
	}
}

// What waits here for an owner that may be gone is left to a job above it that is run again, which comes to it by
// itself: it would be given to a thief, or begun, beside that one. Who gave it is told if it may hear that, and a thief
// that has it is told that it has an orphan.
func TestDoubtedIsLeftToRestarted(t *testing.T) {
	first, again := jobAt(3), jobAt(3)
	again.Restarted = true
	for name, x := range map[string]struct {
		above          Job
		silent, passed bool // the owner is silent, not only in doubt itself; a silent thief has the job
		trusted, left  bool
	}{
		"its owner in doubt":        {above: again, left: true},
		"its owner silent":          {above: again, silent: true, left: true},
		"its thief silent, too":     {above: again, silent: true, passed: true, left: true},
		"its owner there":           {above: again, trusted: true},
		"below what runs at first":  {above: first, silent: true},
		"beside what is run again":  {above: Job{Path: job.Path{4}, Restarted: true}, silent: true},
		"the very job is run again": {above: Job{Path: job.Path{3, 1}, Restarted: true}, silent: true},
	} {
		c := salvageCore(t, nil)
		c.Report(c.now, Load{Workers: 1})
		holdFor(c, "d", 1, jobAt(3, 1))
		s := c.segments.waiting[0]
		if x.passed {
			c.Step(c.now, &Message{From: living("b"), To: c.self, Request: &StealRequest{ID: 1, Max: 1}})
			c.losses.suspectThief(c.partners.find("b"))
		}
		c.partners.find("d").lost, s.doubted = x.silent, !x.trusted
		out := holdFor(c, "e", 1, x.above)
		returned, disowned := false, false
		for _, m := range out.Messages {
			returned = returned || m.Return != nil && m.To.Peer == "d" && m.Return.Handles[0] == 1
			disowned = disowned || m.Disown != nil && m.To.Peer == "b" && !m.Disown.Perhaps
		}
		if returned != (x.left && !x.silent) || disowned != x.passed {
			t.Errorf("%s: it is given back: %v; its thief has an orphan: %v", name, returned, disowned)
		}
		is := func(w *segment) bool { return w.is(s.job.Path, s.job.Identity) }
		waits := slices.ContainsFunc(c.segments.waiting, is)
		if waits == x.left || c.leases.n != 0 {
			t.Errorf("%s: it waits here: %v, and %d are lent", name, waits, c.leases.n)
		}
	}
}

// An orphan takes the place of its job when that is to be run again here for somebody else.
func TestOrphanIsItsJob(t *testing.T) {
	c := salvageCore(t, nil)
	running := orders(holdFor(c, "b", 1, jobAt(3)), RunSegment)[0].Segment
	c.Report(c.now, Load{Workers: 2, Idle: 1, Runs: 1})
	goodbye(c, "b")
	j := jobAt(3)
	j.Restarted = true
	out := holdFor(c, "d", 2, j)
	if s := c.segments.byID[running]; len(c.segments.byID) != 1 || s == nil || s.owner != c.partners.find("d") {
		t.Errorf("of %d segments that of the orphan is %+v after %+v", len(c.segments.byID), s, out.Orders)
	}
}

// A thief that is heard again, and does not list a job, may have it as an orphan: it has given its owner up meanwhile,
// and told everybody so. Then it is asked for it, and the copy ends.
func TestThiefHasAnOrphan(t *testing.T) {
	c := salvageCore(t, nil)
	c.Report(c.now, Load{Workers: 1})
	c.leases.lend(c.partners.meet("c"), &lease{ref: 1, job: jobAt(3)})
	c.partners.find("c").inc = 1
	for c.leases.refs[1].copy == nil {
		later(c, 500*time.Millisecond)
	}
	out := c.Hear(c.now, &News{From: living("c"), Tuples: []Tuple{orphanAt("c", time.Minute, jobAt(3))}})
	if adoptedFrom("c", out) != 0 {
		t.Fatal("it is asked though it may list the job")
	}
	for seq := uint64(1); seq <= uint64(c.cfg.InventoryMisses); seq++ {
		out = c.Step(c.now, &Message{From: living("c"), To: c.self,
			Heartbeat: &Heartbeat{Seq: seq, Seen: c.partners.beats}})
	}
	if adoptedFrom("c", out) == 0 {
		t.Errorf("when it does not list the job it hears %+v", out.Messages)
	}
}

// A segment's own job that the engine has given away before it was begun is nobody's child: when a master steps down,
// its root's children are disowned alone, and an orphan whose job is so away is not adopted.
func TestOwnJobIsAway(t *testing.T) {
	c := salvageCore(t, nil)
	root := &segment{root: true, state: running}
	c.segments.enter(root)
	c.segments.root = root
	holdFor(c, "b", 1, jobAt(3))
	c.Report(c.now, Load{Workers: 1, Queued: 2})
	out := c.Step(c.now, &Message{From: living("c"), To: c.self, Request: &StealRequest{ID: 1, Max: 2}})
	ticket := orders(out, Take)[0].Ticket
	c.Taken(c.now, ticket, []Taken{{Ref: 1, Job: jobAt(3)}, {Ref: 2, Job: jobAt(4), Spawned: true}})
	c.losses.endRoot()
	if c.leases.refs[1] == nil || c.leases.refs[2] != nil {
		t.Errorf("after the root %d leases are left: %+v", c.leases.n, c.leases.refs)
	}
	goodbye(c, "b")
	if j := jobAt(3); len(c.segments.byID) != 1 || c.lost.adoptable(j.Path, j.Identity) != nil {
		t.Errorf("of %d segments one may be adopted", len(c.segments.byID))
	}
}
