package steal

import (
	"testing"
	"time"
)

// A master without a worker for the root says so, a new owner only after a while. Whoever has one takes the root,
// the better ranks first, and the master without steps down for it, whatever its rank.
func TestRootThatWaits(t *testing.T) {
	d1 := seat("d1", false, "a: o d1 d2 x")
	d1.work(false, false)
	d1.pass(0)
	at, d := d1.at(time.Minute, everybodyAlive)
	if !d.Start || d.Send == nil || !d.Send.Waiting {
		t.Fatalf("a master without a worker begins with %+v", d)
	}
	for _, c := range []struct {
		self PeerID
		idle bool
		n    int
	}{{"d2", true, 1}, {"x", true, 2}, {"d2", false, 0}, {"o", true, 0}} {
		m := seat(c.self, false, "a: o d1 d2 x")
		m.work(c.idle, false)
		m.pass(at)
		m.hear(from("d1", 1), d.Send)
		took, taken := m.at(at+2*time.Second, everybodyAlive)
		if want := at + time.Duration(c.n)*m.cfg.RankStagger/16; c.idle &&
			(took != want || !taken.Start || taken.Send.Waiting) || !c.idle && taken.Start {
			t.Errorf("%s, idle %v, takes the root at %v: %+v", c.self, c.idle, took-at, taken)
			continue
		}
		if c.idle {
			if back, _ := m.hear(from("d1", 1), &Beacon{Rank: 1, Seq: 2, Waiting: true}); back.StepDown {
				t.Errorf("%s gives the root back", c.self)
			}
		}
	}
	if d, v := d1.hear(from("x", 1), &Beacon{Rank: d1.ranks.of("x"), Seq: 1}); v != counts || !d.StepDown {
		t.Errorf("a master that waits hears one that does not: %+v", d)
	}
	o := seat("o", true, "a: o d1 d2 x")
	o.work(false, false)
	o.pass(0)
	told := 0
	for o.seen < 2*o.cfg.MasterLease {
		at, d := o.at(time.Minute, everybodyAlive)
		if d.Send.Waiting != (at >= o.cfg.BeaconEvery) {
			t.Errorf("at %v a new owner without a worker says %+v", at, d.Send)
		}
		told++
	}
	if told < 5 {
		t.Errorf("%d beacons", told)
	}
}

// Who has what of a root that was at work is known before it is started elsewhere. A master that has a core again
// keeps it. One that has not begun has given nothing away: see TestTakenBeforeItWaits.
func TestTakenRootStartsLater(t *testing.T) {
	for _, back := range []bool{false, true} {
		m := seat("d2", false, "a: o d1 d2 x")
		m.work(true, false)
		m.pass(0)
		for seq, waits := range []bool{false, false, true} {
			m.hear(from("o", 1), &Beacon{Rank: 0, Seq: uint64(seq + 1), Waiting: waits})
		}
		took, d := m.at(time.Minute, everybodyAlive)
		if took != m.cfg.RankStagger/16 || d.Start || d.Send == nil || d.Send.Waiting {
			t.Fatalf("at %v it decides %+v", took, d)
		}
		if back {
			if d, _ = m.hear(from("o", 1), &Beacon{Rank: 0, Seq: 4}); !d.StepDown {
				t.Error("the root is not given back to one that has gone on with it")
			}
		}
		at, d := m.at(took+m.cfg.BeaconEvery-1, everybodyAlive)
		if d.Start == back || d.Start && at != took+m.cfg.BeaconEvery/2 {
			t.Errorf("the master goes on: %v, and another starts the root at %v: %+v", back, at-took, d)
		}
		if _, d = m.at(took+m.cfg.BeaconEvery, everybodyAlive); d.Start {
			t.Error("the root is started once more")
		}
	}
}

// Beacons overtake each other: whoever has taken a root that waits may be heard before it is known that the root waits.
// Nobody takes it once more, and what was found out for the one that waits is told.
func TestTakenBeforeItWaits(t *testing.T) {
	for _, early := range []bool{false, true} {
		m := seat("x", false, "a: o d1 d2 x")
		m.work(true, false)
		m.pass(0)
		m.hear(from("o", 1), &Beacon{Rank: 0, Seq: 1})
		if early {
			m.hear(from("d1", 1), &Beacon{Rank: 1, Seq: 1})
		}
		if d, _ := m.hear(from("o", 1), &Beacon{Rank: 0, Seq: 2, Waiting: true}); (d.Ended == "o") != early {
			t.Errorf("another has taken the root: %v, and that of %q has ended", early, d.Ended)
		}
		if _, d := m.at(m.cfg.BeaconEvery, everybodyAlive); d.Start == early {
			t.Errorf("another has taken the root: %v, and it begins: %v", early, d.Start)
		}
	}
}
