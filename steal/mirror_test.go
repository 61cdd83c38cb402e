package steal

import (
	"fmt"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
)

// atRoot is below of the peer that holds the root.
func atRoot(s *shared) *book {
	b := below(s)
	b.mirror.masters = newMastership(&s.cfg, &Run{Root: Job{Function: "f"}, Deputies: []PeerID{"a1"}}, "a1", s.members)
	b.segments.root = &segment{root: true, state: running, since: s.now}
	b.segments.enter(b.segments.root)
	return b
}

// A job goes round in a cluster, and a part of it comes back: copies of what comes of that part go to whoever waits for
// the whole job, in the other cluster, and from the root's holder to the keeper there.
func TestCopiesDoNotGoRound(t *testing.T) {
	part := Partial{Path: job.Path{6, 10, 3}, Outcome: []byte("x")}
	for _, x := range []struct {
		wide bool // what came back is for the other cluster: there it goes by itself
		root bool
		want string
	}{{root: false, want: "6"}, {root: true, want: "root"}, {wide: true, root: true, want: "6.10"}} {
		s := ground("a: a1 a2, b: b1")
		b := below(s)
		if x.root {
			b = atRoot(s)
		}
		hold := func(owner PeerID, state segmentState, path ...uint32) {
			h := &segment{job: Job{Path: path}, state: state, since: s.now}
			b.segments.enter(h)
			p := b.partners.meet(owner)
			p.inc = 1
			b.own(p, h, Handle(len(path)))
		}
		mate := PeerID("a2")
		if x.wide {
			mate = "b1"
		}
		hold(mate, running, 6, 10)
		if !x.root {
			hold("b1", lent, 6)
		}
		if got := b.mirror.partOf(part.Path, b.mirror.keeper); got == nil || got.job.Path.String() != x.want {
			t.Errorf("%+v: its copies are for %+v", x, got)
		}
	}
}

// Copies: as many leave together as the link carries in an eighth of the time until the next may, and no more than
// before where that is not known.
func TestCopiesFillTheirShare(t *testing.T) {
	s := ground("a: a1, b: b1")
	b := atRoot(s)
	mi := b.mirror
	for i := range uint32(40) {
		mi.parts = append(mi.parts, copied{Partial: Partial{Path: job.Path{i}, Outcome: make([]byte, 10<<10)}})
	}
	mi.bytes, mi.at = 40*mi.parts[0].Size(), s.now
	leave := func(took time.Duration) (n int) {
		s.out.Messages = nil
		s.now = mi.at
		mi.flush()
		m := s.out.Messages[0].HandOver
		s.now += took
		mi.acked(b.partners.find("b1"), &HandOverAck{ID: m.ID})
		return len(m.Parts)
	}
	if n := leave(time.Millisecond); n != 1 {
		t.Errorf("%d leave on an unknown link", n)
	}
	if n := leave(100 * time.Millisecond); n != 6 { // 10 KiB/ms, and 50 ms are 6.25 for copies
		t.Errorf("%d leave where one takes a millisecond", n)
	}
	if n := leave(time.Microsecond); n != 1 {
		t.Errorf("%d leave where 6 take 100 milliseconds", n)
	}
	if n := leave(time.Microsecond); n != s.cfg.MaxHandOver/mi.parts[0].Size() {
		t.Errorf("%d leave where all could", n)
	}
}

// Copies of a stolen job's parts go to whoever waits for it: those that were worth the way, without what is below
// others, nearest the root first, and none of a job that has ended. The next wait for a sixty-fourth of the job's time.
func TestCopiesGoHome(t *testing.T) {
	s := ground("a: a1 a2, b: b1")
	b := below(s)
	mi := b.mirror
	s.links.stole("b", 100*time.Millisecond, 100)
	owner, mate := b.partners.meet("b1"), b.partners.meet("a2")
	owner.inc = 1
	held := &segment{job: Job{Path: job.Path{1}}, state: running, since: s.now - 3*time.Minute}
	b.segments.enter(held)
	b.own(owner, held, 1)
	part := func(p ...uint32) Partial { return Partial{Path: p, Outcome: []byte("x")} }
	mi.came(part(2, 1), 0)                       // of no job here
	mi.came(part(1, 3), 500*time.Millisecond)    // less than eight times the way
	mi.came(part(1), time.Minute)                // the job itself
	mi.pass(owner, part(1, 7))                   // it knows
	mi.came(part(1, 2, 1, 4), 0)                 // below another
	mi.came(part(1, 5, 1), 900*time.Millisecond) // worth it
	mi.came(part(1, 2), 0)                       // ran in place
	mi.pass(mate, part(1, 4, 4, 1))              // a thief's
	s.now = mi.at
	mi.flush()
	var paths []string
	for _, m := range s.out.Messages {
		for _, p := range m.HandOver.Parts {
			paths = append(paths, p.Path.String())
		}
		if m.To.Peer != "b1" || !m.HandOver.Copy {
			t.Errorf("sent to %v", m.To)
		}
	}
	if got := fmt.Sprint(paths); got != "[1.2 1.5.1 1.4.4.1]" {
		t.Errorf("copied are %s", got)
	}
	sent := s.now
	mi.acked(owner, &HandOverAck{ID: s.handOvers})
	mi.came(part(1, 6), 0)
	if got, want := mi.at-sent, (3*time.Minute+time.Second)/copyAge; got != want {
		t.Errorf("the next leave after %v, want %v", got, want)
	}
	b.release(held)
	s.now, s.out.Messages = mi.at, nil
	if mi.flush(); len(s.out.Messages) > 0 || len(mi.parts) > 0 || mi.bytes != 0 {
		t.Errorf("of a job that has ended %d messages leave, %d parts wait", len(s.out.Messages), len(mi.parts))
	}
}

