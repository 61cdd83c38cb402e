package steal

import (
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal/policy"
)

// What is relayed is sent on once, for the peer whose message it is, within the run, and to a peer other than
// the relay itself.
func TestRelaySendsOn(t *testing.T) {
	relay := victimCore(t, LAN(), 3)
	result := &Message{From: thiefNo(0), To: thiefNo(1), Result: &Result{Handle: 1}}
	for name, c := range map[string]struct {
		sender Address
		change func(m *Message)
		sent   int
	}{
		"by its sender":           {thiefNo(0), func(*Message) {}, 1},
		"by a relay":              {thiefNo(2), func(*Message) {}, 0},
		"by an earlier life":      {thiefNo(0), func(m *Message) { m.From.Inc-- }, 0},
		"of another run":          {thiefNo(0), func(m *Message) { m.Run = job.RunID{9} }, 0},
		"to an earlier life here": {thiefNo(0), func(m *Message) { m.To = Address{Peer: "v", Inc: 1} }, 0},
		"of another kind":         {thiefNo(0), func(m *Message) { m.Result, m.Goodbye = nil, &Goodbye{} }, 0},
	} {
		inner := *result
		c.change(&inner)
		out := relay.Step(time.Second, &Message{From: c.sender, To: relay.self, Relayed: &inner})
		if len(out.Messages) != c.sent || c.sent == 1 &&
			(out.Messages[0].To.Peer != thiefNo(1).Peer || out.Messages[0].Relayed != &inner) {
			t.Errorf("%s: %d messages are sent, want %d", name, len(out.Messages), c.sent)
		}
	}
}

// A result that comes round is used like one that comes straight, whoever brings it.
func TestRelayedResultMustMatch(t *testing.T) {
	c := victimCore(t, LAN(), 3)
	g := give(t, c, 0, 1, 1)
	inner := func(h Handle) *Message {
		return &Message{From: thiefNo(2), To: c.self, Relayed: &Message{From: thiefNo(0), To: c.self,
			Result: &Result{Handle: h, Path: g.Job.Path, Identity: g.Job.Identity}}}
	}
	if out := c.Step(c.now, inner(g.Handle+1)); len(out.Orders) != 0 {
		t.Errorf("a result for an unknown handle leads to %v", out.Orders)
	}
	if out := c.Step(c.now, inner(g.Handle)); len(out.Orders) != 1 || out.Orders[0].Kind != Deliver {
		t.Errorf("the right result leads to %v", out.Orders)
	}
}

// What a relay makes up gives nobody another life, keeps no dead peer alive, and acknowledges nothing that was sent
// straight.
func TestForgedRelays(t *testing.T) {
	c := victimCore(t, LAN(), 3)
	g := give(t, c, 0, 1, 1)
	forge := func(from Address, body Message) Output {
		body.From, body.To = from, c.self
		return c.Step(c.now, &Message{From: thiefNo(2), To: c.self, Relayed: &body})
	}
	later := thiefNo(0)
	later.Inc += 100
	forge(later, Message{Ack: &ResultAck{Handle: 1}})
	forge(later, Message{Result: &Result{Handle: g.Handle, Path: g.Job.Path, Identity: g.Job.Identity}})
	p := c.partners.find(thiefNo(0).Peer)
	if p.inc != thiefNo(0).Inc || c.leases.n != 1 {
		t.Fatalf("the thief is said to be in life %d, %d jobs are out", p.inc, c.leases.n)
	}
	heard := p.heard
	c.Tick(c.now + time.Millisecond)
	if forge(thiefNo(0), Message{Ack: &ResultAck{Handle: 9}}); p.heard != heard {
		t.Error("a relay's word is a sign of life")
	}
	c.Step(c.now, &Message{From: thiefNo(0), To: c.self, Reply: &StealReply{Jobs: []Grant{{Handle: 5,
		Job: jobAt(5)}}}})
	c.Report(c.now, Load{Workers: 1, Idle: 1})
	var held *segment
	for _, s := range c.segments.byID {
		held = s
	}
	c.Finished(c.now, held.id, nil, nil)
	if forge(thiefNo(0), Message{Ack: &ResultAck{Handle: 5}}); len(c.segments.unacked) != 1 {
		t.Error("a relay acknowledges a result that was sent straight")
	}
	held.round = true
	if forge(thiefNo(0), Message{Ack: &ResultAck{Handle: 5}}); len(c.segments.unacked) != 0 {
		t.Error("the acknowledgement of a result that was sent round does not count")
	}
}

