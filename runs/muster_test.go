package runs

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// adaptive is a manifest of a run that has rosters.
func adaptive(n int, owner PeerID, deputies ...PeerID) *Manifest {
	m := manifest(n, owner)
	m.Adapt, m.Deputies = "volunteers", deputies
	return m
}

func roster(m *Manifest, author PeerID, n uint64, out ...PeerID) *Roster {
	r := &Roster{Run: m.Run, Author: author, Number: n}
	for _, id := range out {
		r.Out = append(r.Out, Outsider{Peer: id, Left: 1})
	}
	return r
}

// Only the owner says who takes part, or a deputy while all before it are silent, or have not spoken for long.
func TestMustersBelieve(t *testing.T) {
	late := DefaultConfig().RosterLife
	for _, c := range []struct {
		author string
		silent []PeerID
		after  time.Duration
		mute   bool // the owner says nothing
		want   bool
	}{
		{author: "o", want: true},
		{author: "o", silent: []PeerID{"o"}, want: true},
		{author: "d1"},
		{author: "d1", silent: []PeerID{"o"}, want: true},
		{author: "d1", after: late, mute: true, want: true},
		{author: "d1", after: late - time.Second, mute: true},
		{author: "d1", after: late},
		{author: "d2", silent: []PeerID{"o"}},
		{author: "d2", silent: []PeerID{"o", "d1"}, want: true},
		{author: "x", silent: []PeerID{"o", "d1", "d2"}},
	} {
		k, v := coreOf(DefaultConfig())
		v.silent = c.silent
		m := adaptive(1, "o", "d1", "d2")
		take(k, m)
		now := noon.Add(c.after)
		if c.after > 0 && !c.mute {
			k.Rostered(now.Add(-time.Second), roster(m, "o", 1), "o")
		}
		left := of[Stop](k.Rostered(now, roster(m, PeerID(c.author), 1<<40, "self"), PeerID(c.author)))
		if got := len(left) == 1; got != c.want {
			t.Errorf("%+v: believed: %t", c, got)
		}
		if k.runs[m.Run].rosters.said["x"] != nil {
			t.Error("what a stranger says is kept")
		}
	}
}

// For how long an owner has been silent is not forgotten where its run could not be computed for a while: a deputy is
// believed there as everywhere.
func TestMustersRememberSilence(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := adaptive(1, "o", "d")
	take(c, m)
	now := noon.Add(DefaultConfig().RosterLife)
	c.NotStarted(now, m.Run, "its module is damaged")
	c.NotStarted(now, m.Run, "")
	c.Announced(now, m.Run, "o")
	c.Fetched(now, &Told{Run: m.Run, From: "o", Manifest: m})
	if o := of[Stop](c.Rostered(now, roster(m, "d", 1, "self"), "d")); len(o) != 1 {
		t.Error("the deputy is not believed")
	}
}

// An older roster never displaces a newer one of its author, whoever tells it again; a deputy's does not displace
// the owner's, whatever its number.
func TestMustersKeepTheNewest(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := adaptive(1, "o", "d")
	take(c, m)
	c.Rostered(noon, roster(m, "o", 5), "o")
	c.Rostered(noon, roster(m, "o", 4, "self"), "o")
	c.Rostered(noon, roster(m, "o", 5, "self"), "x")
	twin := roster(m, "o", 5)
	twin.Sealed = []byte("another") // of which others hear first
	c.Rostered(noon, twin, "x")
	c.Rostered(noon, roster(m, "o", 5, "self"), "x")
	if r := c.Musters.Roster(m.Run); r != twin {
		t.Errorf("of two with one number the one that comes last counts: %+v", r)
	}
	c.Rostered(noon, roster(m, "d", 1<<40, "self"), "d")
	if r := c.Musters.Roster(m.Run); r == nil || r.Number != 5 || len(r.Out) != 0 {
		t.Errorf("%+v counts", r)
	}
	if i, _ := c.Run(m.Run); i.State != StateRunning {
		t.Errorf("the run is %s here", i.State)
	}
}

// What a deputy has said while it sat ends when the owner is back and says something, whatever the numbers.
func TestMustersObeyTheOwner(t *testing.T) {
	c, v := coreOf(DefaultConfig())
	m := adaptive(1, "o", "d")
	take(c, m)
	v.silent = []PeerID{"o"}
	c.Rostered(noon, roster(m, "d", 1<<40, "self"), "d")
	if r := c.Musters.Roster(m.Run); r == nil || r.Author != "d" {
		t.Fatalf("%+v counts", r)
	}
	v.silent = nil
	if o := of[Start](c.Rostered(noon, roster(m, "o", 1), "o")); len(o) != 1 {
		t.Error("the owner has nothing to say")
	}
}

