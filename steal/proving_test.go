package steal

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
)

// provingCore is a busy owner that believes nobody.
func provingCore(t *testing.T) *Core {
	t.Helper()
	c := masterCore(t, "o", true)
	c.run.Proving = true
	c.Report(time.Second, Load{Workers: 1, Idle: 1})
	c.Report(time.Second, Load{Workers: 1, Runs: 1, Queued: 100})
	return c
}

// stolen lets a peer steal a job.
func stolen(t *testing.T, c *Core, thief PeerID, id RequestID, ref Ref, spawned bool) []Grant {
	t.Helper()
	out := c.Step(c.now, c.from(thief, &Message{Request: &StealRequest{ID: id, Max: 1}}))
	takes := orders(out, Take)
	if len(takes) != 1 {
		t.Fatalf("a request leads to %+v", out)
	}
	out = c.Taken(c.now, takes[0].Ticket, []Taken{{Ref: ref, Spawned: spawned, Job: jobAt(uint32(ref))}})
	for _, m := range out.Messages {
		if m.Reply != nil {
			return m.Reply.Jobs
		}
	}
	t.Fatalf("a taken job leads to %+v", out)
	return nil
}

func (c *Core) from(id PeerID, m *Message) *Message {
	m.Run, m.From, m.To = c.run.ID, living(id), c.self
	return m
}

func (c *Core) result(id PeerID, g *Grant, outcome string) Output {
	return c.Step(c.now, c.from(id, &Message{Result: &Result{Handle: g.Handle, Path: g.Job.Path,
		Identity: g.Job.Identity, Outcome: []byte(outcome)}}))
}

// An outcome is reported and not used until it is proved; further copies come from whom the outside names and from
// here; then it is used once, and who still computes one is told to stop.
func TestUnproved(t *testing.T) {
	c := provingCore(t)
	g := stolen(t, c, "d1", 1, 1, true)
	out := c.result("d1", &g[0], "lie")
	came := orders(out, Prove)
	if len(came) != 1 || came[0].Peer != "d1" || string(came[0].Outcome) != "lie" || came[0].Lost ||
		len(orders(out, Deliver)) != 0 || len(out.Messages) != 1 || out.Messages[0].Ack == nil {
		t.Fatalf("a result leads to %+v", out)
	}
	h := came[0].Handle
	out = c.CopyTo(c.now, h, "d2")
	if len(out.Messages) != 1 || out.Messages[0].To.Peer != "d2" || len(out.Messages[0].Reply.Jobs) != 1 {
		t.Fatalf("a copy leads to %+v", out)
	}
	witness := out.Messages[0].Reply.Jobs[0]
	lost := orders(c.CopyTo(c.now, h, "nobody"), Prove)
	if len(lost) != 1 || !lost[0].Lost || lost[0].Peer != "nobody" {
		t.Errorf("a copy for nobody leads to %+v", lost)
	}
	c.leases.unproved[h].job.Restarted = true
	c.CopyTo(c.now, h, "")
	runs := orders(c.Report(c.now, Load{Workers: 1, Idle: 1, Runs: 1}), RunSegment)
	if len(runs) != 1 || runs[0].Job.Identity != g[0].Job.Identity || !runs[0].Alone || runs[0].Job.Restarted {
		t.Fatalf("here runs %+v", runs)
	}
	own := orders(c.Finished(c.now, runs[0].Segment, []byte("truth"), nil), Prove)
	if len(own) != 1 || own[0].Peer != "" || own[0].Handle != h || string(own[0].Outcome) != "truth" {
		t.Errorf("what was computed here leads to %+v", own)
	}
	out = c.Proved(c.now, h, []byte("truth"), nil)
	used, ends := orders(out, Deliver), orders(out, Proven)
	if len(used) != 1 || used[0].Ref != 1 || string(used[0].Outcome) != "truth" || len(ends) != 1 ||
		ends[0].Handle != h {
		t.Errorf("what is proved leads to %+v", out.Orders)
	}
	out = c.result("d2", &witness, "truth")
	if len(out.Orders) != 0 || c.leases.n != 0 || len(c.leases.unproved) != 0 {
		t.Errorf("a late witness leads to %+v, %d leases", out.Orders, c.leases.n)
	}
	if out := c.Proved(c.now, h, []byte("truth"), nil); len(out.Orders) != 0 {
		t.Errorf("proved twice: %+v", out.Orders)
	}
}

