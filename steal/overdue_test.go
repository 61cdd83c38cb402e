package steal

import (
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/steal/policy"
)

// A lease is waited for as round trips are: for the mean and four deviations of those whose results came, within bounds
// that no thief can move.
func TestLeaseTimes(t *testing.T) {
	const s = time.Second
	cfg := Config{LeaseEnd: 30 * s, LeaseEndMax: 240 * s}
	steady := func(d time.Duration) (list []time.Duration) {
		for range 100 {
			list = append(list, d)
		}
		return list
	}
	for _, c := range []struct {
		name        string
		took        []time.Duration
		least, most time.Duration
	}{
		{"nothing measured", nil, 30 * s, 30 * s},
		{"short leases", steady(s), 30 * s, 30 * s},
		{"the first one of a minute", []time.Duration{60 * s}, 180 * s, 180 * s},
		{"all of a minute", steady(60 * s), 60 * s, 61 * s},
		{"a minute, and once two", append(steady(60*s), 120*s), 120 * s, 130 * s},
		{"short ones again", append(steady(60*s), steady(s)...), 30 * s, 30 * s},
		{"an hour", steady(time.Hour), 240 * s, 240 * s},
	} {
		var l leaseTimes
		for _, d := range c.took {
			l.took(d)
		}
		if got := l.end(&cfg); got < c.least || got > c.most {
			t.Errorf("%s: leases end after %v, want %v to %v", c.name, got, c.least, c.most)
		}
	}
}

// Workers behind slow links are idle for a while again and again, and add up much of it: as long as they work as much
// as they wait, what a thief lists is not done again. When all of them have nothing to do, it is.
func TestOverdueIsIdlenessOfLate(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name       string
		idle, busy time.Duration // by turns, ten minutes long
		want       bool
	}{
		{"half of the time", 5 * s, 6 * s, false},
		{"most of the time", 9 * s, 3 * s, true},
	} {
		core := victimCore(t, LAN(), 1)
		give(t, core, 0, 1, 1)
		seq := uint64(0)
		step := func(idle int, d time.Duration) {
			core.Report(core.now, Load{Workers: 1, Idle: idle, Runs: core.segments.runs})
			seq++ // the thief lists the job for ever
			core.Step(core.now+d, &Message{From: thiefNo(0), To: core.self,
				Heartbeat: &Heartbeat{Seq: seq, Held: []Handle{1}, Seen: seq}})
		}
		for core.now < 10*time.Minute {
			step(1, c.idle)
			step(0, c.busy)
		}
		if got := core.Stats().OverdueCopies; got > 0 != c.want {
			t.Errorf("idle %s: %d copies", c.name, got)
		}
		for waited := time.Duration(0); waited < 10*time.Minute; waited += s {
			step(1, s)
		}
		if core.Stats().OverdueCopies == 0 {
			t.Errorf("idle %s, then always: no copy", c.name)
		}
	}
}

// A lease does not end by its age, but when idle workers have waited for so long.
func TestLeaseEndIsIdleness(t *testing.T) {
	c := victimCore(t, LAN(), 1)
	give(t, c, 0, 1, 1)
	copied := time.Duration(0)
	for seq := uint64(1); seq <= 60 && copied == 0; seq++ {
		idle := 0
		if c.now >= 20*time.Second {
			idle = 1
		}
		c.Report(c.now, Load{Workers: 1, Idle: idle, Runs: c.segments.runs})
		c.Step(c.now+time.Second, &Message{From: thiefNo(0), To: c.self,
			Heartbeat: &Heartbeat{Seq: seq, Held: []Handle{1}, Seen: seq}})
		if c.Stats().OverdueCopies > 0 {
			copied = c.now
		}
	}
	if copied != 50*time.Second {
		t.Errorf("busy for 20 s, then idle, it runs a copy after %v", copied)
	}
	c = victimCore(t, LAN(), 1) // what was waited for before counts for no lease that was given later
	c.Report(c.now, Load{Workers: 1, Idle: 1})
	c.Report(c.now+100*time.Second, Load{Workers: 1, Idle: 0})
	give(t, c, 0, 1, 1)
	c.Report(c.now+10*time.Second, Load{Workers: 1, Idle: 1, Runs: c.segments.runs})
	for seq := uint64(1); seq <= 25; seq++ {
		c.Step(c.now+time.Second, &Message{From: thiefNo(0), To: c.self,
			Heartbeat: &Heartbeat{Seq: seq, Held: []Handle{1}, Seen: seq}})
	}
	if n := c.Stats().OverdueCopies; n > 0 {
		t.Errorf("after 100 s of idleness a job is given away: idle for 25 s of 35, it runs %d copies", n)
	}
}

