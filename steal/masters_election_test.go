package steal

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
)

var everybodyAlive = func(PeerID) bool { return true }

// seat is the mastership of a peer in a run whose deputies are o (the owner), d1, d2. The root is not kept waiting.
func seat(self PeerID, fresh bool, members string) *mastership {
	cfg := LAN()
	m := newMastership(&cfg, &Run{ID: job.RunID{7}, Root: Job{Function: "f"}, Deputies: []PeerID{"o", "d1", "d2"},
		Fresh: fresh}, self, parseMembers(members))
	m.work(false, true)
	return m
}

// at lets a mastership look at every half beacon period up to a time, as a core on time does, and returns
// when it first decided to do something, and what.
func (m *mastership) at(until time.Duration, alive func(PeerID) bool) (time.Duration, decision) {
	for now := m.seen; now <= until; now = max(now, m.next()) {
		m.pass(now)
		if d := m.look(alive); d.Start || d.StepDown || d.Send != nil {
			return now, d
		}
	}
	return 0, decision{}
}

func from(id PeerID, inc Incarnation) Address { return Address{Peer: id, Inc: inc} }

// A Fresh owner is master at once, says so every BeaconEvery, and starts the root once.
func TestFreshOwnerIsMaster(t *testing.T) {
	m := seat("o", true, "a: o d1 d2 x")
	m.pass(time.Second)
	if d := m.look(everybodyAlive); !d.Start || d.Send == nil || d.Send.Seq != 1 || d.Send.Rank != 0 {
		t.Fatalf("it begins with %+v", d)
	}
	for i := range 3 {
		at, d := m.at(time.Minute, everybodyAlive)
		if want := time.Second + time.Duration(i+1)*m.cfg.BeaconEvery; at != want || d.Start ||
			d.Send.Seq != uint64(i+2) {
			t.Errorf("at %v, not %v: %+v", at, want, d)
		}
	}
}

// Who begins when, after the last beacon: the rule of RECOVERY for the first ranks, and never later than the
// whole lease.
func TestWhoBeginsWhen(t *testing.T) {
	lease, step := LAN().MasterLease, LAN().RankStagger
	members := "a: o d1 d2"
	for i := range 40 {
		members += fmt.Sprintf(" x%02d", i)
	}
	begins := func(self PeerID, alive func(PeerID) bool) time.Duration {
		m := seat(self, false, members)
		m.pass(0)
		if _, v := m.hear(from("o", 1), &Beacon{Rank: 0, Seq: 1}); v != counts {
			t.Fatalf("%s does not count the owner's beacon", self)
		}
		at, d := m.at(time.Minute, alive)
		if !d.Start || d.Send == nil {
			t.Fatalf("%s decides %+v", self, d)
		}
		return at
	}
	if at := begins("d1", everybodyAlive); at != lease {
		t.Errorf("the first deputy begins at %v", at)
	}
	if at := begins("d2", everybodyAlive); at != lease+step {
		t.Errorf("the second deputy begins at %v", at)
	}
	if at := begins("d2", func(id PeerID) bool { return id != "d1" }); at != lease {
		t.Errorf("the second deputy, which knows that the first is lost, begins at %v", at)
	}
	var times []time.Duration
	for i := range 40 {
		at := begins(PeerID(fmt.Sprintf("x%02d", i)), everybodyAlive)
		if at > lease+4*step || at > 14*time.Second {
			t.Errorf("x%02d begins at %v", i, at)
		}
		times = append(times, at)
	}
	slices.Sort(times)
	if len(slices.Compact(slices.Clone(times))) != len(times) {
		t.Errorf("some begin at the same time: %v", times)
	}
	if times[0] != lease+2*step || times[1] != lease+3*step {
		t.Errorf("the first after the deputies begin at %v", times[:2])
	}
}

