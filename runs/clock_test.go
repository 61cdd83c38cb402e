package runs

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/calendar"
	"github.com/satin-peer/satin/internal/wallclock"
)

// jumping is a core that knows a run of each kind, and has been there for a while: an own one, another's, one that
// another has cancelled, one of which it found an answer that it keeps, one of which it found a checkpoint.
func jumping(at func(after time.Duration) time.Time) (c *Core, own, other, gone, held, dormant *Manifest) {
	c, _ = coreOf(DefaultConfig())
	own, other, gone, held, dormant = manifest(1, "self"), manifest(2, "o"), manifest(3, "o"), manifest(4, "o"),
		manifest(5, "o")
	c.Recall(at(0), &Recalled{Held: []RecalledHeld{{File: HeldFile, Manifest: held, Since: at(-time.Hour).Round(0),
		Claim: Claim{Run: held.Run, Author: "self", Hash: Hash{1}}}}})
	c.Submit(at(0), 1, own, nil)
	c.Written(at(0), OwnFile, own.Run, "")
	c.Fetched(at(0), &Told{Run: other.Run, From: "x", Manifest: other})
	c.Buried(at(0), &Tombstone{Run: gone.Run, Author: "o", Reason: Cancelled, Until: gone.Expires})
	c.Dormant(at(0), dormant, "")
	return c, own, other, gone, held, dormant
}

// A clock that is years ahead for less than Config.Doubt, at the start or later, ends nothing: no run, no answer that
// is kept, no tombstone and no checkpoint. Another's run that looks over is taken up when it does not any more.
func TestClockAheadForAWhile(t *testing.T) {
	for _, from := range []time.Duration{0, 20 * time.Hour} {
		at := func(after time.Duration) time.Time {
			off := time.Duration(0)
			if after >= from && after < from+5*time.Hour {
				off = 3 * 365 * 24 * time.Hour
			}
			return wallclock.Time(noon.Add(after+off), after)
		}
		c, own, other, gone, held, _ := jumping(at)
		var orders []Order
		for after := time.Duration(0); after < 40*time.Hour; after += time.Hour {
			c.Fetched(at(after), &Told{Run: other.Run, From: "x", Manifest: other}) // as it is announced
			orders = append(orders, c.Tick(at(after))...)
		}
		if len(of[Stop](orders)) > 0 || len(of[Collect](orders)) > 0 || len(of[Discard](orders)) > 0 {
			t.Errorf("ahead after %s: %v", from, orders)
		}
		for _, m := range []*Manifest{own, other} {
			if i, _ := c.Run(m.Run); i.State != StateRunning {
				t.Errorf("ahead after %s: run %d is %q", from, m.Run[0], i.State)
			}
		}
		if !c.Keeps(held.Run) {
			t.Errorf("ahead after %s: an answer has gone", from)
		}
		if c.Fetched(at(40*time.Hour), &Told{Run: gone.Run, From: "x", Manifest: gone}); c.runs[gone.Run] != nil {
			t.Errorf("ahead after %s: a run comes back that was cancelled", from)
		}
	}
}

// A clock that is ahead for longer has an own run suspended, and what is kept for others go; their runs are taken up
// again when it is right, and a checkpoint is not taken up without a word while its run looks over.
func TestClockAheadForLong(t *testing.T) {
	var off time.Duration
	at := func(after time.Duration) time.Time { return wallclock.Time(noon.Add(after+off), after) }
	c, own, other, _, held, dormant := jumping(at)
	off = 3 * 365 * 24 * time.Hour
	if orders := c.Tick(at(time.Hour)); len(of[Start](orders)) > 0 || len(of[Ask](orders)) > 2 { // other's
		t.Errorf("of a checkpoint that looks too old come %v", orders)
	}
	var orders []Order
	for after := 2 * time.Hour; after < 16*time.Hour; after += time.Hour {
		orders = append(orders, c.Tick(at(after))...)
	}
	if len(of[Collect](orders)) != 1 || of[Collect](orders)[0].Run != own.Run {
		t.Errorf("the own run goes on: %v", orders)
	}
	if gone := of[Discard](orders); c.Keeps(held.Run) || len(gone) != 1 || gone[0].Run != dormant.Run {
		t.Errorf("what is old stays: %v", orders)
	}
	off = 0
	c.Tick(at(16 * time.Hour))
	if fetches := of[Fetch](c.Announced(at(16*time.Hour), other.Run, "x")); len(fetches) != 1 {
		t.Fatal("another's run is not heard of again")
	}
	took := of[Start](c.Fetched(at(16*time.Hour), &Told{Run: other.Run, From: "x", Manifest: other}))
	if len(took) != 1 {
		t.Error("another's run is not taken up again")
	}
}