// Where several jobs are withheld only the first is waited for: that workers are busy with what they had to do
// themselves is no sign that there is work.
func TestWithheldJobsFollowAtOnce(t *testing.T) {
	c := victimCore(t, LAN(), 1)
	var held []Handle
	for i := range 3 {
		held = append(held, give(t, c, 0, RequestID(i+1), Ref(i+1)).Handle)
	}
	given, load := c.now, Load{Workers: 1, Idle: 1}
	var began []time.Duration
	var running SegmentID
	do := func(o Output) {
		for _, r := range orders(o, RunSegment) {
			began, running, load.Idle = append(began, c.now-given), r.Segment, 0
		}
	}
	for seq := uint64(1); c.now < given+2*time.Minute; seq++ {
		if load.Idle == 0 && c.now == given+began[len(began)-1]+20*time.Second {
			load.Idle = 1
			do(c.Finished(c.now, running, nil, nil))
		}
		load.Runs = c.segments.runs
		do(c.Report(c.now, load))
		do(c.Step(c.now+time.Second, &Message{From: thiefNo(0), To: c.self,
			Heartbeat: &Heartbeat{Seq: seq, Held: held, Seen: seq}}))
	}
	if want := []time.Duration{30 * time.Second, 50 * time.Second, 70 * time.Second}; !slices.Equal(began, want) {
		t.Errorf("each takes 20 s: they begin after %v, want %v", began, want)
	}
}

// A job of which its thief has not said that it has it is run here soon: the reply may be behind others on a slow link.
// What the thief said before it can have had it does not count against it. So it is with one whose thief has no core
// for it, until it has one again.
func TestUnlistedIsSoonOverdue(t *testing.T) {
	for _, x := range []struct {
		far, listed, still, again bool
		want                      time.Duration
	}{
		{want: 3 * time.Second},
		{listed: true, want: 31 * time.Second},
		{still: true, listed: true, want: 3 * time.Second},
		{still: true, listed: true, again: true, want: 31 * time.Second},
		{far: true, want: 2 * time.Second}, // which would have listed it at once
		{far: true, listed: true, want: 31 * time.Second},
		{far: true, still: true, listed: true, want: 3 * time.Second},
	} {
		c := victimCore(t, LAN(), 1)
		if x.far {
			c = farVictim(t)
		}
		give(t, c, 0, 1, 1)
		copied := time.Duration(0)
		for seq := uint64(1); seq <= 60 && copied == 0; seq++ {
			c.Report(c.now, Load{Workers: 1, Idle: 1, Runs: c.segments.runs})
			h := &Heartbeat{Seq: seq}
			if x.listed {
				h.Held, h.Seen = []Handle{1}, seq
			}
			h.Still = x.still && !(x.again && seq > 1)
			c.Step(c.now+time.Second, &Message{From: thiefNo(0), To: c.self, Heartbeat: h})
			if c.Stats().OverdueCopies > 0 {
				copied = c.now
			}
		}
		if copied != x.want {
			t.Errorf("%+v: a copy after %v", x, copied)
		}
	}
}

func farVictim(t *testing.T) *Core {
	c := coreAt(t, "a: v, b: t00", "v", policy.RandomStealing{})
	c.now = 0
	c.Report(time.Second, Load{Workers: 1, Queued: 100})
	return c
}

// What comes from another cluster is listed at once: so its victim knows that it is not under way any more.
func TestFarJobsAreListedAtOnce(t *testing.T) {
	for cluster, want := range map[string]int{"a: a1 b1": 0, "a: a1, b: b1": 1} {
		c := coreAt(t, cluster, "a1", &Scripted{})
		c.load = idleOne
		c.Step(c.now, &Message{From: Address{Peer: "b1", Inc: 1}, To: c.self,
			Reply: &StealReply{Jobs: []Grant{{Handle: 1, Job: jobAt(1)}, {Handle: 2, Job: jobAt(2)}}}})
		next, _ := c.Next()
		out := c.Tick(c.now)
		if len(out.Messages) != want || next == c.now != (want > 0) {
			t.Fatalf("members %s: %d messages at once, and the next input at %v of %v", cluster, len(out.Messages), next, c.now)
		}
		if want > 0 && !slices.Equal(out.Messages[0].Heartbeat.Held, []Handle{1, 2}) {
			t.Errorf("it lists %v", out.Messages[0].Heartbeat.Held)
		}
	}
}

// A thief that gets a job after its victim has begun it is told to end it: it has done next to nothing, and others
// would help with both. One that lists it in time has it, whatever it lists later.
func TestLateThiefIsStopped(t *testing.T) {
	for _, x := range []struct {
		listed, busy, want bool
	}{{false, false, true}, {true, false, false}, {false, true, false}} {
		c := farVictim(t)
		give(t, c, 0, 1, 1)
		list := func(seq uint64) (stopped bool) {
			for _, m := range c.Step(c.now, &Message{From: thiefNo(0), To: c.self,
				Heartbeat: &Heartbeat{Seq: seq, Held: []Handle{1}, Seen: seq}}).Messages {
				stopped = stopped || m.Abort != nil && slices.Equal(m.Abort.Handles, []Handle{1})
			}
			return stopped
		}
		if x.listed && list(1) {
			t.Fatal("a thief that has the job first is stopped")
		}
		began := 0
		for range 40 {
			load := Load{Workers: 1, Runs: c.segments.runs}
			if !x.busy && began == 0 {
				load.Idle = 1
			}
			began += len(orders(c.Report(c.now+time.Second, load), RunSegment))
		}
		if x.busy != (began == 0) {
			t.Fatalf("%+v: %d copies", x, began)
		}
		if got := list(2); got != x.want || got != (c.leases.refs[1].thief == nil) {
			t.Errorf("%+v: the thief is stopped: %v; its lease: %+v", x, got, c.leases.refs[1])
		}
	}
}