// A witness that is lost is reported, and computed by nobody else; a job that is not wanted needs no proof.
func TestLostWitness(t *testing.T) {
	for name, lose := range map[string]func(c *Core, g *Grant) Output{
		"returned": func(c *Core, g *Grant) Output {
			return c.Step(c.now, c.from("d2", &Message{Return: &Return{Handles: []Handle{g.Handle}}}))
		},
		"gone":   func(c *Core, _ *Grant) Output { return c.Step(c.now, c.from("d2", &Message{Goodbye: &Goodbye{}})) },
		"unsent": func(c *Core, g *Grant) Output { return c.SendFailed(c.now, replyTo(c, g)) },
		"silent": func(c *Core, _ *Grant) Output {
			_, o := c.until(t, time.Minute, Prove)
			return Output{Orders: []Order{o}}
		},
	} {
		c := provingCore(t)
		g := stolen(t, c, "d1", 1, 1, true)
		h := orders(c.result("d1", &g[0], "x"), Prove)[0].Handle
		witness := c.CopyTo(c.now, h, "d2").Messages[0].Reply.Jobs[0]
		out := lose(c, &witness)
		lost := orders(out, Prove)
		if len(lost) != 1 || !lost[0].Lost || lost[0].Peer != "d2" || lost[0].Handle != h ||
			len(c.segments.waiting) > 0 || len(orders(out, PutBack)) > 0 {
			t.Errorf("%s: %+v", name, out.Orders)
		}
		if out := c.Aborted(c.now, 1); len(orders(out, Proven)) != 1 || c.leases.n != 0 {
			t.Errorf("%s: a job that nobody wants leads to %+v", name, out.Orders)
		}
	}
}

func replyTo(c *Core, g *Grant) *Message {
	return &Message{Run: c.run.ID, From: c.self, To: Address{Peer: "d2"}, Reply: &StealReply{Jobs: []Grant{*g}}}
}

// What others say of outcomes in any other way counts for nothing: hand-overs, tuples, answers, jobs for this peer.
func TestProvingBelievesNobody(t *testing.T) {
	c := provingCore(t)
	part := partAt(3, 1)
	out := c.Step(c.now, c.from("d1", &Message{HandOver: &HandOver{ID: 1, Parts: []Partial{part}}}))
	if len(out.Messages) != 1 || !out.Messages[0].HandOverAck.Leaving || len(c.lost.store.index) > 0 {
		t.Errorf("a hand-over leads to %+v", out.Messages)
	}
	c.Hear(c.now, &News{Run: c.run.ID, From: living("d1"), Tuples: []Tuple{{Path: job.Path{2}, Holder: living("d1"),
		Done: true}}})
	if len(c.lost.tuples.index) > 0 {
		t.Error("a tuple is believed")
	}
	out = c.Step(c.now, c.from("d1", &Message{Reply: &StealReply{Jobs: []Grant{{Handle: 7, Job: jobAt(4)}}}}))
	if len(c.segments.byID) != 1 || len(out.Messages) != 1 || out.Messages[0].Return == nil {
		t.Errorf("a job of others leads to %+v", out.Messages)
	}
}

// An owner that has no core for the root leaves it to whoever else is master, but in a run in which nobody else is
// believed: there it waits for one.
func TestProvingNeverGivesWay(t *testing.T) {
	for _, proving := range []bool{false, true} {
		c := masterCore(t, "o", true)
		c.run.Proving = proving
		for at := time.Second; at <= 2*c.cfg.MasterLease; at += time.Second {
			c.Report(at, Load{})
			c.Tick(at)
		}
		news := beaconOf(living("d1"), 1, 1)
		news.Run = c.run.ID
		if c.Hear(c.now, news); (c.segments.root != nil) != proving {
			t.Errorf("proving: %t; it has the root: %t", proving, c.segments.root != nil)
		}
	}
}

// Whoever was caught is nobody: what it has comes back, what it says is not heard, in no life.
func TestShunned(t *testing.T) {
	c := provingCore(t)
	g := stolen(t, c, "d1", 1, 1, true)
	c.Shun(c.now, Outcasts{Caught: "d1"})
	if len(c.partners.find("d1").leases) > 0 || c.leases.n != 1 || len(c.segments.waiting) != 1 {
		t.Errorf("it still has %d jobs, %d wait here", len(c.partners.find("d1").leases), len(c.segments.waiting))
	}
	if out := c.result("d1", &g[0], "x"); len(out.Orders)+len(out.Messages) > 0 {
		t.Errorf("its result leads to %+v", out)
	}
	m := c.from("d1", &Message{Request: &StealRequest{ID: 5, Max: 1}})
	m.From.Inc++
	if out := c.Step(c.now, m); len(out.Orders)+len(out.Messages) > 0 {
		t.Errorf("its next life is served: %+v", out)
	}
}

