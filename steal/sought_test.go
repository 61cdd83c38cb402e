package steal

import (
	"slices"
	"testing"
	"time"
)

// adoptedFrom is the handle under which a peer is asked for an orphan, the first one; 0: it is not asked.
func adoptedFrom(who PeerID, o Output) Handle {
	for _, m := range o.Messages {
		if m.Adopt != nil && m.To.Peer == who {
			return m.Adopt.Jobs[0].Handle
		}
	}
	return 0
}

// A job that waits here is not begun if another is known to be at work on it, as where two masters were at work, or if
// what came of it is here.
func TestWaitingIsSought(t *testing.T) {
	news := func(c *Core) Output {
		return c.Hear(c.now, &News{From: living("d"), Tuples: []Tuple{orphanAt("d", time.Second, jobAt(3))}})
	}
	job := func(c *Core) Output { return holdFor(c, "b", 1, jobAt(3)) }
	for name, steps := range map[string][]func(*Core) Output{"news first": {news, job}, "job first": {job, news}} {
		c := salvageCore(t, nil)
		c.Report(c.now, Load{Workers: 1})
		steps[0](c)
		if out := steps[1](c); adoptedFrom("d", out) == 0 {
			t.Errorf("%s: it says %+v", name, out.Messages)
		}
	}
	c := salvageCore(t, nil)
	c.Report(c.now, Load{Workers: 1})
	job(c)
	if out := c.Restore(c.now, []Partial{partAt(10, 3)}); len(out.Messages) == 0 || out.Messages[0].Result == nil {
		t.Errorf("what came of it is brought: it says %+v", out.Messages)
	}
}

// Where two masters were at work, and each gave the same job away, neither is run again: that which began later gives
// way to an orphan that began before, or to its outcome, and does not seek it where it came from.
func TestFirstRunGivesWay(t *testing.T) {
	done := orphanAt("d", 0, jobAt(3))
	done.Done = true
	for name, x := range map[string]struct {
		told Tuple
		want bool
	}{
		"begun before":     {orphanAt("d", time.Minute, jobAt(3)), true},
		"begun later":      {orphanAt("d", time.Second, jobAt(3)), false},
		"done":             {done, true},
		"at who gave it":   {orphanAt("b", time.Minute, jobAt(3)), false},
		"a job beside it":  {orphanAt("d", time.Minute, jobAt(4)), false},
		"another argument": {orphanAt("d", time.Minute, Job{Path: jobAt(3).Path}), false},
	} {
		c := salvageCore(t, nil)
		holdFor(c, "b", 1, jobAt(3))
		c.Report(c.now+2*time.Second, Load{Workers: 1, Runs: 1})
		out := c.Hear(c.now, &News{From: x.told.Holder, Tuples: []Tuple{x.told}})
		ended := orders(out, AbortSegment) != nil
		if asked := adoptedFrom(x.told.Holder.Peer, out) != 0; asked != x.want || ended != x.want {
			t.Errorf("%s: it is asked for: %v, and the one here ends: %v", name, asked, ended)
		}
	}
}

