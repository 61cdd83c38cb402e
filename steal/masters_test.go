package steal

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal/policy"
)

// masterCore is a peer of a run of o, d1 and d2, with one idle worker.
func masterCore(t *testing.T, self PeerID, fresh bool) *Core {
	t.Helper()
	run := Run{ID: job.RunID{7}, Root: Job{Function: "root"}, Deputies: []PeerID{"o", "d1", "d2"}, Fresh: fresh}
	c, err := NewCore(LAN(), run, Address{Peer: self, Inc: 4}, parseMembers("a: o d1 d2 x"), &Scripted{},
		rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	c.SetMembers(0, c.members)
	return c
}

// orders lists an output's orders of one kind.
func orders(o Output, kind OrderKind) (of []Order) {
	for _, r := range o.Orders {
		if r.Kind == kind {
			of = append(of, r)
		}
	}
	return of
}

// until ticks a core whenever it wants, until it orders something of a kind or the time has come.
func (c *Core) until(t *testing.T, limit time.Duration, kind OrderKind) (time.Duration, Order) {
	t.Helper()
	for {
		at, ok := c.Next()
		if !ok || at > limit {
			return 0, Order{}
		}
		if of := orders(c.Tick(at), kind); len(of) > 0 {
			return c.now, of[0]
		}
	}
}

func beaconOf(from Address, seq uint64, rank uint32) *News {
	return &News{Run: job.RunID{7}, From: from, Master: &Beacon{Rank: rank, Seq: seq}}
}

// A new owner runs the root on its first idle worker, and says so as soon as it is ticked, at time 0 already.
func TestFreshOwner(t *testing.T) {
	c := masterCore(t, "o", true)
	runs := orders(c.Report(0, Load{Workers: 1, Idle: 1}), RunSegment)
	if len(runs) != 1 || runs[0].Job.Restarted || len(runs[0].Job.Path) != 0 {
		t.Fatalf("it runs %+v", runs)
	}
	at, told := c.until(t, time.Second, Tell)
	if at > time.Millisecond || told.News == nil || told.News.Master == nil || told.News.Validate() != nil ||
		told.News.From != c.self {
		t.Fatalf("at %v: %+v", at, told)
	}
	if at, _ := c.until(t, time.Minute, Tell); at > c.cfg.BeaconEvery+time.Millisecond {
		t.Errorf("the second beacon at %v", at)
	}
}

// The root's outcome is ordered once, whatever becomes of the mastership afterwards.
func TestAnswerOnce(t *testing.T) {
	c := masterCore(t, "d1", false)
	at, _ := c.until(t, time.Minute, Tell)
	runs := orders(c.Report(at, Load{Workers: 1, Idle: 1}), RunSegment)
	if len(runs) != 1 || !runs[0].Job.Restarted {
		t.Fatalf("it runs %+v", runs)
	}
	answers := orders(c.Finished(at, runs[0].Segment, []byte("42"), nil), Answer)
	if len(answers) != 1 || string(answers[0].Outcome) != "42" {
		t.Fatalf("the answer is %+v", answers)
	}
	if out := c.Finished(at, runs[0].Segment, []byte("43"), nil); len(orders(out, Answer)) != 0 {
		t.Error("a second outcome of the root is an answer, too")
	}
	news := beaconOf(Address{"o", 1}, 1, 0)
	news.Master.Answered = &[16]byte{1}
	c.Report(at, Load{Workers: 1, Idle: 1, Runs: 1})
	c.Hear(at, news)
	if c.Stats().SteppedDown != 1 {
		t.Fatal("a better master with the answer is heard, and it does not step down")
	}
	again := at + time.Minute
	for now, _ := c.Next(); now < again; now, _ = c.Next() {
		if out := c.Tick(now); len(orders(out, Answer))+len(orders(out, RunSegment)) > 0 {
			t.Fatalf("master again, it orders %+v", out.Orders)
		}
	}
	if !c.Masters.master || c.Stats().Restarts != 1 {
		t.Errorf("master: %v, %d restarts", c.Masters.master, c.Stats().Restarts)
	}
}

// A master that says goodbye, to its partners or to everybody, is followed after one beacon period, and a beacon of it
// that comes later counts no more; so for a master whose next life is heard.
func TestMasterLeaves(t *testing.T) {
	told := &News{Run: job.RunID{7}, From: Address{"o", 1}, Goodbye: true}
	for name, end := range map[string]*Message{
		"goodbye":  {Run: job.RunID{7}, From: Address{"o", 1}, To: Address{"d1", 4}, Goodbye: &Goodbye{}},
		"new life": {Run: job.RunID{7}, From: Address{"o", 2}, To: Address{"d1", 4}, Heartbeat: &Heartbeat{Seq: 1}},

		"told to a partner": nil, "told to a stranger": nil,
	} {
		c := masterCore(t, "d1", false)
		if name != "told to a stranger" {
			c.Step(0, &Message{Run: job.RunID{7}, From: Address{"o", 1}, To: Address{Peer: "d1"},
				Heartbeat: &Heartbeat{Seq: 1}})
		}
		c.Hear(time.Second, beaconOf(Address{"o", 1}, 1, 0))
		if end != nil {
			c.Step(time.Second, end)
		} else {
			c.Hear(time.Second, told)
		}
		c.Hear(1500*time.Millisecond, beaconOf(Address{"o", 1}, 2, 0))
		if s := c.Stats(); s.DroppedStale+s.DroppedDuplicate != 1 {
			t.Errorf("%s: a late beacon counts", name)
		}
		if at, _ := c.until(t, time.Minute, Tell); at != time.Second+c.cfg.BeaconEvery {
			t.Errorf("%s: it follows at %v", name, at)
		}
	}
}

// So it is with one whose first beacon comes after its goodbye.
func TestMasterHeardTooLate(t *testing.T) {
	for name, end := range map[string]*Message{"goodbye": {From: Address{"o", 1}, Goodbye: &Goodbye{}},
		"new life": {From: Address{"o", 2}, Heartbeat: &Heartbeat{Seq: 1}}} {
		c := masterCore(t, "d1", false)
		c.Step(0, &Message{Run: job.RunID{7}, From: Address{"o", 1}, To: c.self, Heartbeat: &Heartbeat{Seq: 1}})
		end.Run, end.To = job.RunID{7}, c.self
		c.Step(time.Second, end)
		c.Hear(2*time.Second, beaconOf(Address{"o", 1}, 1, 0))
		if c.Stats().DroppedStale != 1 {
			t.Errorf("%s: a late beacon counts", name)
		}
	}
}

// A partner that fell silent is not waited for.
func TestSilentRivalIsNotWaitedFor(t *testing.T) {
	c := masterCore(t, "d2", false)
	c.Hear(0, beaconOf(Address{"o", 1}, 1, 0))
	c.Step(0, &Message{Run: job.RunID{7}, From: Address{"d1", 1}, To: Address{"d2", 4},
		Reply: &StealReply{Jobs: []Grant{{Handle: 1, Job: jobAt(1)}}}})
	if at, _ := c.until(t, time.Minute, Tell); at != c.cfg.MasterLease {
		t.Errorf("it begins at %v", at)
	}
}

// Forged and repeated beacons are counted and do nothing.
func TestBadBeaconsAreCounted(t *testing.T) {
	c := masterCore(t, "d1", false)
	c.Hear(0, beaconOf(Address{"o", 1}, 1, 0))
	c.Hear(0, beaconOf(Address{"o", 1}, 1, 0))
	c.Hear(0, beaconOf(Address{"x", 1}, 1, 3))
	if s := c.Stats(); s.DroppedDuplicate != 1 || s.DroppedMalformed != 1 {
		t.Errorf("%+v", s)
	}
}

// A master that leaves sends no more beacons while it hands over, and does not become master again: the
// others' wait begins.
func TestMasterThatLeavesIsSilent(t *testing.T) {
	c := masterCore(t, "o", true)
	c.Report(0, Load{Workers: 1, Idle: 1})
	c.until(t, time.Second, Tell)
	// something to hand over, to peers that do not answer
	c.Keep(time.Second, []Partial{{Path: job.Path{1}, Outcome: []byte("one")}})
	c.Leave(time.Second, time.Minute)
	if c.Gone() {
		t.Fatal("it has nothing to hand over")
	}
	for now, ok := c.Next(); ok && now < 2*time.Minute; now, ok = c.Next() {
		for _, r := range orders(c.Tick(now), Tell) {
			if r.News.Master != nil {
				t.Fatalf("at %v it says that it is master", now)
			}
		}
	}
	if !c.Gone() {
		t.Error("it never goes")
	}
}

// A root that has begun is left to others when its master has had no core for two leases; not while it only takes turns
// with something else. If it has a core again before somebody has begun, the root stays.
func TestRootStandsStill(t *testing.T) {
	waits := func(c *Core, until time.Duration) (since time.Duration) {
		for at, ok := c.Next(); ok && at < until; at, ok = c.Next() {
			for _, o := range orders(c.Tick(at), Tell) {
				if m := o.News.Master; m != nil && m.Waiting {
					return at
				}
			}
		}
		return 0
	}
	for _, back := range []bool{false, true} {
		c := masterCore(t, "o", true)
		c.Report(0, Load{Workers: 1, Idle: 1})
		for range 20 {
			c.Report(c.now+time.Second, Load{})
			if at := waits(c, c.now+2*time.Second); at > 0 {
				t.Errorf("a root that stands still for two seconds waits at %v", at)
			}
			c.Report(c.now+2*time.Second, Load{Workers: 1})
		}
		c.Report(c.now, Load{})
		began := c.now
		if at := waits(c, began+time.Minute); at < began+2*c.cfg.MasterLease || at > began+3*c.cfg.MasterLease {
			t.Errorf("the root waits after %v", at-began)
		}
		if back {
			c.Report(c.now, Load{Workers: 1})
		}
		out := c.Hear(c.now, beaconOf(Address{"d2", 1}, 1, 2))
		if down := len(orders(out, AbortSegment)) == 1; down == back {
			t.Errorf("it has a core again: %v, and gives the root up: %v", back, down)
		}
	}
}

// What is finished for a master when another has just followed it is told, although it lives and acknowledges it: it
// may be about to give its root up.
func TestFinishedForWhoeverWasMaster(t *testing.T) {
	for name, x := range map[string]struct {
		ended bool
		after time.Duration
		told  bool
	}{"still master": {}, "just not": {ended: true, told: true}, "not for long": {ended: true, after: time.Second}} {
		c := masterCore(t, "x", false)
		o := Address{"o", 1}
		c.Hear(0, beaconOf(o, 1, 0))
		c.Report(0, Load{Workers: 1, Idle: 1})
		runs := orders(c.Step(0, &Message{Run: job.RunID{7}, From: o, To: c.self,
			Reply: &StealReply{Jobs: []Grant{{Handle: 1, Job: jobAt(1)}}}}), RunSegment)
		if len(runs) != 1 {
			t.Fatalf("it runs %+v", runs)
		}
		if x.ended {
			waits := beaconOf(o, 2, 0)
			waits.Master.Waiting = true
			c.Hear(time.Second, waits)
			c.Hear(time.Second, beaconOf(Address{"d1", 1}, 1, 1))
		}
		c.Finished(time.Second+x.after, runs[0].Segment, []byte("one"), nil)
		_, told := c.until(t, c.now+c.cfg.TellEvery, Tell)
		if tells := told.News != nil && len(told.News.Tuples) == 1 && told.News.Tuples[0].Done; tells != x.told {
			t.Errorf("the owner is %s, and the outcome is told: %v", name, tells)
		}
	}
}

// A silent master in another cluster is waited for as long as long results may keep its beacons on a slow link, and no
// longer than a silent partner there; one in the own cluster, behind a fast link or one that was never measured for the
// usual lease.
func TestMasterBehindSlowLink(t *testing.T) {
	const apart, together = "a: o x, b: d1 d2", "a: o x d1 d2"
	for name, x := range map[string]struct {
		members string
		rtt     time.Duration // to the owner's cluster
		rate    float64
		begins  time.Duration
	}{
		"fast":            {apart, 100 * time.Millisecond, 1e5, 6 * time.Second},
		"never measured":  {apart, 0, 0, 6 * time.Second},
		"slow":            {apart, time.Second, 8 << 10, 10 * time.Second},
		"slow by its RTT": {apart, 500 * time.Millisecond, 0, 9192 * time.Millisecond},
		"far too slow":    {apart, time.Second, 1e3, 30 * time.Second},
		"at home":         {together, time.Second, 1e3, 6 * time.Second},
	} {
		c := masterCore(t, "d1", false)
		c.SetMembers(0, parseMembers(x.members))
		*c.links.of("a") = policy.Link{RTT: x.rtt, BytesPerSecond: x.rate}
		c.Hear(0, beaconOf(Address{"o", 1}, 1, 0))
		if at, _ := c.until(t, time.Minute, Tell); at != x.begins {
			t.Errorf("%s: it begins at %v, want %v", name, at, x.begins)
		}
	}
}

// Of a master that is gone nothing is on the way: results for it that stay unanswered do not make its link a slow one
// that is waited for, be it known to be gone or silent.
func TestGoneMasterBehindLink(t *testing.T) {
	for known, begins := range map[bool]time.Duration{true: 2 * time.Second, false: 6 * time.Second} {
		c := masterCore(t, "d1", false)
		c.SetMembers(0, parseMembers("a: o x, b: d1 d2"))
		*c.links.of("a") = policy.Link{RTT: 100 * time.Millisecond}
		c.Hear(0, beaconOf(Address{"o", 1}, 1, 0))
		if known {
			c.Masters.over("o", 2)
		} else {
			c.until(t, 3*time.Second, Tell)
		}
		c.links.overdue("a", 2*time.Second, 4<<10)
		if at, _ := c.until(t, time.Minute, Tell); at != begins {
			t.Errorf("known to be gone: %v, it begins at %v", known, at)
		}
	}
}