// Another's run that has expired is not taken up in the first hours of a life, when that is not sure yet: whoever has
// kept its manifest could have the runs of others computed again for ever.
func TestExpiredIsNotTakenUp(t *testing.T) {
	m := manifest(1, "o")
	c, _ := coreOf(DefaultConfig())
	late := time.Unix(m.Expires, 0)
	if orders := c.Fetched(late, &Told{Run: m.Run, From: "x", Manifest: m, Known: true}); c.runs[m.Run] != nil {
		t.Errorf("it is taken up: %v", orders)
	}
	if c.Fetched(late.Add(-time.Second), &Told{Run: m.Run, From: "x", Manifest: m}); c.runs[m.Run] == nil {
		t.Error("with the clock set right it is not taken up")
	}
}

// An own run that was cancelled stays so, however long the clock is ahead, in later lives too.
func TestCancelledWhileTheClockIsAhead(t *testing.T) {
	m := manifest(1, "self")
	said := &Tombstone{Run: m.Run, Author: "self", Reason: Cancelled, Seq: 1, Until: m.Expires}
	c, _ := coreOf(DefaultConfig())
	c.Recall(noon, &Recalled{Cancelled: []*Tombstone{said}})
	for after := time.Duration(0); after < 48*time.Hour; after += time.Hour {
		c.Tick(wallclock.Time(noon.Add(after+1e17), after))
	}
	now := wallclock.Time(noon, 48*time.Hour)
	c.Tick(now)
	if orders := c.Fetched(now, &Told{Run: m.Run, From: "x", Manifest: m}); c.runs[m.Run] != nil {
		t.Errorf("it comes back: %v", orders)
	}
}

// What an owner numbers comes after what it has numbered in earlier lives, though its clock has gone back: the words
// about a run of which it has lost what was written down, and its rosters.
func TestNumbersGrowWithLives(t *testing.T) {
	var words, rosters []uint64
	for life, now := range []time.Time{noon.AddDate(40, 0, 0), noon} {
		cfg := DefaultConfig()
		cfg.Life = uint64(life + 7)
		c, _ := coreOf(cfg)
		m := adaptive(1, "self")
		m.Expires = noon.AddDate(50, 0, 0).Unix()
		written := of[WriteOwn](c.Fetched(now, &Told{Run: m.Run, From: "a", Manifest: m}))
		if len(written) != 1 {
			t.Fatal("it is not taken up")
		}
		words = append(words, written[0].Own.Seq)
		c.RootHeld(now, m.Run, true)
		told := of[TellRoster](c.Tick(now))
		if len(told) != 1 {
			t.Fatal("it makes no roster")
		}
		rosters = append(rosters, told[0].Roster.Number)
	}
	if words[0] >= words[1] || rosters[0] >= rosters[1] {
		t.Errorf("the numbers are %d, and of rosters %d", words, rosters)
	}
}

// While the clock is ahead another's run is older than the volunteer allows, and ends here; what is kept of it goes
// only when the clock is believed, and when it is right before that the run is taken up with what is kept.
func TestLongestLifeWhileTheClockIsAhead(t *testing.T) {
	for _, long := range []bool{false, true} {
		cfg := DefaultConfig()
		cfg.LongestLife = 48 * time.Hour
		c, _ := coreOf(cfg)
		m, off := manifest(1, "o"), time.Duration(0)
		m.Created -= 60
		at := func(after time.Duration) time.Time { return wallclock.Time(noon.Add(after+off), after) }
		c.Fetched(at(0), &Told{Run: m.Run, From: "x", Manifest: m})
		off = 1000 * 24 * time.Hour
		var orders []Order
		for after := time.Hour; after < 5*time.Hour || long && after < 14*time.Hour; after += time.Hour {
			orders = append(orders, c.Tick(at(after))...)
		}
		stops, gone := of[Stop](orders), of[Discard](orders)
		if len(stops) != 1 || stops[0].Discard || len(gone) > 0 != long || stateOf(c, m) != StateRefused {
			t.Errorf("ahead for long: %t: it is %q; stopped %v, discarded %v", long, stateOf(c, m), stops, gone)
		}
		off = 0
		c.Tick(at(15 * time.Hour))
		if took := of[Start](c.Fetched(at(15*time.Hour), &Told{Run: m.Run, From: "x", Manifest: m})); len(took) != 1 {
			t.Errorf("ahead for long: %t: it is not taken up again", long)
		}
	}
}

// What earlier lives have seen of the calendar counts: a desktop that is on for three hours at a time lets go of what
// is over.
func TestShortLivesLetGo(t *testing.T) {
	m := manifest(1, "o")
	s := &Tombstone{Run: m.Run, Author: "o", Reason: Cancelled, Until: noon.Unix() + 3600}
	var seen calendar.Seen
	for life := range 4 {
		cfg := DefaultConfig()
		cfg.Seen = seen
		c, _ := coreOf(cfg)
		c.Buried(wallclock.Time(noon.AddDate(0, 0, life), 0), s)
		for after := time.Duration(0); after <= 3*time.Hour; after += time.Hour {
			c.Tick(wallclock.Time(noon.AddDate(0, 0, life).Add(after), after))
		}
		if gone := c.graves.by(m.Run, "o") == nil; gone != (life > 0) {
			t.Errorf("in life %d a tombstone has gone: %t", life, gone)
		}
		seen = c.day.Seen
	}
}
