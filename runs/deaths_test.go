package runs

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
)

func suspect(id byte, path ...uint32) Suspect {
	return Suspect{Path: job.Path(path), Identity: job.Identity{id}}
}

// A job is blamed if two peers name it: the same place, the same argument, and not one peer twice.
func TestDeathsBlame(t *testing.T) {
	var d deaths
	d.note("a", []Suspect{suspect(1), suspect(2, 1, 2), suspect(3, 2)}, "why")
	d.note("a", []Suspect{suspect(2, 1, 2)}, "why")
	if _, peers := d.killer(anybody); peers != nil {
		t.Errorf("a peer is believed alone: %v", peers)
	}
	d.note("b", []Suspect{suspect(9, 1, 2), suspect(2, 1, 3)}, "why")
	if j, peers := d.killer(anybody); peers != nil {
		t.Errorf("job %v is blamed, with another argument", j.Path)
	}
	d.note("b", []Suspect{suspect(1)}, "why")
	d.note("c", []Suspect{suspect(2, 1, 2), suspect(1)}, "why")
	if j, peers := d.killer(anybody); j.hash() != suspect(2, 1, 2).hash() || !slices.Equal(peers, []PeerID{"a", "c"}) {
		t.Errorf("job %v of %v is blamed, not the deepest", j.Path, peers)
	}
}

// Neither a peer that names many jobs nor many peers take room without end.
func TestDeathsAreBounded(t *testing.T) {
	var d deaths
	for i := range 1000 {
		var jobs []Suspect
		for k := range 100 {
			jobs = append(jobs, suspect(byte(k), uint32(i)))
		}
		d.note(PeerID(fmt.Sprint("p", i%200)), jobs, "why")
	}
	if len(d.by) > maxVictims {
		t.Errorf("%d peers are remembered", len(d.by))
	}
	for id, x := range d.by {
		if len(x.jobs) > maxSuspects {
			t.Errorf("%d jobs of %s are", len(x.jobs), id)
		}
	}
}

// A run fails by the word of two peers, but only whoever has a say in it does anything: its owner, and not whoever
// merely takes part.
func TestDeathsAreJudgedByTheOwner(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	own, others := manifest(1, "self"), manifest(2, "o")
	c.Submit(noon, 1, own, nil)
	c.Written(noon, OwnFile, own.Run, "")
	take(c, others)
	for _, m := range []*Manifest{own, others} {
		if o := of[Doom](c.Deaths.DeathTold(noon, m.Run, "a", []Suspect{suspect(1, 2)}, "why")); len(o) != 0 {
			t.Errorf("one peer is believed about a run of %s: %v", m.Owner, o)
		}
	}
	if o := of[Doom](c.Deaths.DeathTold(noon, others.Run, "b", []Suspect{suspect(1, 2)}, "why")); len(o) != 0 {
		t.Errorf("a peer that only takes part fails the run: %v", o)
	}
	if o := of[Doom](c.Deaths.DeathTold(noon, own.Run, "b", []Suspect{suspect(1, 2)}, "why")); len(o) != 1 {
		t.Errorf("the owner does not fail it: %v", o)
	}
}

// Of a run that was left alone since it has killed the process here, nothing stays when it is over.
func TestNothingStaysOfAQuarantine(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "o")
	take(c, m)
	c.Deaths.Died(noon, m.Run, nil, Toll{}.And(noon, "why").And(noon, "why"))
	if i, _ := c.Run(m.Run); i.State != StateRefused {
		t.Fatalf("it is %s", i.State)
	}
	out := c.Buried(noon, &Tombstone{Run: m.Run, Author: "o", Reason: Finished, Until: m.Expires})
	if len(of[Discard](out)) != 1 {
		t.Errorf("its checkpoint and its deaths stay: %v", out)
	}
	c, _ = coreOf(DefaultConfig())
	take(c, m)
	c.Buried(noon, &Tombstone{Run: m.Run, Author: "o", Reason: Suspended, Until: m.Expires})
	out = c.Buried(noon, &Tombstone{Run: m.Run, Author: "o", Reason: Cancelled, Until: m.Expires})
	if i, _ := c.Run(m.Run); len(of[Discard](out)) != 1 || i.State != StateCancelled {
		t.Errorf("its deaths stay though it was suspended before, it is %s", i.State)
	}
}

// anybody is believed where others' results are.
func anybody([]PeerID) bool { return true }

// In a run that is verified members in two hands that lie do not fail it, nor hide a job that has killed a process of
// the owner's and another one's. Where the owner computes nothing its word is not waited for: members in three hands
// do, as many as its results take.
func TestDeathsInVerifiedRuns(t *testing.T) {
	for _, idle := range []bool{false, true} {
		c, _ := coreOf(DefaultConfig())
		m := manifest(1, "self")
		m.Verify = "quorum=3"
		c.Submit(noon, 1, m, nil)
		c.Written(noon, OwnFile, m.Run, "")
		lie := []Suspect{suspect(1, 2, 3), suspect(2, 1)}
		for _, liar := range []PeerID{"a1", "a2", "b1", "b2"} {
			if o := of[Doom](c.Deaths.DeathTold(noon, m.Run, liar, lie, "why")); len(o) > 0 {
				t.Errorf("others fail it: %v", o)
			}
		}
		die := func() []Order { return c.Deaths.Died(noon, m.Run, []Suspect{suspect(2, 1)}, Toll{Why: "why"}) }
		if idle {
			die = func() []Order { return c.Deaths.DeathTold(noon, m.Run, "c1", []Suspect{suspect(2, 1)}, "why") }
		}
		if o := of[Doom](die()); len(o) != 1 || len(o[0].Job.Path) != 1 || len(o[0].Peers) != 5 {
			t.Errorf("an idle owner: %v; it does not fail it: %v", idle, o)
		}
	}
}