// Usually one peer begins, however many of the best are lost with the master: the others hear it before their time.
func TestOneBegins(t *testing.T) {
	const delay = 100 * time.Millisecond
	for dead := range 7 {
		var ids []PeerID
		members := "a: o d1 d2"
		for i := range 20 {
			members += fmt.Sprintf(" x%02d", i)
		}
		for _, p := range parseMembers(members).Cluster("a").Members {
			ids = append(ids, p.ID)
		}
		r := ranking{job.RunID{7}, []PeerID{"o", "d1", "d2"}}
		slices.SortFunc(ids, r.compare)
		if ids[0] != "o" || ids[1] != "d1" || ids[2] != "d2" {
			t.Fatalf("ranked %v", ids)
		}
		first, began := time.Duration(1<<62), 0
		for _, id := range ids[1+dead:] { // the best of them begins first, as nobody knows who is dead
			m := seat(id, false, members)
			m.pass(0)
			m.hear(from("o", 1), &Beacon{Rank: 0, Seq: 1})
			at, _ := m.at(time.Minute, everybodyAlive)
			if at < first+delay {
				began++
			}
			first = min(first, at)
		}
		if began != 1 {
			t.Errorf("with the owner and %d more dead, %d begin", dead, began)
		}
	}
}

// A beacon counts only with the rank that its sender has, a number that is new in its life, and from somebody else.
func TestBeaconsThatDoNotCount(t *testing.T) {
	r := ranking{job.RunID{7}, []PeerID{"o", "d1", "d2"}}
	for name, b := range map[string]struct {
		from Address
		Beacon
		verdict verdict
	}{
		"a deputy's rank":     {from("x", 1), Beacon{Rank: 1, Seq: 1}, forged},
		"no rank of anybody":  {from("d1", 9), Beacon{Rank: 0, Seq: 9}, forged},
		"a place in a list":   {from("x", 1), Beacon{Rank: 3, Seq: 1}, forged},
		"another peer's hash": {from("x", 1), Beacon{Rank: r.of("y"), Seq: 1}, forged},
		"no number":           {from("d1", 9), Beacon{Rank: 1}, forged},
		"an absurd number":    {from("d1", 9), Beacon{Rank: 1, Seq: 1 << 60}, forged},
		"a repeated number":   {from("d1", 3), Beacon{Rank: 1, Seq: 5}, repeated},
		"an old number":       {from("d1", 3), Beacon{Rank: 1, Seq: 4}, repeated},
		"an earlier life":     {from("d1", 2), Beacon{Rank: 1, Seq: 99}, repeated},
		"from the peer":       {from("d2", 1), Beacon{Rank: 2, Seq: 1}, forged},
		"from an old self":    {from("d2", 0), Beacon{Rank: 2, Seq: 1}, forged},
	} {
		m := seat("d2", false, "a: o d1 d2 x y")
		m.pass(0)
		if _, v := m.hear(from("d1", 3), &Beacon{Rank: 1, Seq: 5}); v != counts {
			t.Fatal("an honest beacon does not count")
		}
		m.pass(time.Second)
		if d, v := m.hear(b.from, &b.Beacon); v != b.verdict || d != (decision{}) || m.silence != time.Second ||
			m.Who() != "d1" {
			t.Errorf("%s: verdict %d, %+v, the master is %q", name, v, d, m.Who())
		}
	}
}

// Who is master is said by whoever is, of several by the first, for a lease, and by nobody else: one that comes after a
// master who is heard is none.
func TestWhoIsMaster(t *testing.T) {
	m := seat("d2", false, "a: o d1 d2 x")
	x := m.ranks.of("x")
	for i, c := range []struct {
		at   time.Duration // in tenths of a lease
		from PeerID        // a beacon of whom is heard; "": of nobody
		want PeerID
	}{{0, "", ""}, {1, "x", "x"}, {2, "d1", "d1"}, {3, "x", "d1"}, {4, "d1", "d1"}, {8, "x", "d1"}, {9, "x", "x"},
		{10, "o", "o"}, {19, "", "o"}, {20, "", ""}} {
		m.pass(c.at * m.cfg.MasterLease / 10)
		if c.from != "" {
			m.hear(from(c.from, 1), &Beacon{Rank: map[PeerID]uint32{"o": 0, "d1": 1, "x": x}[c.from], Seq: uint64(i)})
		}
		if got := m.Who(); got != c.want {
			t.Errorf("at %d tenths it is %q, want %q", c.at, got, c.want)
		}
	}
	if _, d := m.at(time.Hour, everybodyAlive); !d.Start || m.Who() != "d2" {
		t.Errorf("when this peer begins, %t, it is %q", d.Start, m.Who())
	}
}

