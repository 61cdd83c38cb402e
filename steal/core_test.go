package steal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal/policy"
)

// victimCore is a busy peer "v" whose engine has jobs, and thieves t00, t01, ... around it.
func victimCore(t *testing.T, cfg Config, thieves int) *Core {
	t.Helper()
	c, err := NewCore(cfg, Run{}, Address{Peer: "v", Inc: 5}, parseMembers(ids("t", thieves)+" v"),
		policy.RandomStealing{}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	c.Report(time.Second, Load{Workers: 1, Queued: 100})
	return c
}

func thiefNo(i int) Address { return Address{Peer: PeerID(fmt.Sprintf("t%02d", i)), Inc: 2} }

func request(i int, id RequestID, patience time.Duration) *Message {
	return &Message{From: thiefNo(i), To: Address{Peer: "v"},
		Request: &StealRequest{ID: id, Max: 1, Patience: patience}}
}

// give lets thief i steal one job with the given ref.
func give(t *testing.T, c *Core, i int, id RequestID, ref Ref) Grant {
	t.Helper()
	out := c.Step(c.now, request(i, id, 0))
	if len(out.Orders) != 1 || out.Orders[0].Kind != Take {
		t.Fatalf("a request leads to %+v", out)
	}
	out = c.Taken(c.now, out.Orders[0].Ticket, []Taken{{Ref: ref,
		Job: Job{Path: job.Path{uint32(ref)}, Identity: job.Identity{byte(ref)}}}})
	if len(out.Messages) != 1 || len(out.Messages[0].Reply.Jobs) != 1 {
		t.Fatalf("a taken job leads to %+v", out)
	}
	return out.Messages[0].Reply.Jobs[0]
}

// A result is used only where handle, thief, path and identity all match; anything else changes nothing but a
// counter.
func TestResultMustMatch(t *testing.T) {
	for name, change := range map[string]func(m *Message){
		"another handle":       func(m *Message) { m.Result.Handle++ },
		"another thief":        func(m *Message) { m.From = thiefNo(1) },
		"another path":         func(m *Message) { m.Result.Path = job.Path{9} },
		"another identity":     func(m *Message) { m.Result.Identity = job.Identity{9} },
		"another run":          func(m *Message) { m.Run = job.RunID{9} },
		"an earlier thief":     func(m *Message) { m.From.Inc-- },
		"for an earlier life":  func(m *Message) { m.To.Inc-- },
		"for a later life":     func(m *Message) { m.To.Inc++ },
		"for another peer":     func(m *Message) { m.To.Peer = "w" },
		"with a second body":   func(m *Message) { m.Ack = &ResultAck{Handle: 1} },
		"from the peer itself": func(m *Message) { m.From = m.To },
	} {
		c := victimCore(t, LAN(), 2)
		g := give(t, c, 0, 1, 1)
		m := &Message{From: thiefNo(0), To: c.self, Result: &Result{Handle: g.Handle, Path: g.Job.Path,
			Identity: g.Job.Identity}}
		wrong := *m
		r := *m.Result
		wrong.Result = &r
		change(&wrong)
		if out := c.Step(c.now, &wrong); len(out.Orders) != 0 || c.leases.n != 1 {
			t.Errorf("%s: the result was used: %+v", name, out.Orders)
		}
		if s := c.Stats(); s.DroppedDuplicate+s.DroppedForeign+s.DroppedMalformed+s.DroppedStale != 1 {
			t.Errorf("%s: it was not counted: %+v", name, s)
		}
		if out := c.Step(c.now, m); len(out.Orders) != 1 || out.Orders[0].Kind != Deliver || out.Orders[0].Ref != 1 {
			t.Errorf("%s: the right result after it leads to %+v", name, out.Orders)
		}
	}
}

// Handles are never used twice, whatever happens to the jobs they stood for.
func TestHandlesAreFresh(t *testing.T) {
	c := victimCore(t, LAN(), 4)
	seen := make(map[Handle]bool)
	for round := range 30 {
		i := round % 4
		g := give(t, c, i, RequestID(round+1), Ref(round+1))
		if seen[g.Handle] {
			t.Fatalf("handle %d was issued twice", g.Handle)
		}
		seen[g.Handle] = true
		switch round % 3 {
		case 0:
			c.Step(c.now, &Message{From: thiefNo(i), To: c.self,
				Result: &Result{Handle: g.Handle, Path: g.Job.Path, Identity: g.Job.Identity}})
		case 1:
			c.Aborted(c.now, Ref(round+1))
		case 2:
			c.Step(c.now, &Message{From: thiefNo(i), To: c.self, Return: &Return{Handles: []Handle{g.Handle}}})
		}
		if c.leases.n != 0 {
			t.Fatalf("round %d leaves %d leases", round, c.leases.n)
		}
	}
}

// Tables stay within their bounds, and what does not fit is answered, not forgotten.
func TestBounds(t *testing.T) {
	cfg := LAN()
	cfg.MaxAsks, cfg.MaxLeases, cfg.MaxPartners = 3, 5, 8
	c := victimCore(t, cfg, 40)
	for i := range 6 { // patient thieves, and an engine that does not answer
		c.Step(c.now, request(i, 1, time.Second))
	}
	if len(c.victim.asks)+len(c.victim.takes) != 3 {
		t.Errorf("%d requests wait, at most 3 may", len(c.victim.asks)+len(c.victim.takes))
	}
	if got := c.Stats().RequestsRefused; got != 3 {
		t.Errorf("%d requests were refused, want 3", got)
	}
	for len(c.victim.takes) > 0 {
		c.Taken(c.now, Ticket(c.victim.takes[0].ID), nil)
	}
	c.victim.asks = nil
	for i := range 5 {
		give(t, c, i, 2, Ref(i+1))
	}
	if out := c.Step(c.now, request(5, 3, 0)); len(out.Orders) != 0 || len(out.Messages) != 1 ||
		len(out.Messages[0].Reply.Jobs) != 0 {
		t.Errorf("with all leases used, a request leads to %+v", out)
	}
	for i := range 40 {
		c.Step(c.now, request(i, 4, 0))
		if len(c.partners.list) > 8 || len(c.partners.index) != len(c.partners.list) {
			t.Fatalf("%d peers are known, at most 8 may be", len(c.partners.list))
		}
	}
	for i := range 5 { // those with leases must not have been forgotten
		if p := c.partners.find(thiefNo(i).Peer); p == nil || len(p.leases) != 1 {
			t.Errorf("thief %d was forgotten with its lease", i)
		}
	}
}

// When the table is full of partners, strangers are still answered as far as they must be.
func TestStrangersAreAnswered(t *testing.T) {
	cfg := LAN()
	cfg.MaxPartners = 1
	c := victimCore(t, cfg, 3)
	give(t, c, 0, 1, 1)
	for _, m := range []*Message{
		request(1, 7, 0),
		{From: thiefNo(1), To: c.self, Result: &Result{Handle: 3}},
		{From: thiefNo(1), To: c.self, Reply: &StealReply{ID: 1, Jobs: []Grant{{Handle: 4}}}},
	} {
		out := c.Step(c.now, m)
		if len(out.Messages) != 1 {
			t.Fatalf("a stranger's %v is answered with %d messages", m.Kind(), len(out.Messages))
		}
		a := out.Messages[0]
		if err := a.Validate(); err != nil || a.To != thiefNo(1) {
			t.Errorf("a stranger's %v is answered with %+v (%v)", m.Kind(), a, err)
		}
	}
	if out := c.Step(c.now, &Message{From: thiefNo(1), To: c.self,
		Heartbeat: &Heartbeat{Seq: 1}}); len(out.Messages) != 0 {
		t.Errorf("a stranger's heartbeat is answered with %d messages", len(out.Messages))
	}
}

// A job too large to travel stays where it is; a reply is kept within its bound.
func TestReplyBytesAreBounded(t *testing.T) {
	cfg := LAN()
	cfg.MaxReplyBytes, cfg.MaxJobBytes = 1000, 2000
	c := victimCore(t, cfg, 2)
	m := request(0, 1, 0)
	m.Request.Max = 9
	out := c.Step(c.now, m)
	var jobs []Taken
	for i, n := range []int{3000, 1500, 600, 600} {
		jobs = append(jobs, Taken{Ref: Ref(i + 1), Job: Job{Arg: make([]byte, n)}})
	}
	out = c.Taken(c.now, out.Orders[0].Ticket, jobs)
	if len(out.Messages) != 1 || len(out.Messages[0].Reply.Jobs) != 1 ||
		len(out.Messages[0].Reply.Jobs[0].Job.Arg) != 1500 {
		t.Errorf("the reply is not the one job that fits")
	}
	back := map[Ref]bool{}
	for _, o := range out.Orders {
		if o.Kind == PutBack && !o.Restarted {
			back[o.Ref] = o.Stays
		}
	}
	if fmt.Sprint(back) != "map[1:true 3:false 4:false]" || c.Stats().PutBackTooLarge != 1 {
		t.Errorf("put back: %v, too large: %d", back, c.Stats().PutBackTooLarge)
	}
}

// A job that is too large is in nobody's way: the engine is asked for another one, but not for ever.
func TestTooLargeAreInNobodysWay(t *testing.T) {
	cfg := LAN()
	cfg.MaxJobBytes = 2000
	c := victimCore(t, cfg, 1)
	out := c.Step(c.now, request(0, 1, 0))
	for ref := Ref(1); len(out.Messages) == 0; ref++ {
		if len(out.Orders) == 0 || ref > 2*maxVain {
			t.Fatalf("after %d jobs that are too large there is %+v", ref, out)
		}
		take := out.Orders[len(out.Orders)-1]
		out = c.Taken(c.now, take.Ticket, []Taken{{Ref: ref, Job: Job{Arg: make([]byte, 3000)}}})
		if back := out.Orders[0]; back.Kind != PutBack || back.Ref != ref || !back.Stays {
			t.Fatalf("job %d: %+v", ref, back)
		}
	}
	if n := c.Stats().PutBackTooLarge; n != maxVain+1 || len(out.Messages[0].Reply.Jobs) != 0 ||
		len(c.victim.takes) != 0 {
		t.Errorf("%d are too large, then comes %+v", n, out.Messages[0].Reply)
	}
}

// A core that has left is deaf, and an engine that still hands it jobs gets them back.
func TestAfterLeaving(t *testing.T) {
	c := victimCore(t, LAN(), 1)
	out := c.Step(c.now, request(0, 1, 0))
	ticket := out.Orders[0].Ticket
	if out = c.Leave(c.now, 0); len(out.Messages) != 1 || out.Messages[0].Goodbye == nil {
		t.Errorf("leaving says %+v", out.Messages)
	}
	if out = c.Taken(c.now, ticket, []Taken{{Ref: 1}}); len(out.Orders) != 1 || out.Orders[0].Kind != PutBack {
		t.Errorf("a late job leads to %+v", out.Orders)
	}
	if out = c.Step(c.now, request(0, 2, 0)); len(out.Orders)+len(out.Messages) != 0 {
		t.Errorf("a late request leads to %+v", out)
	}
	if _, ok := c.Next(); ok {
		t.Error("it still wants to be ticked")
	}
}

// A clock that jumps back changes nothing, and time goes on from where it was.
func TestClockJumpsBack(t *testing.T) {
	c := victimCore(t, LAN(), 1)
	give(t, c, 0, 1, 1)
	c.Tick(2 * time.Second)
	c.Tick(time.Second)
	if c.now != 2*time.Second {
		t.Errorf("it is %v", c.now)
	}
}

// The profiles can be used as they are, and a configuration that contradicts itself is refused with the field and what
// it needs.
func TestConfigProfilesAndErrors(t *testing.T) {
	for name, cfg := range map[string]Config{"LAN": LAN(), "WAN": WAN(), "Local": Local()} {
		if err := cfg.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewCore(Config{}, Run{}, Address{}, NewMembers(nil), policy.RandomStealing{}, nil); !errors.Is(err,
		ErrConfig) {
		t.Errorf("the zero configuration gives %v", err)
	}
	cfg := LAN()
	cfg.MaxSegments = cfg.MaxWaiting - 1
	if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "MaxSegments is 63, at least 64 is needed") {
		t.Errorf("an inventory smaller than the queue gives %v", err)
	}
}

// A reply that comes after its request was given up brings its jobs all the same: the victim has given them away.
func TestLateReplyIsUsed(t *testing.T) {
	c := paperCore(t, "a: v t", "t", policy.RandomStealing{})
	out := c.Report(time.Second, idleOne)
	id := out.Messages[0].Request.ID
	at, _ := c.Next()
	c.Tick(at)
	if c.Stats().StealsTimedOut != 1 {
		t.Fatalf("at %v the request is still waited for", at)
	}
	out = c.Step(at+time.Second, &Message{From: Address{Peer: "v", Inc: 1}, To: c.self,
		Reply: &StealReply{ID: id, Jobs: []Grant{{Handle: 1, Job: jobAt(1)}}}})
	if len(out.Orders) != 1 || out.Orders[0].Kind != RunSegment || c.Stats().LateReplies != 1 {
		t.Errorf("the late reply leads to %+v", out.Orders)
	}
}

// beat is an inventory of thief 0, which has seen all that the victim sent.
func inventory(c *Core, seq uint64, held ...Handle) *Message {
	return &Message{From: thiefNo(0), To: c.self, Heartbeat: &Heartbeat{Seq: seq, Seen: c.partners.beats, Held: held}}
}

// A job goes back into the queue when it is missing from two heartbeats, and that means two in a row.
func TestMissesMustBeConsecutive(t *testing.T) {
	c := victimCore(t, LAN(), 1)
	g := give(t, c, 0, 1, 1)
	c.Tick(c.now + time.Second) // a heartbeat to the thief, after the reply
	for seq, listed := range []bool{false, true, false, true, false} {
		var held []Handle
		if listed {
			held = []Handle{g.Handle}
		}
		if out := c.Step(c.now, inventory(c, uint64(seq+1), held...)); len(out.Orders) != 0 ||
			c.Stats().PutBackInventory != 0 {
			t.Fatalf("inventory %d leads to %+v, %+v", seq+1, out.Orders, c.Stats())
		}
	}
	if c.Step(c.now, inventory(c, 6)); c.Stats().PutBackInventory != 1 || len(c.segments.waiting) != 1 {
		t.Errorf("after the second miss in a row %d jobs wait to be run again: %+v", len(c.segments.waiting), c.Stats())
	}
}

// A heartbeat that the network repeats is one inventory, not two.
func TestRepeatedInventoryCountsOnce(t *testing.T) {
	c := victimCore(t, LAN(), 1)
	give(t, c, 0, 1, 1)
	c.Tick(c.now + time.Second)
	for range 5 {
		if out := c.Step(c.now, inventory(c, 1)); len(out.Orders) != 0 || c.Stats().PutBackInventory != 0 {
			t.Fatalf("copies of one inventory lead to %+v, %+v", out.Orders, c.Stats())
		}
	}
}