// Of too many copies those nearest the root stay.
func TestCopiesAreBounded(t *testing.T) {
	s := ground("a: a1, b: b1")
	b := below(s)
	mi := b.mirror
	held := &segment{job: Job{Path: job.Path{1}}, state: running, since: s.now}
	b.segments.enter(held)
	b.own(b.partners.meet("b1"), held, 1)
	for i := range uint32(mostCopies) {
		mi.came(partAt(1, 1, i+1, 1, 1), 0)
	}
	for i := range uint32(mostCopies / 2) {
		mi.came(partAt(1, 1, i+1+mostCopies), 0)
	}
	mi.came(partAt(1, 1, 4*mostCopies), 0)
	if n := len(mi.parts); n != mostCopies/2+1 {
		t.Errorf("%d wait", n)
	}
	size := 0
	for _, p := range mi.parts {
		if size += p.Size(); len(p.Path) != 2 {
			t.Fatalf("%v waits", p.Path)
		}
	}
	if size != mi.bytes {
		t.Errorf("%d bytes wait, %d are counted", size, mi.bytes)
	}
}

// Copies to another cluster use an eighth of the link's bytes by all peers of this one together.
func TestCopiesShareTheLink(t *testing.T) {
	wait := func(clusters string) time.Duration {
		s := ground(clusters)
		b := below(s)
		s.links.stole("b", 100*time.Millisecond, 100)
		owner := b.partners.meet("b1")
		held := &segment{job: Job{Path: job.Path{1}}, state: running, since: s.now}
		b.segments.enter(held)
		b.own(owner, held, 1)
		for i := range uint32(2) {
			b.mirror.came(Partial{Path: job.Path{1, i}, Outcome: make([]byte, 20<<10)}, 0)
		}
		s.now = b.mirror.at
		b.mirror.flush()
		sent := s.now
		s.now += 300 * time.Millisecond
		b.mirror.acked(owner, &HandOverAck{ID: s.handOvers})
		return b.mirror.at - sent
	}
	if got := wait("a: a1, b: b1"); got != 8*300*time.Millisecond {
		t.Errorf("alone it waits for %v", got)
	}
	if got := wait("a: a1 a2 a3 a4, b: b1"); got != 8*(300+3*200)*time.Millisecond {
		t.Errorf("one of four waits for %v", got)
	}
}

// When a job's result comes, the copies of its parts are dropped, and nothing else is.
func TestCopiesGoWithTheResult(t *testing.T) {
	b := below(ground("a: a1, b: b1"))
	b.mirror.masters, b.masters = nil, nil
	b.lost.keepCopies("b1", []Partial{partAt(1, 1, 1), partAt(1, 1, 2, 1), partAt(1, 2, 1)})
	b.lost.keep(partAt(1, 1, 3), own, "")
	b.settle(&lease{ref: 1, job: Job{Path: job.Path{1}}}, []byte("x"), nil)
	var left []string
	for _, k := range b.lost.store.index {
		left = append(left, k.Path.String())
	}
	if got := fmt.Sprint(left); got != "[1.3 2.1]" {
		t.Errorf("kept are %s", got)
	}
}

// copyFrom gives a core a copy of an outcome that a peer has, too.
func copyFrom(c *Core, from PeerID, p Partial) {
	c.Step(c.now, &Message{From: living(from), To: c.self, HandOver: &HandOver{ID: 1, Parts: []Partial{p}, Copy: true}})
}