// A roster counts for as long as its author repeats it. Others who do that do not keep it alive, and when it has
// lapsed who was out comes back by itself: all who know of the run may be gone.
func TestMustersLapse(t *testing.T) {
	cfg := DefaultConfig()
	c, _ := coreOf(cfg)
	m := adaptive(1, "o")
	take(c, m)
	if o := of[Stop](c.Rostered(noon, roster(m, "o", 1, "self"), "o")); len(o) != 1 || !o[0].HandOver || o[0].Discard {
		t.Fatalf("it does not leave with what it has: %+v", o)
	}
	c.Rostered(noon.Add(time.Second), roster(m, "o", 1, "self"), "o")
	now := noon.Add(cfg.RosterLife)
	c.Rostered(now, roster(m, "o", 1, "self"), "x")
	if o := of[Start](c.Tick(now)); len(o) != 0 {
		t.Error("it is back before the roster has lapsed")
	}
	now = now.Add(time.Second)
	if o := of[Start](c.Tick(now)); len(o) != 1 || o[0].Manifest.Sealed == nil {
		t.Errorf("it does not come back: %+v", o)
	}
}

// A roster that others pass on is as old as they say: it lapses here when it lapses with them, is told with its age,
// and never makes its author look more silent than it was.
func TestMustersAge(t *testing.T) {
	cfg := DefaultConfig()
	m := adaptive(1, "o", "d")
	hear := func(c *Core, at time.Time, n uint64, age time.Duration) {
		c.Asked(at, &Told{Run: m.Run, From: "x", Known: true, Roster: roster(m, "o", n, "self"), RosterAge: age})
	}
	for _, young := range []bool{true, false} { // known before, or heard of with its roster
		c, _ := coreOf(cfg)
		if age := 100 * time.Second; young {
			c.Announced(noon, m.Run, "x")
			c.Fetched(noon, &Told{Run: m.Run, From: "x", Manifest: m, Roster: roster(m, "o", 1, "self"),
				RosterAge: age})
		} else {
			take(c, m)
			hear(c, noon, 1, age)
		}
		if k := c.Knows(m.Run, "y", false); k.Roster == nil || k.RosterAge != 100*time.Second {
			t.Errorf("it is told with an age of %s", k.RosterAge)
		}
		hear(c, noon.Add(time.Second), 1, 0) // again, and not from its author
		lapses := noon.Add(cfg.RosterLife - 100*time.Second)
		if o := of[Start](c.Tick(lapses.Add(-time.Second))); len(o) != 0 {
			t.Error("it has lapsed too early")
		}
		if o := of[Start](c.Tick(lapses)); len(o) != 1 {
			t.Error("it counts anew for who hears it late")
		}
		hear(c, lapses, 2, cfg.RosterLife)
		if r := c.Musters.Roster(m.Run); r != nil {
			t.Errorf("%+v counts, and has lapsed", r)
		}
	}
	c, _ := coreOf(cfg)
	take(c, m)
	c.Rostered(noon, roster(m, "o", 1), "o")
	hear(c, noon, 2, cfg.RosterLife-time.Second)
	c.Tick(noon.Add(cfg.RosterLife - time.Second))
	if r := c.Musters.Roster(m.Run); r == nil || r.Number != 2 {
		t.Errorf("%+v counts: who passes it on says for how long", r)
	}
	late := noon.Add(cfg.RosterLife - time.Second)
	hear(c, late, 3, -time.Hour)
	if c.Tick(late.Add(cfg.RosterLife)); c.Musters.Roster(m.Run) != nil {
		t.Error("it counts longer than if its author had told it")
	}
}