// Where steals in the own cluster take long, idleness says little of what others list: it is waited for longer, but no
// more than twice as long, as one that withholds may answer late as well.
func TestSlowStealsAreNoIdleness(t *testing.T) {
	for takes, want := range map[time.Duration]time.Duration{
		0: 31 * time.Second, time.Millisecond: 31 * time.Second,
		time.Second: 61 * time.Second, 750 * time.Millisecond: 46 * time.Second, time.Hour: 61 * time.Second,
	} {
		c := victimCore(t, LAN(), 1)
		give(t, c, 0, 1, 1)
		began := c.now
		for seq := uint64(1); c.Stats().OverdueCopies == 0 && c.now < began+10*time.Minute; seq++ {
			c.links.of(c.cluster).LastSteal = takes // and not what becomes of its own requests here
			c.Report(c.now, Load{Workers: 1, Idle: 1, Runs: c.segments.runs})
			c.Step(c.now+time.Second, &Message{From: thiefNo(0), To: c.self,
				Heartbeat: &Heartbeat{Seq: seq, Held: []Handle{1}, Seen: seq}})
		}
		if got := c.now - began; got < want-2*time.Second || got > want+2*time.Second {
			t.Errorf("steals take %v: a copy after %v, want %v", takes, got, want)
		}
	}
}

// What has come is measured by its thief: a result that took long makes the next lease last longer.
func TestLeasesAreMeasured(t *testing.T) {
	c := victimCore(t, LAN(), 1)
	g := give(t, c, 0, 1, 1)
	c.Step(c.now+time.Minute, &Message{From: thiefNo(0), To: c.self,
		Result: &Result{Handle: g.Handle, Path: g.Job.Path, Identity: g.Job.Identity}})
	if end := c.leases.times.end(&c.cfg); end != 3*time.Minute {
		t.Errorf("after a result that took a minute leases end after %v", end)
	}
}

// A peer says in its heartbeats that it has no core when that has been so for a second: not before its engine has
// reported for the first time, and not while others only take turns with it.
func TestStillIsSaid(t *testing.T) {
	c := victimCore(t, LAN(), 1)
	give(t, c, 0, 1, 1)
	said := func(until time.Duration) (still []time.Duration) {
		for at, ok := c.Next(); ok && at < until; at, ok = c.Next() {
			for _, m := range c.Tick(at).Messages {
				if m.Heartbeat != nil && m.Heartbeat.Still {
					still = append(still, at)
				}
			}
			c.Step(at, &Message{From: thiefNo(0), To: c.self,
				Heartbeat: &Heartbeat{Seq: uint64(at), Held: []Handle{1}, Seen: uint64(at)}})
		}
		return still
	}
	for range 10 { // turns
		c.Report(c.now+300*time.Millisecond, Load{})
		if still := said(c.now + 700*time.Millisecond); len(still) > 0 {
			t.Errorf("it says at %v that it has no core, since 0.7 s", still)
		}
		c.Report(c.now+700*time.Millisecond, Load{Workers: 1})
	}
	c.Report(c.now, Load{})
	began := c.now
	for i := range 8 {
		c.Report(c.now+300*time.Millisecond, Load{Queued: i}) // still none
	}
	if still := said(began + 10*time.Second); len(still) < 8 || still[0] > began+3*time.Second {
		t.Errorf("without a core since %v it says so at %v", began, still)
	}
	c.Report(c.now, Load{Workers: 1})
	if still := said(c.now + 10*time.Second); len(still) > 0 {
		t.Errorf("with a core it says at %v that it has none", still)
	}
	c.Report(c.now, Load{})
	c.Stand(c.now, Stance{Turns: true})
	if still := said(c.now + 10*time.Second); len(still) > 0 {
		t.Errorf("with cores in turns it says at %v that it has none", still)
	}
	next, _ := c.Next()
	began = next - 100*time.Millisecond // a heartbeat follows
	c.Stand(began, Stance{})
	if still := said(began + 10*time.Second); len(still) < 8 || still[0] < began+time.Second {
		t.Errorf("without a core since %v, after turns, it says so at %v", began, still)
	}
	fresh := shared{now: time.Hour}
	if fresh.standsStill(time.Second) {
		t.Error("an engine that has reported nothing stands still")
	}
}