// A leaver hands over copies only if it has told of them because whoever sent them is gone.
func TestLeaversKeepCopies(t *testing.T) {
	for lost, want := range map[bool]int{false: 0, true: 1} {
		c := salvageCore(t, func(*Config) {})
		copyFrom(c, "b", partAt(1, 1))
		if lost {
			c.Step(c.now, &Message{From: living("b"), To: c.self, Goodbye: &Goodbye{}})
		}
		n := 0
		for _, m := range c.Leave(c.now, time.Second).Messages {
			if m.HandOver != nil {
				n += len(m.HandOver.Parts)
			}
		}
		if n != want {
			t.Errorf("sender lost %t: %d copies are handed over", lost, n)
		}
	}
}

// What is here as a copy, and is handed over by its owner, who leaves, is told.
func TestCopyIsHandedOver(t *testing.T) {
	c := salvageCore(t, func(*Config) {})
	p := partAt(1, 1)
	copyFrom(c, "b", p)
	if c.Tick(c.now + time.Second); c.Stats().TuplesSent != 0 {
		t.Error("a copy is told while its owner is there")
	}
	c.Step(c.now, &Message{From: living("b"), To: c.self, HandOver: &HandOver{ID: 2, Parts: []Partial{p}}})
	if c.Tick(c.now + time.Second); c.Stats().TuplesSent != 1 {
		t.Error("what a leaver hands over is not told")
	}
}

// What a peer had that is lost leaves again: to the master while the job is an orphan, as nobody else knows of it, and
// to whoever adopts it; and nothing leaves twice to one peer. What comes to an orphan leaves too.
func TestCopiesLeaveAgain(t *testing.T) {
	s := ground("a: a1 a2 a3 a4")
	b := below(s)
	mi := b.mirror
	mi.masters = newMastership(&s.cfg, &Run{Root: Job{Function: "f"}, Deputies: []PeerID{"a3"}}, "a1", s.members)
	mi.masters.leader = living("a3")
	held := &segment{job: Job{Path: job.Path{1}}, state: running, since: s.now}
	b.segments.enter(held)
	owner := b.partners.meet("a2")
	b.own(owner, held, 1)
	leaves := func(want string) {
		t.Helper()
		s.out.Messages = nil
		for range 3 {
			s.now += time.Minute
			mi.flush()
		}
		got := ""
		for _, m := range s.out.Messages {
			got += string(m.To.Peer)
			for _, p := range m.HandOver.Parts {
				got += " " + p.Path.String()
			}
			got += ";"
		}
		if got != want {
			t.Errorf("there leave %q, want %q", got, want)
		}
	}
	mi.came(partAt(1, 1, 1), 0)
	leaves("a2 1.1;")
	owner.silent = true
	mi.came(partAt(1, 1, 2), 0)
	leaves("a3 1.1 1.2;")
	owner.lost = true
	b.unown(held)
	held.orphan = true
	mi.again()
	leaves("")
	mi.came(partAt(1, 1, 3), 0)
	leaves("a3 1.3;")
	mi.masters.leader = living("a1") // this peer
	mi.came(partAt(1, 1, 4), 0)
	leaves("")
	held.orphan = false
	b.own(b.partners.meet("a4"), held, 1)
	mi.again()
	leaves("a4 1.1 1.2 1.3 1.4;")
	mi.again()
	leaves("")
}

// Copies leave at once, but not in a job's first second: those of short jobs would leave for nothing.
func TestCopiesOfShortJobs(t *testing.T) {
	for _, x := range []struct{ age, wait time.Duration }{
		{0, time.Second}, {700 * time.Millisecond, 300 * time.Millisecond}, {time.Minute, LAN().TellEvery},
	} {
		b := below(ground("a: a1 a2"))
		held := &segment{job: Job{Path: job.Path{1}}, state: running, since: b.now - x.age}
		b.segments.enter(held)
		b.own(b.partners.meet("a2"), held, 1)
		b.mirror.came(partAt(1, 1, 1), 0)
		if got := b.mirror.at - b.now; got != x.wait {
			t.Errorf("after %v they leave in %v, want %v", x.age, got, x.wait)
		}
	}
}

