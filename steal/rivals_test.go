package steal

import (
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
)

// elsewhere lists what an output says of jobs that are at work here.
func elsewhere(o Output) (list []Tuple) {
	for _, m := range o.Messages {
		if m.Abort != nil {
			list = append(list, m.Abort.Elsewhere...)
		}
	}
	return list
}

func orphanAt(holder PeerID, age time.Duration, j Job) Tuple {
	return Tuple{Path: j.Path, Identity: j.Identity, Holder: living(holder), Age: age}
}

// Whoever tells of an orphan hears of a peer that is at work on the same job, or on one above it, for somebody and
// for longer: not of one that has given the job away, or that began later. If that one is run again, it looks for
// orphans: then only one hears of it that is younger than a loss that has not been noticed, and of that job alone.
func TestRivalsAnswer(t *testing.T) {
	at := jobAt(3)
	again := at
	again.Restarted = true
	for _, x := range []struct {
		name   string
		here   Job
		told   Tuple
		change func(c *Core)
		want   bool
	}{
		{"the same job, later", at, orphanAt("c", 5*time.Second, at), nil, true},
		{"the same job, before", at, orphanAt("c", 20*time.Second, at), nil, false},
		{"one below", at, orphanAt("c", 5*time.Second, jobAt(3, 1, 2)), nil, true},
		{"one below, before", at, orphanAt("c", 20*time.Second, jobAt(3, 1, 2)), nil, false},
		{"one above", at, orphanAt("c", 5*time.Second, jobAt(2)), nil, false},
		{"another of that path", at, orphanAt("c", 5*time.Second, Job{Path: at.Path}), nil, false},
		{"its outcome", at, Tuple{Path: at.Path, Identity: at.Identity, Holder: living("c"), Done: true}, nil, false},
		{"in another's name", at, orphanAt("d", 5*time.Second, at), nil, false},
		{"run again, the same job", again, orphanAt("c", 5*time.Second, at), nil, true},
		{"run again, one below", again, orphanAt("c", 8*time.Second, jobAt(3, 1)), nil, true},
		{"run again, one below for as long as a loss takes", again, orphanAt("c", 9*time.Second, jobAt(3, 1)), nil,
			false},
		{"run again, one below that others have", again, orphanAt("c", 5*time.Second, jobAt(3, 1, 2)),
			func(c *Core) { c.leases.lend(c.partners.meet("e"), &lease{ref: 7, job: jobAt(3, 1)}) }, false},
		{"one below that went back", at, orphanAt("c", 5*time.Second, jobAt(3, 1)), func(c *Core) {
			l := &lease{ref: 7, job: jobAt(3, 1), adopted: true, life: 1}
			c.leases.lend(c.partners.meet("e"), l)
			c.book.requeue(l, true, &c.stats.PutBackLostThief)
		}, false},
		{"one below that others have", at, orphanAt("c", 5*time.Second, jobAt(3, 1, 2)), func(c *Core) {
			c.leases.lend(c.partners.meet("e"), &lease{ref: 7, job: jobAt(3, 1)})
		}, false},
		{"one that is itself an orphan", at, orphanAt("c", 5*time.Second, at), func(c *Core) { goodbye(c, "b") },
			false},
	} {
		c := salvageCore(t, nil)
		holdFor(c, "b", 1, x.here)
		c.Report(c.now, Load{Workers: 1, Runs: 1})
		c.Step(c.now+10*time.Second, &Message{From: living("b"), To: c.self, Heartbeat: &Heartbeat{Seq: 1, Leases: 1}})
		if x.change != nil {
			x.change(c)
		}
		out := c.Hear(c.now, &News{From: living("c"), Tuples: []Tuple{x.told, x.told}})
		got := elsewhere(out)
		switch {
		case len(got) > 1 || (len(got) == 1) != x.want:
			t.Errorf("%s: it is told of %d jobs here, want one: %v", x.name, len(got), x.want)
		case x.want && (got[0].Age != 10*time.Second || got[0].Holder != c.self ||
			x.here.Restarted && !got[0].sameJob(x.told)):
			t.Errorf("%s: it is told %+v", x.name, got[0])
		}
	}
}