// A detour's time says nothing of the straight link.
func TestRelayIsNotTimed(t *testing.T) {
	for via, want := range map[ClusterID]time.Duration{"": 3 * time.Second, "c": 0} {
		script := &Scripted{Via: via}
		c := coreAt(t, "a: a1, b: b1, c: c1", "a1", script)
		c.load = idleOne
		owner := Address{Peer: "b1", Inc: 1}
		holdFor(c, owner.Peer, 1, jobAt(1))
		out := c.Finished(c.now, 1, nil, nil)
		if got := out.Messages[0].Relayed != nil; got != (via != "") {
			t.Fatalf("via %q: relayed is %v", via, got)
		}
		c.Step(c.now+3*time.Second, &Message{From: owner, To: c.self, Ack: &ResultAck{Handle: 1}})
		if got := c.links.get("b").RTT; got != want {
			t.Errorf("via %q: the link is believed to take %v, want %v", via, got, want)
		}
	}
}

// The other way is tried when the policy says, if that is before the core would; and what comes back by the first way
// counts after that too.
func TestOtherWayIsTriedSoon(t *testing.T) {
	for within, want := range map[time.Duration]time.Duration{
		0: LAN().ResultRetry, 100 * time.Millisecond: 100 * time.Millisecond, time.Hour: LAN().ResultRetry,
	} {
		script := &Scripted{Via: "c", Within: within}
		c := coreAt(t, "a: a1, b: b1, c: c1", "a1", script)
		c.cfg.ResultRetry, c.load = LAN().ResultRetry, idleOne
		owner := Address{Peer: "b1", Inc: 1}
		holdFor(c, owner.Peer, 1, jobAt(1))
		began := c.now
		first := c.Finished(began, 1, nil, nil).Messages[0]
		if got := c.segments.retryAt - began; first.Relayed == nil || got != want {
			t.Errorf("asked for within %v: another way after %v, want %v", within, got, want)
		}
		script.Via = ""
		if out := c.Tick(c.segments.retryAt); !slices.ContainsFunc(out.Messages, func(m *Message) bool {
			return m.Result != nil && m.To == owner
		}) {
			t.Errorf("within %v: nothing goes the other way", within)
		}
		c.Step(c.now, &Message{From: Address{Peer: first.To.Peer, Inc: 1}, To: c.self,
			Relayed: &Message{Run: c.run.ID, From: owner, To: c.self, Ack: &ResultAck{Handle: 1}}})
		if len(c.segments.unacked) != 0 {
			t.Error("what came back by the first way does not count")
		}
	}
}

// A large result that went straight and is sent again says how fast its link is at most; nothing does that a link is
// faster than it was.
func TestOverdueResultsSayHowFast(t *testing.T) {
	const large = 10 * smallMessage
	for name, x := range map[string]struct {
		via          ClusterID
		bytes        int
		before, want float64
	}{
		"nothing was known": {"", large, 0, large},
		"it was faster":     {"", large, 9 * large, 8 * large},
		"it was slower":     {"", large, large / 2, large / 2},
		"a small one":       {"", smallMessage, 9 * large, 9 * large},
		"it went round":     {"c", large, 9 * large, 9 * large},
	} {
		c := coreAt(t, "a: a1, b: b1, c: c1", "a1", &Scripted{Via: x.via, Within: 2 * time.Second})
		c.cfg.ResultRetry, c.load = time.Minute, idleOne
		*c.links.of("b") = policy.Link{RTT: time.Second, BytesPerSecond: x.before}
		c.Step(c.now, &Message{From: Address{Peer: "b1", Inc: 1}, To: c.self,
			Reply: &StealReply{Jobs: []Grant{{Handle: 1, Job: jobAt(1)}}}})
		c.Finished(c.now, 1, make([]byte, x.bytes), nil)
		for range 2 { // the second repetition says nothing: it may be the first that is slow
			c.Tick(c.segments.retryAt)
		}
		if got := c.links.get("b"); got.BytesPerSecond != x.want || got.RTT != time.Second {
			t.Errorf("%s: the link has %v bytes a second and takes %v, want %v", name, got.BytesPerSecond, got.RTT, x.want)
		}
	}
}