// The beacons of a dead master, repeated for ever, keep nobody waiting; those of its next life do.
func TestRepeatedBeacons(t *testing.T) {
	m := seat("d1", false, "a: o d1 d2")
	m.pass(0)
	for seq := uint64(1); seq <= 5; seq++ {
		m.hear(from("o", 1), &Beacon{Rank: 0, Seq: seq})
	}
	began := time.Duration(0)
	for now := time.Duration(0); now < time.Minute && began == 0; now += 100 * time.Millisecond {
		m.pass(now)
		m.hear(from("o", 1), &Beacon{Rank: 0, Seq: 1 + uint64(now/time.Second)%5})
		if m.look(everybodyAlive).Start {
			began = now
		}
	}
	if began != m.cfg.MasterLease {
		t.Errorf("it begins at %v", began)
	}
	if d, v := m.hear(from("o", 2), &Beacon{Rank: 0, Seq: 1}); v != counts || !d.StepDown {
		t.Errorf("a new life of the owner as master: %+v, %v", d, v)
	}
}

// However many send beacons, so many are told apart; the one that was heard last is among them.
func TestHeraldsAreBounded(t *testing.T) {
	m := seat("d1", false, "a: o d1 d2")
	for i := range 1000 {
		m.pass(time.Duration(i) * time.Millisecond)
		id := PeerID(fmt.Sprintf("h%03d", i))
		m.hear(from(id, 1), &Beacon{Rank: m.ranks.of(id), Seq: 1})
		m.hear(from("o", 1), &Beacon{Rank: 0, Seq: uint64(i + 1)})
		if len(m.heralds) > maxHeralds {
			t.Fatalf("%d heralds", len(m.heralds))
		}
	}
	if _, v := m.hear(from("o", 1), &Beacon{Rank: 0, Seq: 1000}); v != repeated {
		t.Error("the master was forgotten, and its last beacon counts again")
	}
}

// A master that is flooded with beacons of worse ones does not send as many.
func TestAnswersToBeaconsAreBounded(t *testing.T) {
	m := seat("o", true, "a: o d1 d2")
	m.pass(0)
	m.look(everybodyAlive)
	sent := 0
	for seq := uint64(1); seq <= 1000; seq++ {
		m.pass(time.Duration(seq) * time.Millisecond)
		d, v := m.hear(from("d1", 1), &Beacon{Rank: 1, Seq: seq})
		if v != counts || d.StepDown {
			t.Fatalf("beacon %d: %+v", seq, d)
		}
		if d.Send != nil {
			sent++
		}
	}
	if sent != 2 {
		t.Errorf("%d beacons in a second", sent)
	}
}

// Of two masters that hear each other the one with the worse rank steps down: listed deputies by place, the
// others by hash, and nobody's idea of the members matters.
func TestWorseMasterStepsDown(t *testing.T) {
	names := []PeerID{"o", "d1", "d2", "x", "y", "z"}
	for i, a := range names {
		for _, b := range names[i+1:] {
			ma, mb := seat(a, true, "a: "+string(a)), seat(b, true, "a: o d1 d2 x y z")
			ma.pass(0)
			mb.pass(0)
			ba, bb := ma.look(everybodyAlive).Send, mb.look(everybodyAlive).Send
			da, va := ma.hear(from(b, 1), bb)
			db, vb := mb.hear(from(a, 1), ba)
			if va != counts || vb != counts || da.StepDown == db.StepDown || ma.master == mb.master ||
				ma.master == da.StepDown {
				t.Errorf("%s and %s: %+v and %+v", a, b, da, db)
			}
			if i < 3 && !db.StepDown {
				t.Errorf("deputy %s steps down for %s", a, b)
			}
		}
	}
}