// An orphan gives way to whoever began before it; what is waited for does not, whoever says so.
func TestOrphansGiveWay(t *testing.T) {
	for _, x := range []struct {
		name   string
		orphan bool
		what   Tuple
		want   bool
	}{
		{"the same job", true, orphanAt("d", time.Minute, jobAt(3, 1)), true},
		{"one above", true, orphanAt("d", time.Minute, jobAt(3)), true},
		{"the run's root", true, orphanAt("d", time.Minute, Job{}), true},
		{"one below", true, orphanAt("d", time.Minute, jobAt(3, 1, 1)), false},
		{"one beside it", true, orphanAt("d", time.Minute, jobAt(4)), false},
		{"one that began later", true, orphanAt("d", time.Second, jobAt(3, 1)), false},
		{"what is waited for", false, orphanAt("d", time.Minute, jobAt(3, 1)), false},
	} {
		c := salvageCore(t, nil)
		holdFor(c, "b", 1, jobAt(3, 1))
		c.Report(c.now+10*time.Second, Load{Workers: 1, Runs: 1})
		if x.orphan {
			goodbye(c, "b")
		} else { // but another job is for nobody
			c.Report(c.now, Load{Workers: 2, Idle: 1, Runs: 1})
			holdFor(c, "e", 1, jobAt(7))
			c.Report(c.now, Load{Workers: 2, Runs: 2})
			goodbye(c, "e")
		}
		out := c.Step(c.now, &Message{From: living("d"), To: c.self, Abort: &Abort{Elsewhere: []Tuple{x.what}}})
		ended := slices.ContainsFunc(out.Orders, func(o Order) bool { return o.Kind == AbortSegment })
		if ended != x.want || x.want != (c.Stats().OrphansAborted == 1) {
			t.Errorf("%s: the orphan ends: %v", x.name, ended)
		}
	}
}

// Whoever answers has compared with what it was told, as late as it heard that: its answer is taken so too, however
// late it comes. Each would believe else that it is the older one, and none would give way.
func TestAnswersOnASlowLine(t *testing.T) {
	for _, older := range []time.Duration{time.Millisecond, -time.Millisecond} {
		c := salvageCore(t, nil)
		holdFor(c, "b", 1, jobAt(3, 1))
		c.Report(c.now, Load{Workers: 1, Runs: 1})
		goodbye(c, "b")
		news := told(later(c, time.Second))
		if len(news) != 1 {
			t.Fatalf("told %v", news)
		}
		what := orphanAt("d", news[0].Age+older, jobAt(3, 1)) // as it is when that comes, five seconds later
		out := c.Step(c.now+10*time.Second,
			&Message{From: living("d"), To: c.self, Abort: &Abort{Elsewhere: []Tuple{what}}})
		ended := slices.ContainsFunc(out.Orders, func(o Order) bool { return o.Kind == AbortSegment })
		if ended != (older > 0) {
			t.Errorf("older by %v, as it seems there: the orphan ends: %v", older, ended)
		}
	}
}

// What is at work for nobody is told again after 10 s, 20 more, and so on: what was told may have been lost.
func TestOrphansTellAgain(t *testing.T) {
	c := salvageCore(t, nil)
	holdFor(c, "b", 1, jobAt(3))
	c.Report(c.now, Load{Workers: 1, Runs: 1})
	goodbye(c, "b")
	var at []time.Duration
	lost := c.now
	for c.now-lost < 200*time.Second {
		for _, u := range told(later(c, 500*time.Millisecond)) {
			if u.Age != c.now-time.Second {
				t.Errorf("it says that it has been at work for %v, want %v", u.Age, c.now-time.Second)
			}
			at = append(at, (c.now - lost).Round(10*time.Second))
		}
	}
	want := []time.Duration{0, 10 * time.Second, 30 * time.Second, 70 * time.Second, 150 * time.Second}
	if !slices.Equal(at, want) {
		t.Errorf("told after %v, want %v", at, want)
	}
}

