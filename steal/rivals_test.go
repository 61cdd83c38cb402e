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
// for longer: not of one that has given the job away, or that is to run it again and looks for orphans, or that began
// later.
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
		{"run again, one below", again, orphanAt("c", 5*time.Second, jobAt(3, 1)), nil, false},
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
		case x.want && (got[0].Age != 10*time.Second || got[0].Holder != c.self):
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
		}
		out := c.Step(c.now, &Message{From: living("d"), To: c.self, Abort: &Abort{Elsewhere: []Tuple{x.what}}})
		ended := slices.ContainsFunc(out.Orders, func(o Order) bool { return o.Kind == AbortSegment })
		if ended != x.want || x.want != (c.Stats().OrphansAborted == 1) {
			t.Errorf("%s: the orphan ends: %v", x.name, ended)
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
			at = append(at, (c.now - lost).Round(5*time.Second))
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

// A job that waits here is not begun if another is known to be at work on it, as where two masters were at work.
func TestWaitingIsSought(t *testing.T) {
	news := func(c *Core) Output {
		return c.Hear(c.now, &News{From: living("d"), Tuples: []Tuple{orphanAt("d", time.Second, jobAt(3))}})
	}
	job := func(c *Core) Output { return holdFor(c, "b", 1, jobAt(3)) }
	for name, steps := range map[string][]func(*Core) Output{"news first": {news, job}, "job first": {job, news}} {
		c := salvageCore(t, nil)
		c.Report(c.now, Load{Workers: 1})
		steps[0](c)
		if out := steps[1](c); !slices.ContainsFunc(out.Messages,
			func(m *Message) bool { return m.Adopt != nil && m.To.Peer == "d" }) {
			t.Errorf("%s: it says %+v", name, out.Messages)
		}
	}
}

// A job that goes round, from peer to peer, may come back to one that has passed it on before. If those between fall
// silent, that one runs it in their stead, beside what it has: that takes the copy's place when perhaps nobody waits
// for it any more.
func TestJobThatWentRound(t *testing.T) {
	for _, gone := range []bool{false, true} {
		c := salvageCore(t, func(cfg *Config) { cfg.LeaseEnd = 0 })
		c.Report(c.now, Load{Workers: 1})
		holdFor(c, "d", 1, jobAt(3))
		c.Step(c.now, &Message{From: living("b"), To: c.self, Request: &StealRequest{ID: 1, Max: 1}})
		c.Report(c.now, Load{Workers: 1, Idle: 1})
		var began []SegmentID
		note := func(out Output) (aborted []SegmentID) {
			for _, o := range out.Orders {
				switch o.Kind {
				case RunSegment:
					began = append(began, o.Segment)
				case AbortSegment:
					aborted = append(aborted, o.Segment)
				}
			}
			return aborted
		}
		note(holdFor(c, "e", 9, jobAt(3)))
		c.Report(c.now, Load{Workers: 2, Idle: 1, Runs: 1})
		for i := 0; len(began) < 2 && i < 100; i++ {
			c.partners.find("d").heard, c.partners.find("e").heard = c.now, c.now
			note(later(c, time.Second))
		}
		if len(began) != 2 {
			t.Fatalf("it began %v: not the job, and the copy of it for the silent thief", began)
		}
		c.Report(c.now, Load{Workers: 2, Runs: 2})
		var aborted []SegmentID
		if c.partners.find("d").lost = true; gone {
			aborted = append(note(goodbye(c, "d")), note(goodbye(c, "e"))...)
		} else {
			aborted = note(c.Step(c.now, &Message{From: living("e"), To: c.self,
				Disown: &Disown{Handles: []Handle{9}, Perhaps: true}}))
		}
		if !slices.Equal(aborted, began[1:]) {
			t.Errorf("both are gone: %v; of %v it ends %v", gone, began, aborted)
		}
	}
}

// heir is a core whose thief "c" of job 3 is silent, so that it runs that itself, and has adopted 3.1 from "d" and
// given 3.2 to "e".
func heir(t *testing.T) (c *Core, stolen Handle) {
	t.Helper()
	c = salvageCore(t, func(cfg *Config) { cfg.LeaseEnd = 0 })
	stolen = c.leases.lend(c.partners.meet("c"), &lease{ref: 1, job: jobAt(3)})
	c.partners.find("c").inc = 1
	for c.leases.refs[1].copy == nil || c.leases.refs[1].copy.state != running {
		at, ok := c.Next()
		if !ok || at > time.Minute {
			t.Fatal("the silent thief's job is not run")
		}
		c.Tick(at)
	}
	c.Report(c.now, Load{Workers: 1, Runs: 1})
	d := c.partners.meet("d")
	c.lost.learn(orphanAt("d", 0, jobAt(3, 1)))
	j := jobAt(3, 1)
	j.Restarted = true
	d.inc = 1
	out := c.Found(c.now, []Taken{{Ref: 2, Job: j, Spawned: true}})
	if !slices.ContainsFunc(out.Messages, func(m *Message) bool { return m.Adopt != nil && m.To.Peer == "d" }) {
		t.Fatal("the orphan is not adopted")
	}
	c.partners.meet("e").inc = 1
	c.leases.lend(c.partners.find("e"), &lease{ref: 3, job: jobAt(3, 2)})
	return c, stolen
}

// A copy that has adopted what its thief had given away is further than the thief, for however short a time it has run.
func TestHeirGoesOn(t *testing.T) {
	c, h := heir(t)
	out := c.Step(c.now, &Message{From: living("c"), To: c.self, Heartbeat: &Heartbeat{Seq: 1, Held: []Handle{h}}})
	if slices.ContainsFunc(out.Orders, func(o Order) bool { return o.Kind == AbortSegment }) {
		t.Error("the copy ends when its thief is heard again")
	}
	if !slices.ContainsFunc(out.Messages, func(m *Message) bool {
		return m.Abort != nil && m.To.Peer == "c" && slices.Equal(m.Abort.Handles, []Handle{h})
	}) {
		t.Error("the thief is not told that its job is not wanted")
	}
}

// So it is where the copy itself was given up for an orphan of the same job, as long as that one has it.
func TestSoughtIsHeir(t *testing.T) {
	for _, has := range []bool{true, false} {
		c := salvageCore(t, func(cfg *Config) { cfg.LeaseEnd = 0 })
		c.Report(c.now, Load{Workers: 1})
		h := c.leases.lend(c.partners.meet("c"), &lease{ref: 1, job: jobAt(3)})
		c.partners.find("c").inc = 1
		for c.leases.refs[1].copy == nil {
			later(c, 500*time.Millisecond)
		}
		var sent Handle
		for _, m := range c.Hear(c.now, &News{From: living("d"),
			Tuples: []Tuple{orphanAt("d", time.Minute, jobAt(3))}}).Messages {
			if m.Adopt != nil && m.To.Peer == "d" {
				sent = m.Adopt.Jobs[0].Handle
			}
		}
		if sent == 0 {
			t.Fatal("the orphan is not adopted in the copy's stead")
		}
		if !has {
			c.Step(c.now, &Message{From: living("d"), To: c.self, Return: &Return{Handles: []Handle{sent}}})
		}
		var aborted []PeerID
		for _, m := range c.Step(c.now, &Message{From: living("c"), To: c.self,
			Heartbeat: &Heartbeat{Seq: 1, Held: []Handle{h}}}).Messages {
			if m.Abort != nil {
				aborted = append(aborted, m.To.Peer)
			}
		}
		if slices.Equal(aborted, []PeerID{"c"}) != has || len(aborted) > 0 != has {
			t.Errorf("another has the job: %v; when the thief is heard again %v are told that it is not wanted", has, aborted)
		}
	}
}

// A copy that was made though the thief was heard, because it takes long, may turn out to be an orphan that somebody
// has: the thief ends when that is at work, if it began before the thief got the job.
func TestOutdoneThiefStops(t *testing.T) {
	for _, x := range []struct {
		age          time.Duration
		listed, ends bool
	}{{time.Hour, true, true}, {time.Hour, false, false}, {2 * time.Second, true, false}} {
		c := salvageCore(t, func(cfg *Config) { cfg.LeaseEnd = 0 })
		h := c.leases.lend(c.partners.meet("c"), &lease{ref: 1, job: jobAt(3)})
		l := c.leases.refs[1]
		c.partners.find("c").inc = 1
		for range 10 {
			c.partners.find("c").heard = c.now
			later(c, time.Second)
		}
		l.copy = &segment{copyOf: l, eager: true, job: jobAt(3), since: c.now}
		l.copy.job.Restarted = true
		c.segments.enter(l.copy)
		c.segments.putFirst(l.copy)
		var sent Handle
		for _, m := range c.Hear(c.now, &News{From: living("d"),
			Tuples: []Tuple{orphanAt("d", x.age, jobAt(3))}}).Messages {
			if m.Adopt != nil && m.To.Peer == "d" {
				sent = m.Adopt.Jobs[0].Handle
			}
		}
		if sent == 0 {
			t.Fatal("the orphan is not adopted in the copy's stead")
		}
		if x.listed {
			c.Step(c.now, &Message{From: living("d"), To: c.self, Heartbeat: &Heartbeat{Seq: 1, Held: []Handle{sent}}})
		}
		out := c.Step(c.now, &Message{From: living("c"), To: c.self, Heartbeat: &Heartbeat{Seq: 1, Held: []Handle{h}}})
		ends := slices.ContainsFunc(out.Messages, func(m *Message) bool { return m.Abort != nil && m.To.Peer == "c" })
		if ends != x.ends {
			t.Errorf("%+v: the thief is told to end: %v", x, ends)
		}
		if c.leases.refs[1] == nil || c.leases.refs[1].copy == nil {
			t.Errorf("%+v: nobody waits for the orphan", x)
		}
	}
}

// An orphan that its holder has not got any more may be elsewhere: who tells of it is asked, though a worker has begun
// the job meanwhile, and is stopped.
func TestOrphanIsSoughtElsewhere(t *testing.T) {
	for _, idle := range []int{0, 1} {
		c := salvageCore(t, nil)
		c.Report(c.now, Load{Workers: 1})
		asked := func(who PeerID, out Output) (h Handle) {
			for _, m := range out.Messages {
				if m.Adopt != nil && m.To.Peer == who {
					return m.Adopt.Jobs[0].Handle
				}
			}
			t.Fatalf("%s is not asked: %+v", who, out.Messages)
			return 0
		}
		j := jobAt(3, 1)
		j.Restarted = true
		c.partners.meet("d").inc = 1
		c.lost.learn(orphanAt("d", time.Minute, j))
		h := asked("d", c.Found(c.now, []Taken{{Ref: 2, Job: j, Spawned: true}}))
		c.Report(c.now, Load{Workers: 1, Idle: idle})
		out := c.Step(c.now, &Message{From: living("d"), To: c.self, Return: &Return{Handles: []Handle{h}}})
		ran := slices.ContainsFunc(out.Orders, func(o Order) bool { return o.Kind == RunSegment })
		if ran != (idle > 0) {
			t.Fatalf("with %d idle workers it begins it: %v", idle, ran)
		}
		out = c.Hear(c.now, &News{From: living("e"), Tuples: []Tuple{orphanAt("e", time.Minute, j)}})
		asked("e", out)
		ended := slices.ContainsFunc(out.Orders, func(o Order) bool { return o.Kind == AbortSegment })
		if ended != (idle > 0) {
			t.Errorf("with %d idle workers, its own is ended: %v", idle, ended)
		}
	}
}

// A segment that was given up for another's orphan leaves that an orphan when nobody wants the segment.
func TestSoughtIsLetGo(t *testing.T) {
	c := salvageCore(t, nil)
	c.Report(c.now, Load{Workers: 1})
	j := jobAt(3)
	j.Restarted = true
	holdFor(c, "b", 1, j)
	c.partners.meet("d").inc = 1
	c.Hear(c.now, &News{From: living("d"), Tuples: []Tuple{orphanAt("d", time.Minute, j)}})
	out := c.Step(c.now, &Message{From: living("b"), To: c.self, Abort: &Abort{Handles: []Handle{1}}})
	if len(out.Messages) != 1 || out.Messages[0].Disown == nil || out.Messages[0].To.Peer != "d" || c.leases.n != 0 {
		t.Errorf("it says %+v, and has %d leases", out.Messages, c.leases.n)
	}
}

// What a segment has adopted is an orphan again when nobody wants the segment, or when that is given up for
// an orphan of its job: others were at work on it before. What it had spawned itself is not wanted any more.
func TestAdoptedIsLetGo(t *testing.T) {
	unwanted := func(c *Core) {
		c.Step(c.now, &Message{From: living("b"), To: c.self, Abort: &Abort{Handles: []Handle{1}}})
	}
	older := func(c *Core) {
		c.Hear(c.now, &News{From: living("c"), Tuples: []Tuple{orphanAt("c", time.Hour, jobAt(3))}})
	}
	for _, ends := range []func(*Core){unwanted, older} {
		adoptedIsLetGo(t, ends)
	}
}

func adoptedIsLetGo(t *testing.T, ends func(*Core)) {
	t.Helper()
	c := salvageCore(t, nil)
	j := jobAt(3)
	j.Restarted = true
	holdFor(c, "b", 1, j)
	c.Report(c.now, Load{Workers: 1, Runs: 1})
	for _, id := range []PeerID{"d", "e"} {
		c.partners.meet(id).inc = 1
	}
	c.lost.learn(orphanAt("d", 0, jobAt(3, 1)))
	k := jobAt(3, 1)
	k.Restarted = true
	c.Found(c.now, []Taken{{Ref: 2, Job: k, Spawned: true}})
	c.leases.lend(c.partners.find("e"), &lease{ref: 3, job: jobAt(3, 2)})
	ends(c)
	var disowned, aborted []PeerID
	for _, m := range c.Aborted(c.now, 2, 3).Messages {
		switch {
		case m.Disown != nil && !m.Disown.Perhaps:
			disowned = append(disowned, m.To.Peer)
		case m.Abort != nil:
			aborted = append(aborted, m.To.Peer)
		}
	}
	if !slices.Equal(disowned, []PeerID{"d"}) || !slices.Equal(aborted, []PeerID{"e"}) || len(c.leases.refs) > 0 {
		t.Errorf("orphans now: what %v have; not wanted: what %v have", disowned, aborted)
	}
}

// What is adopted is aborted like anything else when it is not wanted for itself.
func TestAdoptedIsAborted(t *testing.T) {
	c, _ := heir(t)
	out := c.Aborted(c.now, 2)
	if len(out.Messages) != 1 || out.Messages[0].Abort == nil {
		t.Errorf("it says %+v", out.Messages)
	}
}

// What is adopted for a peer that is silent stays free for others to adopt: they may run the silent one's job by now.
func TestAdoptedForTheSilent(t *testing.T) {
	for _, silent := range []bool{false, true} {
		c := salvageCore(t, nil)
		c.Report(c.now, Load{Workers: 1})
		j := jobAt(3, 1)
		j.Restarted = true
		holdFor(c, "b", 1, j)
		c.partners.find("b").lost = silent
		out := c.Hear(c.now, &News{From: living("d"), Tuples: []Tuple{orphanAt("d", time.Minute, j)}})
		adopted, perhaps := false, false
		for _, m := range out.Messages {
			adopted = adopted || m.Adopt != nil && m.To.Peer == "d"
			perhaps = perhaps || m.Disown != nil && m.Disown.Perhaps && m.To.Peer == "d"
		}
		if !adopted || perhaps != silent {
			t.Errorf("its owner is silent: %v; adopted: %v, and told that others may: %v", silent, adopted, perhaps)
		}
	}
}

// A job that is run again may be given up for what others say that they have, but only so often.
func TestSoughtSoOften(t *testing.T) {
	c := salvageCore(t, nil)
	j := jobAt(3)
	j.Restarted = true
	holdFor(c, "b", 1, j)
	runs, adopted := uint64(1), 0
	for range 2 * maxSought {
		c.Report(c.now, Load{Workers: 1, Runs: runs})
		out := c.Hear(c.now, &News{From: living("c"), Tuples: []Tuple{orphanAt("c", time.Minute, j)}})
		for _, m := range out.Messages {
			if m.Adopt == nil {
				continue
			}
			adopted++
			c.Report(c.now, Load{Workers: 1, Idle: 1, Runs: runs})
			for _, o := range c.Step(c.now, &Message{From: living("c"), To: c.self,
				Return: &Return{Handles: []Handle{m.Adopt.Jobs[0].Handle}}}).Orders {
				if o.Kind == RunSegment {
					runs++
				}
			}
		}
	}
	if adopted != 3 {
		t.Errorf("it is given up %d times, want 3", adopted)
	}
}

// Who gets work from below a job that another has, knows that the other is at work: idle workers wait for it anew, but
// not for ever. What a copy of that job has spawned shows nothing.
func TestWorkFromBelow(t *testing.T) {
	for _, x := range []struct {
		name  string
		job   Job
		until uint64 // when such a job has come last, of which one comes every twenty seconds
		want  time.Duration
	}{
		{"from below", Job{Path: job.Path{1, 5}}, 20, 51 * time.Second},
		{"from elsewhere", Job{Path: job.Path{2, 5}}, 20, 31 * time.Second},
		{"from a copy", Job{Path: job.Path{1, 5}, Restarted: true}, 20, 31 * time.Second},
		{"from below, on and on", Job{Path: job.Path{1, 5}}, 1000, 241 * time.Second},
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