// A result that could not be sent round goes straight at once, and not when its timer says so; one that went straight
// waits for that.
func TestFailedDetours(t *testing.T) {
	for via, want := range map[ClusterID]int{"": 0, "c": 1} {
		script := &Scripted{Via: via}
		c := coreAt(t, "a: a1, b: b1, c: c1", "a1", script)
		c.load = idleOne
		owner := Address{Peer: "b1", Inc: 1}
		holdFor(c, owner.Peer, 1, jobAt(1))
		c.Tick(c.now) // the heartbeat that lists it
		sent := c.Finished(c.now, 1, nil, nil).Messages[0]
		script.Via = ""
		c.SendFailed(c.now, sent)
		if out := c.Tick(c.now); len(out.Messages) != want || want > 0 && out.Messages[0].To.Peer != owner.Peer {
			t.Errorf("via %q: %d messages go to %v", via, len(out.Messages), out.Messages)
		}
		if via == "" {
			continue
		}
		c.Step(c.now, &Message{From: owner, To: c.self, Ack: &ResultAck{Handle: 1}})
		c.SendFailed(c.now, sent) // late
		other := *sent
		other.Relayed = &Message{From: owner, To: c.self, Result: &Result{Handle: 1}}
		c.SendFailed(c.now, &other) // it was passed on
		if out := c.Tick(c.now); len(out.Messages) > 0 {
			t.Errorf("what has arrived is sent again: %v", out.Messages)
		}
	}
}

// Whoever says that it leaves is asked for nothing and is nobody's way from then on, although the membership has it
// still and it was no partner.
func TestLeaversAreNoRelays(t *testing.T) {
	c := coreAt(t, "a: a1, b: b1, c: c1", "a1", &Scripted{})
	if !c.thief.view.Usable("c1") {
		t.Fatal("it cannot be used before")
	}
	c.Hear(c.now, &News{Run: c.run.ID, From: Address{Peer: "c1", Inc: 4}, Goodbye: true})
	if c.thief.view.Usable("c1") || !c.thief.view.Usable("b1") {
		t.Error("who has left is used, or who has not is not")
	}
	c.Step(c.now, &Message{Run: c.run.ID, From: Address{Peer: "c1", Inc: 5}, To: c.self, Request: &StealRequest{ID: 1}})
	if !c.thief.view.Usable("c1") {
		t.Error("its next life is not used")
	}
}

// Silence is measured by the longer of the two periods, the partner's as it announced it, within MaxHeartbeatEvery.
func TestSilenceFollowsAnnouncedPeriods(t *testing.T) {
	cfg := LAN()
	for every, lostAfter := range map[time.Duration]time.Duration{
		0:               4 * time.Second,
		5 * time.Second: 16 * time.Second,
		time.Hour:       31 * time.Second,
	} {
		c := victimCore(t, cfg, 1)
		give(t, c, 0, 1, 1)
		began := c.now
		c.Step(began, &Message{From: thiefNo(0), To: c.self,
			Heartbeat: &Heartbeat{Seq: 1, Held: []Handle{1}, Every: every}})
		for c.Stats().PeersLost == 0 && c.now < began+time.Minute {
			at, _ := c.Next()
			c.Tick(at)
		}
		if got := c.now - began; got != lostAfter {
			t.Errorf("a thief that announced %v is lost after %v, want %v", every, got, lostAfter)
		}
	}
}