// An orphan is told of again as soon as one of two masters gives way to the other, which may have been behind a line
// that was down: the longer that was so, the later the next time would be.
func TestOrphansAreToldToTheMaster(t *testing.T) {
	c := masterCore(t, "d2", false)
	c.Report(0, Load{Workers: 1, Idle: 1})
	holdFor(c, "x", 1, jobAt(3))
	c.Report(c.now, Load{Workers: 1, Runs: 1})
	goodbye(c, "x")
	for c.now < time.Minute {
		c.Hear(c.now, beaconOf(living("d1"), uint64(c.now+1), 1))
		later(c, 500*time.Millisecond)
	}
	for seq := range uint64(2) {
		c.Hear(c.now, beaconOf(living("o"), seq+1, 0))
		if n := len(told(later(c, time.Second))); n != int(1-seq) {
			t.Errorf("after beacon %d of the first master it tells of %d orphans", seq+1, n)
		}
	}
}

// Who gave an orphan away, and is heard again after a long silence, is told of it: it may not have heard of it before.
func TestOrphanIsToldToItsOwner(t *testing.T) {
	c := salvageCore(t, nil)
	holdFor(c, "b", 1, jobAt(3))
	c.Report(c.now, Load{Workers: 1, Runs: 1})
	for len(c.partners.find("b").held) > 0 {
		later(c, 500*time.Millisecond)
	}
	for range 3 {
		later(c, 500*time.Millisecond)
	}
	for i, from := range []PeerID{"e", "b"} {
		c.partners.meet(from).lost = true
		c.Step(c.now, &Message{From: living(from), To: c.self, Hunger: &Hunger{Seq: 1}})
		if got := told(later(c, 100*time.Millisecond)); len(got) != i {
			t.Errorf("when %s is heard it tells of %v", from, got)
		}
	}
}

// Who gets work from below a job that another has, knows that the other is at work: idle workers wait for it anew, but
// not for ever. What a copy of that job has spawned shows nothing.
func TestWorkFromBelow(t *testing.T) {
	again := jobAt(1, 5)
	again.Restarted = true
	for _, x := range []struct {
		name  string
		job   Job
		until uint64 // when such a job has come last, of which one comes every twenty seconds
		want  time.Duration
	}{
		{"from below", jobAt(1, 5), 20, 51 * time.Second},
		{"from elsewhere", jobAt(2, 5), 20, 31 * time.Second},
		{"from a copy", again, 20, 31 * time.Second},
		{"from below, on and on", jobAt(1, 5), 1000, 241 * time.Second},
	} {
		c := victimCore(t, LAN(), 2)
		g := give(t, c, 0, 1, 1)
		c.leases.refs[1].job.Path = job.Path{1}
		copied := time.Duration(0)
		for seq := uint64(1); seq <= 300 && copied == 0; seq++ {
			c.Report(c.now, Load{Workers: 1, Idle: 1, Runs: c.segments.runs})
			c.Step(c.now+time.Second, &Message{From: thiefNo(0), To: c.self,
				Heartbeat: &Heartbeat{Seq: seq, Held: []Handle{g.Handle}, Seen: seq}})
			if c.Stats().OverdueCopies > 0 {
				copied = c.now
			}
			if seq%20 == 0 && seq <= x.until {
				h := Handle(seq)
				c.Step(c.now, &Message{From: thiefNo(1), To: c.self,
					Reply: &StealReply{Jobs: []Grant{{Handle: h, Job: x.job}}}})
				c.Step(c.now, &Message{From: thiefNo(1), To: c.self, Abort: &Abort{Handles: []Handle{h}}})
			}
		}
		if copied != x.want {
			t.Errorf("%s: a copy after %v, want %v", x.name, copied, x.want)
		}
	}
}
