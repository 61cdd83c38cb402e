package runs

import (
	"slices"
	"testing"
	"time"
)

// Each author has one claim, and a deputy's takes the place of somebody else's.
func TestClaimsAreBounded(t *testing.T) {
	m := &Manifest{Owner: "o", Deputies: []PeerID{"d"}}
	var s claims
	for _, author := range []PeerID{"w", "x", "y", "x", "z"} {
		want := author != "z"
		if got := s.add(m, &Claim{Author: author}, author, false, noon, 3); got != want {
			t.Errorf("%s: %t", author, got)
		}
	}
	if !s.add(m, &Claim{Author: "d"}, "d", false, noon, 3) || len(s.list) != 3 {
		t.Errorf("the deputy has no place among %d", len(s.list))
	}
	s.add(m, &Claim{Author: "d", Hash: Hash{1}}, "d", false, noon, 3)
	if i := slices.IndexFunc(s.list,
		func(p pendingClaim) bool { return p.Author == "d" }); s.list[i].Hash != (Hash{1}) {
		t.Error("an author's new word does not count")
	}
}

// What was answered about a run is not changed by what is claimed after.
func TestAnsweredClaimStays(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "o")
	take(c, m)
	c.Claimed(noon, &Claim{Run: m.Run, Author: "x", Hash: Hash{1}, Until: m.Expires}, "x")
	k := c.Knows(m.Run, "y", false)
	if k.Claim == nil || k.Claim.Hash != (Hash{1}) {
		t.Fatalf("it answers %+v", k)
	}
	c.Claimed(noon, &Claim{Run: m.Run, Author: "x", Hash: Hash{2}, Until: m.Expires}, "x")
	if k.Claim.Hash != (Hash{1}) || c.Knows(m.Run, "y", false).Claim.Hash != (Hash{2}) {
		t.Errorf("it has answered %+v", k.Claim)
	}
}

// Who must be silent before a claim counts.
func TestInTheWay(t *testing.T) {
	m := &Manifest{Owner: "o", Deputies: []PeerID{"d1", "d2", "d3"}}
	for _, c := range []struct {
		author, self PeerID
		root         bool
		dead, same   []PeerID
		want         []PeerID
	}{
		{author: "d1", self: "x", want: []PeerID{"o"}},
		{author: "d1", self: "x", dead: []PeerID{"o"}},
		{author: "d2", self: "x", dead: []PeerID{"o"}, want: []PeerID{"d1"}},
		{author: "d2", self: "x", dead: []PeerID{"o"}, same: []PeerID{"d1"}},
		{author: "d2", self: "d1", dead: []PeerID{"o"}},
		{author: "d2", self: "d1", root: true, dead: []PeerID{"o"}, want: []PeerID{"d1"}},
		{author: "x", self: "y", dead: []PeerID{"o", "d1", "d3"}, want: []PeerID{"d2"}},
		{author: "x", self: "y", dead: []PeerID{"o", "d1", "d2", "d3"}},
	} {
		p := pendingClaim{Claim: Claim{Author: c.author}, sayToo: map[PeerID]struct{}{}}
		for _, id := range c.same {
			p.sayToo[id] = struct{}{}
		}
		alive := func(id PeerID) bool { return !slices.Contains(c.dead, id) }
		if got := p.inTheWay(m, c.self, c.root, alive); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Only who was away believes somebody who is no deputy, or has not shown that it had the root, and nobody who holds the
// root believes another.
func TestOwnerBelieves(t *testing.T) {
	m := &Manifest{Owner: "o", Deputies: []PeerID{"d"}}
	for _, c := range []struct {
		author                      PeerID
		root, returned, shown, want bool
	}{
		{"d", false, false, true, true}, {"d", false, false, false, false}, {"d", true, false, true, false},
		{"x", false, false, true, false}, {"x", false, true, false, true}, {"x", true, true, true, false},
	} {
		p := pendingClaim{Claim: Claim{Author: c.author}}
		if got := p.ownerBelieves(m, c.root, c.returned, c.shown); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// Who says that it has answered a run has to have been heard as its master, or somebody else says so too, or nobody
// else can have had the root for long enough. Its own word counts for nothing, however often it gives it.
func TestShownToHaveHadTheRoot(t *testing.T) {
	m := &Manifest{Owner: "o", Deputies: []PeerID{"d"}}
	cfg := Config{Claims: 2, LeadsFor: 4 * time.Second, Vacant: 20 * time.Second}
	later, after := noon.Add(cfg.LeadsFor), noon.Add(cfg.Vacant)
	hear := func(s *claims, at time.Time, list ...PeerID) {
		for _, id := range list {
			s.heard(m, id, at, &cfg)
		}
	}
	for name, c := range map[string]struct {
		do   func(*claims)
		at   time.Time
		want bool
	}{
		"a word":                 {func(*claims) {}, later, false},
		"long after":             {func(*claims) {}, after, true},
		"heard before":           {func(s *claims) { hear(s, noon, "d") }, noon, true},
		"heard beside the owner": {func(s *claims) { hear(s, noon, "o", "d") }, noon, false},
		"heard after the owner":  {func(s *claims) { hear(s, noon, "o"); hear(s, later, "d") }, later, true},
		"heard beside another":   {func(s *claims) { hear(s, noon, "x", "d") }, noon, true},
		"another is heard":       {func(s *claims) { hear(s, later, "x") }, after, false},
		"forgotten among strangers": {func(s *claims) { hear(s, noon, "d"); hear(s, later, "x", "y", "z") },
			later, true},
		"another says so": {func(s *claims) { s.add(m, &Claim{Author: "d"}, "x", true, noon, 2) },
			noon, true},
		"itself says so": {func(s *claims) { s.add(m, &Claim{Author: "d"}, "d", true, noon, 2) },
			noon, false},
		"it says another": {func(s *claims) { s.add(m, &Claim{Author: "d", Hash: Hash{1}}, "d", false, after, 2) },
			after, false},
	} {
		var s claims
		s.add(m, &Claim{Author: "d"}, "d", false, noon, 2)
		c.do(&s)
		if got := s.shown(&s.list[0], c.at, cfg.Vacant); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
		if len(s.led) > len(m.Deputies)+cfg.Claims {
			t.Errorf("%s: %d are kept in mind", name, len(s.led))
		}
	}
}

// A manifest is fetched from one peer, and from a second one after some seconds; nobody has many of the places.
func TestFetches(t *testing.T) {
	c := DefaultConfig()
	c.Fetches, c.FetchesFrom, c.SecondAfter = 4, 2, 3*time.Second
	f, now := newFetches(&c), time.Unix(100, 0)
	for i, x := range []struct {
		run  byte
		from PeerID
		at   time.Duration
		want bool
	}{
		{1, "a", 0, true}, {1, "a", 9 * time.Second, false}, {1, "b", 2 * time.Second, false},
		{1, "b", 3 * time.Second, true}, {1, "c", 9 * time.Second, false}, {2, "a", 0, true}, {3, "a", 0, false},
		{3, "c", 0, true}, {4, "d", 0, false},
	} {
		if got := f.begin(RunID{x.run}, x.from, now.Add(x.at)); got != x.want {
			t.Errorf("step %d: %t", i, got)
		}
	}
	if f.done(RunID{1}, "a"); !f.begin(RunID{4}, "d", now) {
		t.Error("a place that is free again is not used")
	}
}