// So it is with what who gave a job has begun itself since then, while it could not hear who got it and let it wait.
func TestFirstRunGivesWayToItsGiver(t *testing.T) {
	for _, since := range []time.Duration{-time.Second, time.Second, 3 * time.Second} {
		c := salvageCore(t, nil)
		c.Report(c.now, Load{Workers: 1})
		got := c.now
		holdFor(c, "b", 1, jobAt(3))
		c.Report(got+2*time.Second, Load{Workers: 1, Idle: 1})
		c.Report(got+4*time.Second, Load{Workers: 1, Runs: 1})
		told := orphanAt("b", c.now-got-since, jobAt(3))
		asked := adoptedFrom("b", c.Hear(c.now, &News{From: told.Holder, Tuples: []Tuple{told}})) != 0
		if want := since == time.Second; asked != want {
			t.Errorf("begun %v after it was given, and here after 2s: it is asked for: %v", since, asked)
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
			for _, o := range orders(out, RunSegment) {
				began = append(began, o.Segment)
			}
			for _, o := range orders(out, AbortSegment) {
				aborted = append(aborted, o.Segment)
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
	if adoptedFrom("d", out) == 0 {
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
	if orders(out, AbortSegment) != nil {
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
		sent := adoptedFrom("d", c.Hear(c.now, &News{From: living("d"),
			Tuples: []Tuple{orphanAt("d", time.Minute, jobAt(3))}}))
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
		sent := adoptedFrom("d", c.Hear(c.now, &News{From: living("d"),
			Tuples: []Tuple{orphanAt("d", x.age, jobAt(3))}}))
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
		asked := func(who PeerID, out Output) Handle {
			h := adoptedFrom(who, out)
			if h == 0 {
				t.Fatalf("%s is not asked: %+v", who, out.Messages)
			}
			return h
		}
		j := jobAt(3, 1)
		j.Restarted = true
		c.partners.meet("d").inc = 1
		c.lost.learn(orphanAt("d", time.Minute, j))
		h := asked("d", c.Found(c.now, []Taken{{Ref: 2, Job: j, Spawned: true}}))
		c.Report(c.now, Load{Workers: 1, Idle: idle})
		out := c.Step(c.now, &Message{From: living("d"), To: c.self, Return: &Return{Handles: []Handle{h}}})
		if orders(out, RunSegment) != nil {
			t.Fatalf("with %d idle workers it begins it at once", idle)
		}
		c.Report(c.now, Load{Workers: 1, Idle: idle})
		out = c.Tick(c.now + c.cfg.HeartbeatEvery)
		ran := orders(out, RunSegment) != nil
		if ran != (idle > 0) {
			t.Fatalf("with %d idle workers it begins it: %v", idle, ran)
		}
		out = c.Hear(c.now, &News{From: living("e"), Tuples: []Tuple{orphanAt("e", time.Minute, j)}})
		asked("e", out)
		ended := orders(out, AbortSegment) != nil
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
	adoptedIsLetGo(t, unwanted, 0)
	adoptedIsLetGo(t, older, 1) // that of the orphan
}

func adoptedIsLetGo(t *testing.T, ends func(*Core), leases int) {
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
	if !slices.Equal(disowned, []PeerID{"d"}) || !slices.Equal(aborted, []PeerID{"e"}) || c.leases.n != leases {
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
	for n := range uint64(2 * maxSought) {
		for _, p := range []PeerID{"b", "c"} {
			c.Step(c.now, &Message{From: living(p), To: c.self, Heartbeat: &Heartbeat{Seq: n + 1, Held: []Handle{1}}})
		}
		c.Report(c.now, Load{Workers: 1, Runs: runs})
		out := c.Hear(c.now, &News{From: living("c"), Tuples: []Tuple{orphanAt("c", time.Minute, j)}})
		for _, m := range out.Messages {
			if m.Adopt == nil {
				continue
			}
			adopted++
			c.Report(c.now, Load{Workers: 1, Idle: 1, Runs: runs})
			out := c.Step(c.now, &Message{From: living("c"), To: c.self,
				Return: &Return{Handles: []Handle{m.Adopt.Jobs[0].Handle}}})
			rested := c.Tick(c.now + c.cfg.HeartbeatEvery)
			runs += uint64(len(orders(out, RunSegment)) + len(orders(rested, RunSegment)))
		}
	}
	if adopted != 3 {
		t.Errorf("it is given up %d times, want 3", adopted)
	}
}

// What a silent peer has told of before is asked for when it is heard again, or when it tells something to everybody:
// it may have had nothing to say to this peer. If it does not answer, it is lost once more.
func TestHolderIsHeardAgain(t *testing.T) {
	j := jobAt(4, 1)
	j.Restarted = true
	works := &News{From: living("b"), Tuples: []Tuple{{Path: j.Path, Identity: j.Identity, Holder: living("b")}}}
	for name, speak := range map[string]func(c *Core) Output{
		"says something": func(c *Core) Output {
			return c.Step(c.now, &Message{From: living("b"), To: c.self, Hunger: &Hunger{Seq: 1}})
		},
		"tells it again": func(c *Core) Output { return c.Hear(c.now, works) },
	} {
		c := salvageCore(t, nil)
		c.Report(c.now, Load{Workers: 1})
		b := c.partners.meet("b")
		b.inc = 1
		c.Hear(c.now, works)
		b.lost = true
		if adoptedFrom("b", holdFor(c, "d", 1, j)) != 0 {
			t.Fatal("a peer that is silent is asked for it")
		}
		if out := speak(c); adoptedFrom("b", out) == 0 {
			t.Errorf("it %s, and is not asked: %+v", name, out)
		}
		if b.lost {
			t.Errorf("it %s, and is asked, and not waited for", name)
		}
		for range 100 {
			c.partners.find("d").heard = c.now
			c.Report(c.now, Load{Workers: 1})
			later(c, time.Second)
		}
		if !b.lost || len(b.leases) > 0 && b.leases[0].copy == nil && b.leases[0].parent != nil {
			t.Errorf("it %s, and is asked, and waited for without an end", name)
		}
	}
}

// Who was caught is not asked for anything, whatever he has told since he fell silent, or tells.
func TestOutcastIsNotAsked(t *testing.T) {
	c := salvageCore(t, nil)
	c.Report(c.now, Load{Workers: 1})
	j := jobAt(4, 1)
	j.Restarted = true
	b := c.partners.meet("b")
	b.inc, b.lost = 1, true
	works := &News{From: living("b"), Tuples: []Tuple{{Path: j.Path, Identity: j.Identity, Holder: living("b")}}}
	c.Hear(c.now, works)
	c.Shun(c.now, Outcasts{Caught: "b"})
	if adoptedFrom("b", holdFor(c, "d", 1, j)) != 0 || adoptedFrom("b", c.Hear(c.now, works)) != 0 {
		t.Error("he is asked for what he told")
	}
	c.lost.learn(works.Tuples[0]) // as with a job
	other := &News{From: living("d"), Tuples: []Tuple{orphanAt("d", 0, jobAt(9))}}
	if adoptedFrom("b", c.Hear(c.now, other)) != 0 {
		t.Error("he is asked for what others have heard of him")
	}
	if c.stats.DroppedStale == 0 {
		t.Error("he is heard")
	}
}

// TestRestsForNews: where peers leave together, news of whoever has a part of a job and stays comes after the last
// goodbye: the job is not begun before, and never if somebody has it.
func TestRestsForNews(t *testing.T) {
	for _, told := range []bool{false, true} {
		c := salvageCore(t, nil)
		j := jobAt(3, 1)
		j.Restarted = true
		c.partners.meet("d").inc = 1
		c.lost.learn(orphanAt("d", time.Minute, j))
		c.Found(c.now, []Taken{{Ref: 2, Job: j, Spawned: true}})
		c.Report(c.now, Load{Workers: 1, Idle: 1})
		out := c.Step(c.now, &Message{From: living("d"), To: c.self, Goodbye: &Goodbye{}})
		if at, ok := c.Next(); orders(out, RunSegment) != nil || !ok || at > c.now+c.cfg.HeartbeatEvery {
			t.Fatalf("it is begun at once, or not looked at in time: %+v, %v", out.Orders, at-c.now)
		}
		if told {
			out = c.Hear(c.now, &News{From: living("e"), Tuples: []Tuple{orphanAt("e", time.Minute, j)}})
			if adoptedFrom("e", out) == 0 {
				t.Error("who tells of it is not asked")
			}
		}
		if ran := orders(c.Tick(c.now+c.cfg.HeartbeatEvery), RunSegment) != nil; ran == told {
			t.Errorf("somebody has told: %v; it is begun: %v", told, ran)
		}
	}
}