// A death is told at once, and again and again to those who have missed it.
func TestDeathsAreToldAgain(t *testing.T) {
	cfg := DefaultConfig()
	c, _ := coreOf(cfg)
	m := manifest(1, "o")
	take(c, m)
	orders := c.Deaths.Died(noon, m.Run, []Suspect{suspect(1, 2)}, Toll{Why: "why"})
	for last, now := noon, noon; now.Before(noon.Add(10 * cfg.AskEvery)); now = now.Add(time.Second) {
		for _, d := range of[TellDeath](append(orders, c.Tick(now)...)) {
			if last = now; d.Run != m.Run || len(d.Jobs) != 1 || d.Why != "why" {
				t.Errorf("after %v it tells %+v", now.Sub(noon), d)
			}
		}
		if orders = nil; now.Sub(last) > cfg.AskEvery {
			t.Fatalf("after %v nothing has been told for %v", now.Sub(noon), now.Sub(last))
		}
	}
}

// Whom a run has killed is not forgotten when its owner suspends it and goes on with it.
func TestDeathsOutliveSuspension(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "o")
	take(c, m)
	c.Deaths.Died(noon, m.Run, []Suspect{suspect(1, 2)}, Toll{Why: "why"})
	c.Buried(noon, &Tombstone{Run: m.Run, Author: "o", Reason: Suspended, Seq: 1, Until: m.Expires})
	if i, _ := c.Run(m.Run); i.State != StateSuspended {
		t.Fatalf("it is %s", i.State)
	}
	c.Buried(noon, &Tombstone{Run: m.Run, Author: "o", Reason: Resumed, Seq: 2, Until: m.Expires})
	take(c, m)
	if i, _ := c.Run(m.Run); i.State != StateRunning {
		t.Fatalf("it is %s after it was resumed", i.State)
	}
	if told := of[TellDeath](c.Tick(noon.Add(time.Hour))); len(told) != 1 {
		t.Errorf("the owner hears of %v", told)
	}
}

// Two deaths within an hour are too many; what is further apart is chance, also where a clock has gone back.
func TestDeathsWithinAnHour(t *testing.T) {
	toll, now := Toll{}, noon
	for i, c := range []struct {
		after time.Duration
		bad   bool
	}{{0, false}, {61 * time.Minute, false}, {61 * time.Minute, false}, {59 * time.Minute, true}, {0, true},
		{-48 * time.Hour, false}, {-time.Minute, true}} {
		now = now.Add(c.after)
		if toll = toll.And(now, "it died"); toll.Quarantined() != c.bad || len(toll.At) > 2 || toll.Why != "it died" {
			t.Errorf("death %d: %+v", i, toll)
		}
	}
}

// A run that was to fail by a job, and was suspended that moment, fails by it when it goes on.
func TestDoomedAndSuspended(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "self")
	c.Submit(noon, 1, m, nil)
	c.Written(noon, OwnFile, m.Run, "")
	c.Deaths.DeathTold(noon, m.Run, "a", []Suspect{suspect(1, 2)}, "why")
	if o := of[Doom](c.Deaths.DeathTold(noon, m.Run, "b", []Suspect{suspect(1, 2)}, "why")); len(o) != 1 {
		t.Fatalf("it does not fail: %v", o)
	}
	c.Suspend(noon, 2, m.Run)
	c.Collected(noon, m.Run, nil)
	c.Written(noon, OwnFile, m.Run, "")
	c.RootEnded(noon, m.Run, answer("it failed"))
	c.Resume(noon, 3, m)
	c.Written(noon, OwnFile, m.Run, "")
	if o := of[Doom](c.Tick(noon.Add(time.Second))); len(o) != 1 {
		t.Errorf("resumed, it goes from peer to peer: %v", o)
	}
}

// When a run has killed the process here this peer takes part again, once, and then leaves it alone: also its owner,
// and whatever killed it, but not if it has left it in the meantime.
func TestDeathsThatAreTooMany(t *testing.T) {
	for _, owner := range []PeerID{"self", "o"} {
		c, _ := coreOf(DefaultConfig())
		m := manifest(1, owner)
		if owner == "o" {
			take(c, m)
		} else {
			c.Submit(noon, 1, m, nil)
			c.Written(noon, OwnFile, m.Run, "")
		}
		toll := Toll{}.And(noon, "why")
		o := of[Start](c.Deaths.Died(noon, m.Run, nil, toll))
		if len(o) != 1 || o[0].Manifest.Run != m.Run || o[0].Fresh {
			t.Errorf("of a run of %s, after one death: %v", owner, o)
		}
		toll = toll.And(noon, "why")
		for range 2 { // the second time it takes no part
			if o := of[Start](c.Deaths.Died(noon, m.Run, nil, toll)); len(o) != 0 {
				t.Errorf("of a run of %s, after two deaths: %v", owner, o)
			}
			if i, _ := c.Run(m.Run); i.State != StateRefused || i.Why != toll.Text(m.Run) {
				t.Errorf("a run of %s is %s: %s", owner, i.State, i.Why)
			}
		}
	}
}