// An owner that comes back, and any better peer that joins late, listens and leaves the root to the sitting master.
func TestReturningOwnerListens(t *testing.T) {
	m := seat("o", false, "a: o d1 d2")
	m.pass(time.Hour)
	for i := range uint64(30) {
		m.pass(time.Hour + time.Duration(i+1)*m.cfg.BeaconEvery)
		if d := m.look(everybodyAlive); d != (decision{}) {
			t.Fatalf("beside a master it decides %+v", d)
		}
		m.hear(from("d2", 1), &Beacon{Rank: 2, Seq: 40 + i})
	}
	last := m.seen
	if at, d := m.at(last+time.Minute, everybodyAlive); !d.Start || at != last+m.cfg.MasterLease { // nobody is better
		t.Errorf("after the master's end it begins at %v: %+v", at-last, d)
	}
}

// A peer that did not run listens for a lease before it believes the master dead, even if the silence was
// nearly over; one whose every tick is late comes to act in the end.
func TestStalledPeerListens(t *testing.T) {
	m := seat("d1", false, "a: o d1 d2")
	m.pass(0)
	m.hear(from("o", 1), &Beacon{Rank: 0, Seq: 1})
	for now := time.Duration(0); now < 5500*time.Millisecond; now += 500 * time.Millisecond {
		m.pass(now)
		if d := m.look(everybodyAlive); d.Start {
			t.Fatalf("at %v: %+v", now, d)
		}
	}
	for _, stall := range []time.Duration{3 * time.Second, time.Hour, 20 * time.Second} {
		woke := m.seen + stall
		m.pass(woke)
		if d := m.look(everybodyAlive); d != (decision{}) {
			t.Fatalf("after a stall of %v: %+v", stall, d)
		}
		if at, _ := m.at(woke+m.cfg.MasterLease-1, everybodyAlive); at != 0 {
			t.Fatalf("after a stall of %v it begins at %v", stall, at-woke)
		}
	}
	if at, d := m.at(m.seen+time.Minute, everybodyAlive); !d.Start {
		t.Errorf("it never begins: %v %+v", at, d)
	}

	slow := seat("d1", false, "a: o d1 d2")
	began := false
	for now := time.Duration(0); now < time.Minute && !began; now += 3 * time.Second {
		slow.pass(now)
		began = slow.look(everybodyAlive).Start
	}
	if !began {
		t.Error("a peer that is always late never begins")
	}
}

// A stalled master goes on when it wakes: a beacon at once, and then the better rank decides, whichever it is.
func TestStalledMasterWakes(t *testing.T) {
	for _, c := range []struct {
		sleeper, other PeerID
		steps          bool
	}{{"o", "d1", false}, {"d2", "d1", true}} {
		m := seat(c.sleeper, true, "a: o d1 d2")
		m.pass(0)
		m.look(everybodyAlive)
		m.pass(time.Hour)
		if d := m.look(everybodyAlive); d.Start || d.Send == nil || d.Send.Seq != 2 {
			t.Errorf("%s wakes with %+v", c.sleeper, d)
		}
		if d, _ := m.hear(from(c.other, 1), &Beacon{Rank: m.ranks.of(c.other), Seq: 1000}); d.StepDown != c.steps {
			t.Errorf("%s wakes, hears %s and decides %+v", c.sleeper, c.other, d)
		}
	}
}

// A goodbye or a new life of the master shortens the wait to the next beacon that another master would send.
func TestMasterKnownToBeGone(t *testing.T) {
	m := seat("d1", false, "a: o d1 d2")
	m.pass(0)
	m.hear(from("o", 3), &Beacon{Rank: 0, Seq: 1})
	m.over("o", 3) // its earlier lives: nothing new
	m.over("x", 9)
	m.pass(time.Second)
	if m.silence != time.Second {
		t.Fatalf("the silence is %v", m.silence)
	}
	m.over("o", 4)
	// its next life listens for longer
	if at, d := m.at(time.Minute, everybodyAlive); !d.Start || at != time.Second+m.cfg.BeaconEvery {
		t.Errorf("it begins at %v: %+v", at, d)
	}
	if _, v := m.hear(from("o", 3), &Beacon{Rank: 0, Seq: 2}); v != repeated {
		t.Error("a beacon of the life that is over counts")
	}
}