// What came of a job for which nobody waits, or perhaps, goes to the master at once: whoever did it may be lost before
// it is asked for. It goes nowhere if somebody waits, and again if the master is lost.
func TestHomelessGoToTheMaster(t *testing.T) {
	for name, x := range map[string]struct {
		before, after func(b *book, held *segment)
		want          string
	}{
		"awaited":      {want: ""},
		"silent owner": {before: func(_ *book, held *segment) { held.owner.silent = true }, want: "a3;"},
		"silent later": {after: func(b *book, held *segment) {
			held.owner.silent = true
			lossesOf(b).suspectOwner(held.owner)
		}, want: "a3;"},
		"gone later": {after: func(b *book, held *segment) { lossesOf(b).loseOwner(held.owner) }, want: "a3;"},
		"doubted":    {before: func(_ *book, held *segment) { held.doubted = true }, want: "a3;"},
		"orphan":     {before: func(b *book, held *segment) { b.unown(held); held.orphan = true }, want: "a3;"},
		"owner heard in time": {before: func(_ *book, held *segment) { held.owner.silent = true },
			after: func(_ *book, held *segment) { held.owner.silent = false }, want: ""},
		"lost master": {before: func(_ *book, held *segment) { held.owner.silent = true },
			after: func(b *book, _ *segment) { b.mirror.masters.leader = living("a4") }, want: "a4;"},
		"this is the master": {before: func(_ *book, held *segment) { held.owner.silent = true },
			after: func(b *book, _ *segment) { b.mirror.masters.leader = living("a1") }, want: ""},
	} {
		s := ground("a: a1 a2 a3 a4")
		b := below(s)
		run := &Run{Root: Job{Function: "f"}, Deputies: []PeerID{"a3"}}
		b.masters = newMastership(&s.cfg, run, "a1", s.members)
		b.mirror.masters, b.masters.leader = b.masters, living("a3")
		held := &segment{job: jobAt(1), state: running, since: s.now}
		b.segments.enter(held)
		b.own(b.partners.meet("a2"), held, 1)
		if x.before != nil {
			x.before(b, held)
		}
		b.finish(held, []byte("x"), nil)
		if x.after != nil {
			x.after(b, held)
		}
		got := ""
		for range 3 {
			s.now += time.Minute
			b.mirror.again()
			b.mirror.flush()
		}
		for _, m := range s.out.Messages {
			if m.HandOver != nil && m.HandOver.Copy && m.HandOver.Parts[0].Path.String() == "1" {
				got += string(m.To.Peer) + ";"
			}
		}
		if got != x.want {
			t.Errorf("%s: it goes to %q, want %q", name, got, x.want)
		}
	}
}

// lossesOf decides what becomes of the work of owners that are gone.
func lossesOf(b *book) *losses {
	return &losses{shared: b.shared, partners: b.partners, segments: b.segments, leases: b.leases, lost: b.lost,
		book: b}
}

// A copy of what this peer has computed itself is passed on like any other: whoever waits for the job above knows
// nothing of it. It stays what it is here, and is told of when its own owner is lost.
func TestCopiesOfOnesOwn(t *testing.T) {
	c := salvageCore(t, nil)
	holdFor(c, "c", 1, jobAt(1))
	p := partAt(1, 1, 2)
	c.lost.keep(p, settled, "d")
	copyFrom(c, "b", p)
	k := c.lost.store.find(p.Path, p.Identity)
	if len(c.mirror.parts) != 1 || k.class != settled || k.owner != "d" || k.copied {
		t.Errorf("%d parts are passed on; here it is %+v", len(c.mirror.parts), k)
	}
}

// The root's jobs are copied again when whoever had the copies is gone, not because somebody better has come.
func TestKeeperIsFollowed(t *testing.T) {
	s := ground("a: a1, b: b1 b2")
	b := atRoot(s)
	mi := b.mirror
	to := func() (id PeerID) {
		s.out.Messages = nil
		mi.again()
		s.now += time.Minute
		mi.flush()
		for _, m := range s.out.Messages {
			id += m.To.Peer
		}
		return id
	}
	mi.came(partAt(1, 1), 0)
	first := to()
	other := map[PeerID]PeerID{"b1": "b2", "b2": "b1"}[first]
	if id := to(); other == "" || id != "" {
		t.Fatalf("copies leave to %q, then to %q", first, id)
	}
	mi.masters.ranks.deputies = []PeerID{"a1", other}
	if id := to(); id != "" {
		t.Errorf("%s is better, and copies leave to %q", other, id)
	}
	s.members = parseMembers("a: a1, b: " + string(other))
	if id := to(); id != other {
		t.Errorf("%s is gone, and copies leave to %q", first, id)
	}
}

// Copies of those who are no members any more are told, though they were never partners.
func TestStrayCopiesAreTold(t *testing.T) {
	b := below(ground("a: a1, b: b1"))
	b.lost.keepCopies("b1", []Partial{partAt(1, 1, 1)})
	b.lost.keepCopies("b2", []Partial{partAt(1, 2, 1)})
	b.lost.announceStrays()
	if jobs := b.lost.telling.jobs; len(jobs) != 1 || jobs[0].path.String() != "2.1" {
		t.Errorf("told are %v", jobs)
	}
}