// An owner that has given the root up, now or in an earlier life, does not keep its roster alive by what it answers to
// others; who coordinates does, and others pass on what counts.
func TestMustersGoneAreNotTold(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := adaptive(1, "self", "d")
	c.Submit(noon, 1, m, nil)
	c.Written(noon, OwnFile, m.Run, "")
	if r := c.Knows(m.Run, "x", false).Roster; r == nil || r.Author != "self" {
		t.Errorf("who coordinates tells of %+v", r)
	}
	c.RootHeld(noon, m.Run, false)
	if r := c.Knows(m.Run, "x", false).Roster; r != nil {
		t.Errorf("who does not hold the root tells of %+v", r)
	}
	c, _ = coreOf(DefaultConfig())
	c.Recall(noon, &Recalled{Own: []RecalledOwn{{Own: Own{Manifest: m}}}})
	c.Asked(noon, &Told{Run: m.Run, From: "x", Known: true, Roster: roster(m, "self", 1)})
	if r := c.Knows(m.Run, "x", false).Roster; r != nil {
		t.Errorf("who was away tells of %+v", r)
	}
	c, _ = coreOf(DefaultConfig())
	m = adaptive(2, "o")
	take(c, m)
	c.Rostered(noon, roster(m, "o", 1), "o")
	if r := c.Knows(m.Run, "x", false).Roster; r == nil {
		t.Error("what its owner has said is not passed on")
	}
}

// The owner, the author and whoever holds the root are never out, whatever a roster says.
func TestMustersSpareTheMaster(t *testing.T) {
	var everyone []Outsider
	for _, name := range []string{"s", "o", "d", "x"} {
		everyone = append(everyone, Outsider{Cluster: name, Left: 1})
	}
	c, v := coreOf(DefaultConfig())
	m := adaptive(1, "o", "self", "d")
	v.silent = []PeerID{"o"}
	take(c, m)
	c.RootHeld(noon, m.Run, true)
	r := roster(m, "o", 1)
	r.Out = everyone
	if o := of[Stop](c.Rostered(noon, r, "o")); len(o) != 0 {
		t.Error("who holds the root leaves")
	}
	in, barred := c.Musters.Seated(m.Run)
	if !in("o") || barred("o") || in("x") || !barred("x") {
		t.Error("the owner is out, or somebody else is not")
	}
	if o := of[Stop](c.RootHeld(noon, m.Run, false)); len(o) != 1 {
		t.Error("who has given the root up stays")
	}
	own := adaptive(2, "self")
	c.Submit(noon, 1, own, nil)
	c.Written(noon, OwnFile, own.Run, "")
	c.Musters.Muster(noon, own.Run, &Muster{Out: everyone})
	if i, _ := c.Run(own.Run); i.State != StateRunning || c.Musters.Roster(own.Run) == nil {
		t.Errorf("an owner's run is %s", i.State)
	}
}

// There is room for as many as are wanted, everybody comes to the same, and the owner and a deputy are among them.
func TestMustersSeat(t *testing.T) {
	for n := range 8 {
		testSeats(t, adaptive(n, "o", "d"))
	}
}

func testSeats(t *testing.T, m *Manifest) {
	var all []PeerID
	for i := range 40 {
		all = append(all, PeerID(fmt.Sprintf("%c%d", 'a'+i%3, i)))
	}
	all = append(all, "o", "d")
	v := &everybody{}
	r := &Roster{Author: "o", Wanted: 10, Out: []Outsider{{Cluster: "b", Left: 1}}}
	in := r.seated(m, all, v)
	slices.Reverse(all)
	again := r.seated(m, all, v)
	if len(in) != 10 || !in["o"] || !in["d"] {
		t.Errorf("%v are in", in)
	}
	clusters := map[string]bool{}
	for id := range in {
		if !again[id] || v.Cluster(id) == "b" {
			t.Errorf("%s is in", id)
		}
		clusters[v.Cluster(id)] = true
	}
	if len(clusters) != 3 { // those of o and d, and one that the others fill (a cluster has 13)
		t.Errorf("they are of clusters %v", clusters)
	}
}

// Whoever has no core at present takes nobody's seat, but the owner and the author keep theirs. Where there is room for
// all it stays: else nobody could steal what it has to give.
func TestMustersSeatNobodyThatIsPaused(t *testing.T) {
	for n := range 8 {
		m := adaptive(n, "o", "d")
		c, v := coreOf(DefaultConfig())
		v.partners, v.paused = []PeerID{"d", "o", "p"}, []PeerID{"d", "o", "p"}
		take(c, m)
		c.Rostered(noon, &Roster{Run: m.Run, Author: "o", Number: 1, Wanted: 2}, "o")
		in, _ := c.Musters.Seated(m.Run)
		if !in("self") || !in("o") || in("d") || in("p") {
			t.Errorf("run %d: of self, o, d and p %t, %t, %t and %t are in", n, in("self"), in("o"), in("d"), in("p"))
		}
		c.Rostered(noon, &Roster{Run: m.Run, Author: "o", Number: 2, Wanted: 4}, "o")
		if in, _ = c.Musters.Seated(m.Run); !in("d") || !in("p") {
			t.Errorf("run %d: there is room for d and p, and %t and %t are in", n, in("d"), in("p"))
		}
		v.paused = nil
		c.Rostered(noon, &Roster{Run: m.Run, Author: "o", Number: 3, Wanted: 2}, "o")
		if in, _ = c.Musters.Seated(m.Run); !in("d") {
			t.Error("a deputy that is back has no seat")
		}
	}
}