// A master with the answer says so at once, keeps others from beginning while it is heard, and does not run the root
// again when it becomes master a second time. An owner that computes keeps its root whoever says that he has the
// answer, and so does a deputy before all behind it.
func TestAnswered(t *testing.T) {
	m := seat("d2", true, "a: o d1 d2 x")
	m.pass(0)
	m.look(everybodyAlive)
	m.pass(time.Second)
	m.finished([16]byte{9})
	d := m.look(everybodyAlive)
	if d.Start || d.Send == nil || d.Send.Answered == nil || *d.Send.Answered != [16]byte{9} {
		t.Fatalf("finished: %+v", d)
	}
	for _, id := range []PeerID{"o", "d1"} {
		o := seat(id, true, "a: o d1 d2 x")
		o.pass(0)
		o.look(everybodyAlive)
		if d, v := o.hear(from("d2", 1), d.Send); d.StepDown || v != counts {
			t.Errorf("%s gives its root to one that says that it has the answer", id)
		}
	}
	if d, _ := m.hear(from("d1", 1), &Beacon{Rank: 1, Seq: 1, Answered: &[16]byte{9}}); !d.StepDown {
		t.Error("of two masters with the answer the worse one remains")
	}
	at, d := m.at(m.seen+time.Minute, everybodyAlive)
	if d.Start || d.Send == nil || d.Send.Answered == nil {
		t.Errorf("master again at %v: %+v", at, d)
	}
}

// A run without deputies has no masters.
func TestNoDeputies(t *testing.T) {
	cfg := LAN()
	for _, run := range []Run{{Root: Job{Function: "f"}}, {Deputies: []PeerID{"a"}}} {
		if newMastership(&cfg, &run, "a", parseMembers("a: a b")) != nil {
			t.Errorf("there is one of %+v", run)
		}
	}
}

// Everybody who hears beacons learns whose root has ended, once: of the first when another follows it, of the
// worse of two, of its own.
func TestWhoseRootHasEnded(t *testing.T) {
	type heard struct {
		after time.Duration
		from  PeerID
		ended PeerID
	}
	for name, c := range map[string]struct {
		self  PeerID
		fresh bool
		heard []heard
	}{
		"succession": {"x", false, []heard{{0, "o", ""}, {2, "o", ""}, {7, "d1", "o"}, {2, "d1", ""},
			{9, "d2", "d1"}}},
		"the worse of two": {"x", false, []heard{{0, "o", ""}, {1, "d1", "d1"}, {1, "o", ""}, {1, "d1", ""},
			{1, "o", ""}}},
		"the better of two":  {"x", false, []heard{{0, "d1", ""}, {1, "o", "d1"}, {1, "d1", ""}, {1, "o", ""}}},
		"its own":            {"d2", true, []heard{{1, "d1", "d2"}, {1, "d1", ""}}},
		"another beside one": {"d1", true, []heard{{1, "d2", "d2"}, {1, "d2", ""}}},
	} {
		m := seat(c.self, c.fresh, "a: o d1 d2 x")
		m.pass(0)
		m.look(everybodyAlive)
		for i, h := range c.heard {
			m.pass(m.seen + h.after*time.Second)
			d, v := m.hear(from(h.from, 1), &Beacon{Rank: m.ranks.of(h.from), Seq: uint64(i + 1)})
			if v != counts || d.Ended != h.ended {
				t.Errorf("%s: beacon %d ends the root of %q, not %q", name, i, d.Ended, h.ended)
			}
		}
	}
	m := seat("d1", false, "a: o d1 d2 x")
	m.pass(0)
	m.hear(from("o", 1), &Beacon{Rank: 0, Seq: 1})
	for now := m.next(); now < m.cfg.MasterLease; now = m.next() { // told before anybody begins, in one lease once
		m.pass(now)
		if d := m.look(everybodyAlive); d != (decision{}) &&
			(d != decision{Ended: "o"} || now != m.cfg.MasterLease-m.cfg.BeaconEvery/2) {
			t.Errorf("at %v: %+v", now, d)
		}
	}
	if m.ended != "o" {
		t.Error("nothing is told of a silent master")
	}
	if _, d := m.at(time.Minute, everybodyAlive); !d.Start {
		t.Errorf("who follows a silent master decides %+v", d)
	}
}
