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
		if got := s.add(m, &Claim{Author: author}, author, false, 3); got != want {
			t.Errorf("%s: %t", author, got)
		}
	}
	if !s.add(m, &Claim{Author: "d"}, "d", false, 3) || len(s.list) != 3 {
		t.Errorf("the deputy has no place among %d", len(s.list))
	}
	s.add(m, &Claim{Author: "d", Hash: Hash{1}}, "d", false, 3)
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

// Only who was away believes somebody who is no deputy, and nobody who holds the root believes another.
func TestOwnerBelieves(t *testing.T) {
	m := &Manifest{Owner: "o", Deputies: []PeerID{"d"}}
	for _, c := range []struct {
		author               PeerID
		root, returned, want bool
	}{
		{"d", false, false, true}, {"d", true, false, false}, {"x", false, false, false}, {"x", false, true, true},
		{"x", true, true, false},
	} {
		p := pendingClaim{Claim: Claim{Author: c.author}}
		if got := p.ownerBelieves(m, c.root, c.returned); got != c.want {
			t.Errorf("%+v: %t", c, got)
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