// A run that does not adapt, and one whose owner compares outcomes, have no rosters.
func TestMustersOnlyWhereRunsAdapt(t *testing.T) {
	for _, m := range []*Manifest{manifest(1, "o"), adaptive(2, "o")} {
		c, _ := coreOf(DefaultConfig())
		if m.Adapt != "" {
			m.Verify = "quorum=2"
		}
		take(c, m)
		if o := of[Stop](c.Rostered(noon, roster(m, "o", 1, "self"), "o")); len(o) != 0 {
			t.Errorf("a roster of run %x counts", m.Run[:2])
		}
	}
}

// What is told is bounded.
func TestMustersAreBounded(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := adaptive(1, "self")
	c.Submit(noon, 1, m, nil)
	c.Written(noon, OwnFile, m.Run, "")
	var last *Roster
	for i := range 40 {
		w := &Muster{Out: make([]Outsider, 300), Log: []RosterEntry{{Text: fmt.Sprint(i)}}}
		told := of[TellRoster](c.Musters.Muster(noon, m.Run, w))
		if len(told) != 1 || last != nil && told[0].Roster.Number <= last.Number {
			t.Fatalf("%+v after %+v", told, last)
		}
		last = &told[0].Roster
	}
	if len(last.Out) != MaxOutsiders || len(last.Log) != MaxRosterLog || last.Log[MaxRosterLog-1].Text != "39" {
		t.Errorf("%d are out, the log has %d entries", len(last.Out), len(last.Log))
	}
	if told := of[TellRoster](c.Tick(noon.Add(time.Minute))); len(told) != 1 || told[0].Roster.Number != last.Number {
		t.Errorf("%+v is told again, for whoever has missed it", told)
	}
}

// Whoever hears of a run and of its roster at once does not begin if it is out.
func TestMustersAtTheBegin(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := adaptive(1, "o")
	c.Announced(noon, m.Run, "x")
	list := c.Fetched(noon, &Told{Run: m.Run, From: "x", Manifest: m, Roster: roster(m, "o", 1, "self")})
	if len(of[Start](list)) != 0 {
		t.Errorf("it begins: %+v", list)
	}
	if o := of[Start](c.Rostered(noon, roster(m, "o", 2), "o")); len(o) != 1 {
		t.Errorf("it does not when it may: %+v", o)
	}
}

// Before anything was measured, a run that pays for its peers wants the least number, another one the most.
func TestMustersBeginWith(t *testing.T) {
	for mode, want := range map[string]int{"paper": 2, "volunteers": 7} {
		c, _ := coreOf(DefaultConfig())
		m := adaptive(1, "self")
		m.Adapt, m.MinPeers, m.MaxPeers = mode, 2, 7
		c.Submit(noon, 1, m, nil)
		told := of[TellRoster](c.Written(noon, OwnFile, m.Run, ""))
		if len(told) != 1 || told[0].Roster.Wanted != want {
			t.Errorf("%s begins with %+v", mode, told)
		}
	}
}

// Why a peer takes no part is what the present roster says.
func TestMustersSayWhy(t *testing.T) {
	c, v := coreOf(DefaultConfig())
	v.partners = []PeerID{"o"}
	m := adaptive(1, "o")
	take(c, m)
	c.Rostered(noon, roster(m, "o", 1, "self"), "o")
	before, _ := c.Run(m.Run)
	c.Rostered(noon, &Roster{Run: m.Run, Author: "o", Number: 2, Wanted: 1}, "o")
	after, _ := c.Run(m.Run)
	if before.State != StateRefused || after.State != StateRefused || before.Why == after.Why {
		t.Errorf("%s, then %s: %q", before.State, after.State, after.Why)
	}
}