// Whoever is put out of the swarm loses what it has here: jobs, the outcomes that it has computed, whoever brought
// them, and what it says that it has, also where nothing else is known of it.
func TestExpelled(t *testing.T) {
	c := victimCore(t, LAN(), 1)
	stolen(t, c, "t00", 1, 1, true)
	c.Restore(c.now, []Partial{{Path: job.Path{7}, Outcome: []byte("x"), Voucher: []byte("liar")},
		{Path: job.Path{8}, Outcome: []byte("y"), Voucher: []byte("honest")}})
	lost := c.losses.lost
	for i, id := range []PeerID{"t00", "t01", "stranger"} {
		lost.tuples.put(Tuple{Path: job.Path{20 + uint32(i)}, Holder: Address{Peer: id, Inc: 1}, Done: true})
	}
	if len(lost.tuples.index) != 3 || c.partners.find("stranger") != nil {
		t.Fatalf("%d tuples, and the stranger is a partner", len(lost.tuples.index))
	}
	c.Shun(c.now, Outcasts{Out: func(id PeerID) bool { return id == "t00" || id == "stranger" },
		Theirs: func(voucher []byte) bool { return string(voucher) == "liar" }})
	if n := len(c.partners.find("t00").leases); n > 0 {
		t.Errorf("it still has %d jobs", n)
	}
	if len(lost.store.index) != 1 || string(lost.store.index[0].Voucher) != "honest" {
		t.Errorf("%d outcomes are kept", len(lost.store.index))
	}
	if len(lost.tuples.index) != 1 || lost.tuples.index[0].Holder.Peer != "t01" {
		t.Errorf("%d tuples are known", len(lost.tuples.index))
	}
	c.Restore(c.now, []Partial{{Path: job.Path{9}, Outcome: []byte("x"), Voucher: []byte("liar")}})
	if len(lost.store.index) != 1 {
		t.Error("what comes later is kept")
	}
}

// Whoever is compared gives nothing on.
func TestHoarding(t *testing.T) {
	c := victimCore(t, LAN(), 1)
	c.run.Hoard = true
	out := c.Step(c.now, request(0, 1, time.Minute))
	if len(out.Orders) > 0 || len(out.Messages) != 1 || len(out.Messages[0].Reply.Jobs) > 0 {
		t.Errorf("a request leads to %+v", out)
	}
	c.victim.push("t00", 3)
	if len(c.victim.takes) > 0 {
		t.Error("it pushes")
	}
}

// Whoever is out of the run by its roster gets no job, also if it asks, but what it has brings results. It is no
// member, so it is not pushed to either.
func TestBarredThieves(t *testing.T) {
	c := victimCore(t, LAN(), 2)
	out := c.Step(c.now, request(0, 1, time.Minute))
	if len(out.Orders) != 1 || out.Orders[0].Kind != Take {
		t.Fatalf("a member's request leads to %+v", out)
	}
	c.SetMembers(c.now, NewMembers([]Member{{ID: c.self.Peer, Cluster: c.cluster}}).Bar([]PeerID{"t01"}))
	out = c.Step(c.now, request(1, 1, time.Minute))
	if len(out.Orders) > 0 || len(out.Messages) != 1 || len(out.Messages[0].Reply.Jobs) > 0 {
		t.Errorf("the request of one that is out leads to %+v", out)
	}
}

// Outcomes that are unproved take room of whoever has brought them: where there is none the job is queued again, or a
// witness of it lost that is longer than what it is compared with, and all is given back in the end.
func TestUnprovedTakeRoom(t *testing.T) {
	c := provingCore(t)
	r := &smallRoom{each: 10, from: map[PeerID]int{}}
	c.purse = newPurse(r)
	var came []Order
	for i, want := range []OrderKind{Prove, PutBack} {
		g := stolen(t, c, "d1", RequestID(i+1), Ref(i+1), true)
		out := c.result("d1", &g[0], "outcome")
		if came = append(came, out.Orders...); len(orders(out, want)) != 1 || len(out.Orders) != 1 ||
			len(out.Messages) != 1 || out.Messages[0].Ack == nil {
			t.Fatalf("7 bytes of 10 lead to %+v", out)
		}
	}
	h := came[0].Handle
	for _, outcome := range []string{"too long", "outcome"} {
		for _, id := range []PeerID{"d1", "d2"} {
			witness := c.CopyTo(c.now, h, id).Messages[0].Reply.Jobs[0]
			said := orders(c.result(id, &witness, outcome), Prove)
			if len(said) != 1 || said[0].Lost != (outcome != "outcome" && id == "d1") {
				t.Errorf("%q of %s leads to %+v", outcome, id, said)
			}
		}
	}
	if r.from["d1"] != 14 || r.from["d2"] != 15 {
		t.Errorf("they have %v", r.from)
	}
	c.Proved(c.now, h, []byte("outcome"), nil)
	if r.from["d1"] != 0 || r.from["d2"] != 0 {
		t.Errorf("they still have %v", r.from)
	}
}
