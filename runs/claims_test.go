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

// An owner believes a deputy that has shown that it led. One that was away asks others, and believes any member if none
// of them says that the run goes on, or if one of them has ended the run by that or heard its author lead, or nobody
// leads it for long. If there is nobody to ask, others may be about to be met: it waits for two beacons, or has heard
// the author lead for as long. While it holds the root it believes nobody, but if it was away a deputy that another one
// has ended the run by, or that nobody whom it asks contradicts.
func TestOwnerBelieves(t *testing.T) {
	m := &Manifest{Owner: "o", Deputies: []PeerID{"d"}}
	cfg := Config{Claims: 2, LeadsFor: 4 * time.Second, Vacant: 20 * time.Second}
	type situation struct {
		author                          PeerID
		root, returned, led, endorsed   bool
		asked, answered, alone, opposed bool
		ledFor, after                   time.Duration
		want                            bool
	}
	heardOut := situation{author: "x", returned: true, asked: true, answered: true, want: true}
	but := func(f func(*situation)) situation { s := heardOut; f(&s); return s }
	root := func(want bool, f func(*situation)) situation {
		return but(func(s *situation) { s.author, s.root, s.want = "d", true, want; f(s) })
	}
	no := func(f func(*situation)) situation { return but(func(s *situation) { s.want = false; f(s) }) }
	for _, c := range []situation{
		{author: "d"}, {author: "d", led: true, want: true}, {author: "d", led: true, root: true},
		{author: "d", asked: true, answered: true}, {author: "d", endorsed: true, want: true},
		{author: "x", endorsed: true}, {author: "x", after: cfg.Vacant}, {author: "x", asked: true, answered: true},
		{author: "x", returned: true, led: true},
		{author: "x", returned: true, endorsed: true, want: true},
		{author: "x", returned: true, endorsed: true, root: true},
		{author: "x", returned: true, after: cfg.Vacant, want: true},
		heardOut, but(func(s *situation) { s.author = "d" }),
		no(func(s *situation) { s.root = true }), no(func(s *situation) { s.asked = false }),
		no(func(s *situation) { s.answered = false }), no(func(s *situation) { s.opposed = true }),
		but(func(s *situation) { s.opposed, s.endorsed = true, true }),
		no(func(s *situation) { s.alone = true }), no(func(s *situation) { s.alone, s.led = true, true }),
		but(func(s *situation) { s.alone, s.after = true, cfg.LeadsFor }),
		but(func(s *situation) { s.alone, s.led, s.ledFor = true, true, cfg.LeadsFor }),
		no(func(s *situation) { s.alone, s.led, s.ledFor = true, true, cfg.LeadsFor-1 }),
		root(true, func(*situation) {}), root(false, func(s *situation) { s.returned = false }),
		root(false, func(s *situation) { s.asked, s.led = false, true }),
		root(true, func(s *situation) { s.asked, s.endorsed = false, true }),
		root(false, func(s *situation) { s.opposed = true }),
		root(false, func(s *situation) { s.alone, s.led, s.ledFor = true, true, time.Hour }),
		root(true, func(s *situation) { s.alone, s.after = true, cfg.LeadsFor }),
	} {
		var s claims
		now := noon
		if c.led {
			s.heard(m, c.author, now.Add(-c.ledFor), &cfg)
			s.heard(m, c.author, now, &cfg)
		}
		s.add(m, &Claim{Author: c.author}, "y", c.endorsed, now, cfg.Claims)
		p := &s.list[0]
		if c.asked {
			p.sought = now
		}
		if c.alone {
			p.alone = now
		}
		if s.opposed(c.author); c.opposed {
			s.opposed("y")
		}
		if got := s.ownerBelieves(m, p, c.root, c.returned, c.answered, now.Add(c.after), &cfg); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

// Whoever says that it has answered a run has to have been heard as its master, or somebody else says so too, or nobody
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

// Whoever heard the author of a claim lead says so, although it goes on, as the owner lives again; and an owner that
// comes back goes after that claim, and after no other of which it is told that the run goes on.
func TestWhoLedIsSaid(t *testing.T) {
	for _, led := range []bool{true, false} {
		m := manifest(1, "o")
		claim := &Claim{Run: m.Run, Author: "x", Hash: Hash{1}, Until: m.Expires}
		c, v := coreOf(DefaultConfig())
		c.Fetched(noon, &Told{Run: m.Run, From: "y", Manifest: m})
		v.silent = []PeerID{"o"}
		if led {
			c.Led(noon, m.Run, "x")
		}
		v.silent = nil
		c.Claimed(noon, claim, "x")
		k := c.Knows(m.Run, "o", false)
		if k.Claim == nil || !k.Known || k.Over || k.Led != led {
			t.Fatalf("%t: it says %+v", led, k)
		}
		owner, _ := coreOf(DefaultConfig())
		mine := manifest(1, "self")
		owner.Recall(noon, &Recalled{Own: []RecalledOwn{{Own: Own{Manifest: mine, Began: noon.UnixNano()}}}})
		told := *claim
		told.Run = mine.Run
		out := owner.Claimed(noon, &told, "x")
		answer := &Told{Run: mine.Run, From: "y", Known: k.Known, Claim: &told, Led: k.Led}
		out = append(out, owner.Asked(noon, answer)...)
		if got := len(of[FetchAnswer](out)) == 1; got != led {
			t.Errorf("%t: the owner fetches %+v", led, out)
		}
	}
}

// An author whose answer is long in coming, and does not come, gives way to the next one: it is tried again after that.
func TestSlowAuthorGivesWay(t *testing.T) {
	c, _ := coreOf(DefaultConfig())
	m := manifest(1, "self")
	m.Deputies = []PeerID{"a", "b"}
	c.Submit(noon, 1, m, nil)
	c.Written(noon, OwnFile, m.Run, "")
	c.RootHeld(noon, m.Run, false)
	for _, id := range []PeerID{"b", "a"} {
		c.Led(noon, m.Run, id)
	}
	now := noon
	var asked []PeerID
	for _, id := range m.Deputies {
		k := &Claim{Run: m.Run, Author: id, Hash: answer("42").Hash}
		for _, f := range of[FetchAnswer](c.Claimed(now, k, id)) {
			asked = append(asked, f.Claim.Author)
		}
	}
	for range 3 {
		now = now.Add(time.Minute)
		k := &Claim{Run: m.Run, Author: asked[len(asked)-1], Hash: answer("42").Hash}
		c.AnswerFetched(now, k, Outcome{}, "too slow")
		for _, f := range of[FetchAnswer](c.Tick(now)) {
			asked = append(asked, f.Claim.Author)
		}
	}
	if want := []PeerID{"a", "b", "a", "b"}; !slices.Equal(asked, want) {
		t.Errorf("it asks %v, want %v", asked, want)
	}
}

// What somebody has claimed before, and others tell again, does not take the place of what it claims now; and however
// often it claims something else, nobody is asked sooner for that.
func TestClaimsThatChange(t *testing.T) {
	m := &Manifest{Owner: "o"}
	was, is := &Claim{Author: "a", Hash: Hash{1}, At: 1}, &Claim{Author: "a", Hash: Hash{2}, At: 2}
	var s claims
	s.add(m, was, "x", true, noon, 2)
	s.list[0].tried = noon
	for i, c := range []struct {
		k    *Claim
		from PeerID
		want *Claim
	}{{is, "x", is}, {was, "y", is}, {was, "a", was}, {is, "a", is}} {
		s.add(m, c.k, c.from, false, noon, 2)
		if p := s.list[0]; len(s.list) != 1 || p.Hash != c.want.Hash || len(p.sayToo) > 0 || p.tried != noon {
			t.Errorf("%d: it is %+v", i, p)
		}
	}
}
