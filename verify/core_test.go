package verify

import (
	"slices"
	"testing"
	"time"
)

type world struct {
	list    []Candidate
	passed  map[PeerID]uint64
	trusted PeerID
	draw    uint64 // is what Below says
}

func (w *world) Candidates() []Candidate { return w.list }
func (w *world) Introducer(id PeerID) PeerID {
	for _, c := range w.list {
		if c.ID == id {
			return c.Introducer
		}
	}
	return ""
}
func (w *world) Below(uint64) uint64     { return w.draw }
func (w *world) Trusted(id PeerID) bool  { return w.trusted != "" && id == w.trusted }
func (w *world) Passed(id PeerID) uint64 { return w.passed[id] }

var noon = time.Unix(43200, 0)

func node(path string) Node { return Node{Path: path, Identity: [16]byte{byte(len(path))}} }

// leaf and above make openings.
func leaf(path string, outcome byte) *Opening {
	return &Opening{Node: node(path), Outcome: Hash{outcome}}
}

func above(path string, outcome byte, children ...*Opening) *Opening {
	o := leaf(path, outcome)
	for _, c := range children {
		o.Children = append(o.Children, c.Claim())
	}
	return o
}

func swarm(quorum int) *Core {
	w := &world{list: []Candidate{{"a", "x"}, {"b", "x"}, {"c", "y"}, {"d", "z"}}}
	return New(Config{Quorum: quorum, Own: true, Wait: time.Minute, MaxOpen: 2}, w, w)
}

func of[O Order](list []Order) (found []O) {
	for _, o := range list {
		if x, ok := o.(O); ok {
			found = append(found, x)
		}
	}
	return found
}

// Copies are asked of peers with other introducers, and an outcome is believed when so many agree.
func TestQuorum(t *testing.T) {
	c := swarm(2)
	x := leaf("1", 7).Claim()
	copies := of[Copy](c.Came(noon, x, "a"))
	if len(copies) != 1 || copies[0].To == "b" {
		t.Fatalf("copies %v: a and b have the same introducer", copies)
	}
	if out := c.Came(noon, x, "b"); len(of[Accept](out)) > 0 {
		t.Error("two by one introducer are believed")
	}
	if out := c.Came(noon, x, "a"); len(out) > 0 {
		t.Errorf("who says it twice counts twice: %v", out)
	}
	got := of[Accept](c.Came(noon, x, "c"))
	if len(got) != 1 || got[0].Outcome != x.Outcome || !slices.Equal(got[0].By, []PeerID{"a", "b", "c"}) {
		t.Errorf("accepted %v", got)
	}
}

// Where right outcomes differ nobody is blamed, at whatever step that comes to light: what this machine comes to is
// believed, or what one says that is trusted, on the word of nobody else.
func TestUnlike(t *testing.T) {
	n := node("1")
	for _, c := range []struct {
		claims []Claim
		by     []PeerID
		after  func(c *Core) []Order
	}{
		{nil, nil, nil},
		{[]Claim{leaf("1", 7).Claim()}, []PeerID{"a"}, nil},
		{[]Claim{leaf("1", 7).Claim(), leaf("1", 8).Claim()}, []PeerID{"a", "c"}, nil},
		{[]Claim{leaf("1", 7).Claim(), leaf("1", 8).Claim()}, []PeerID{"a", "c"}, func(c *Core) []Order {
			return c.Opened(noon, n, "a", leaf("1", 7).Claim(), nil) // which settles it
		}},
	} {
		core := swarm(2)
		if len(c.claims) == 0 {
			if out := core.Unlike(noon, n); len(out) > 0 {
				t.Errorf("of what nobody has brought: %v", out)
			}
			continue
		}
		var out []Order
		for i, x := range c.claims {
			core.Came(noon, x, c.by[i])
		}
		if c.after != nil {
			out = c.after(core)
		}
		out = append(out, core.Unlike(noon, n)...)
		if len(of[RunHere](out)) != 1 || len(of[Accept](out)) > 0 {
			t.Errorf("%d claims: %v", len(c.claims), out)
		}
		core.Came(noon, leaf("1", 6).Claim(), "d")
		core.Tick(noon.Add(time.Hour))
		out = core.Came(noon, leaf("1", 9).Claim(), "")
		got := of[Accept](out)
		if len(got) != 1 || got[0].Outcome != (Hash{9}) || got[0].Compared || !slices.Equal(got[0].By, []PeerID{""}) ||
			len(of[Blame](out)) > 0 {
			t.Errorf("%d claims: %v", len(c.claims), out)
		}
	}
	w := &world{list: []Candidate{{"a", "x"}, {"c", "y"}}, trusted: "c"}
	c := New(Config{Quorum: 3, Own: true, Wait: time.Minute, MaxOpen: 2}, w, w)
	c.Came(noon, leaf("1", 7).Claim(), "a")
	c.Came(noon, leaf("1", 8).Claim(), "c")
	if got := of[Accept](c.Unlike(noon, n)); len(got) != 1 || got[0].Outcome != (Hash{8}) {
		t.Errorf("of one that is trusted: %v", got)
	}
}

// What is believed was compared if others by another hand, or this machine, have come to it too; whoever is trusted, or
// proves what it brings, is believed alone.
func TestCompared(t *testing.T) {
	x := leaf("1", 7).Claim()
	is := func(want bool, orders []Order) {
		t.Helper()
		if got := of[Accept](orders); len(got) != 1 || got[0].Compared != want {
			t.Errorf("accepted %+v", got)
		}
	}
	w := &world{list: []Candidate{{"a", "x"}, {"b", "x"}, {"c", "y"}}, passed: map[PeerID]uint64{"a": 1e6, "b": 1e6}}
	c := swarm(2)
	c.Came(noon, x, "a")
	is(true, c.Came(noon, x, "c"))
	c = swarm(2)
	c.Came(noon, x, "a")
	is(true, c.Came(noon, x, ""))
	is(false, swarm(2).Came(noon, x, ""))
	is(false, swarm(2).Proven(noon, x, "a"))
	w.trusted = "a"
	cfg := Config{Quorum: 2, Own: true, Wait: time.Minute, MaxOpen: 2}
	is(false, New(cfg, w, w).Came(noon, x, "a"))
	c = New(cfg, w, w)
	c.Came(noon, x, "b")
	is(true, c.Came(noon, x, "a"))
	w.trusted = ""
	cfg = Config{Quorum: 1, Doubt: 1e-4, Liars: 0.2, Own: true, Wait: time.Minute, MaxOpen: 2}
	is(false, New(cfg, w, w).Came(noon, x, "a")) // by its record
	w.passed["a"], w.passed["b"] = 10, 1e6
	c = New(cfg, w, w)
	c.Came(noon, x, "a")
	is(false, c.Came(noon, x, "b")) // one hand
}

// What this machine has come to of one job has a liar blamed; that settles another job, and has somebody else blamed:
// of neither job a liar's outcome is believed, and nobody is waited for.
func TestLiarsFallTogether(t *testing.T) {
	c := swarm(2)
	first, second := leaf("1", 7).Claim(), leaf("2", 7).Claim()
	c.Came(noon, leaf("1", 8).Claim(), "a")
	c.Came(noon, leaf("1", 9).Claim(), "c") // they are asked how they came to it
	if out := c.Came(noon, first, ""); len(out) > 0 {
		t.Fatalf("orders %v", out)
	}
	c.Came(noon, leaf("2", 8).Claim(), "a")
	out := c.Came(noon, second, "")
	accepted := of[Accept](out)
	if len(accepted) != 2 || len(of[Blame](out)) != 2 {
		t.Fatalf("orders %v", out)
	}
	for _, a := range accepted {
		if a.Outcome != first.Outcome {
			t.Errorf("accepted %v", a)
		}
	}
}

// Two are found out at once: by what this machine has come to of one job, by a node that was run again, or the second
// by what follows from the first. Of another job they have said different things, and the record of one would do for
// it: nothing of that is believed, for it may be used at once.
func TestNothingOfLiarsIsUsed(t *testing.T) {
	for _, other := range []string{"0", "2"} {
		for name, decide := range map[string]func(c *Core) []Order{
			"settled": func(c *Core) []Order {
				c.Came(noon, leaf("1", 7).Claim(), "")
				return c.Opened(noon, node("1"), "p00", leaf("1", 8).Claim(), nil)
			},
			"judged": func(c *Core) []Order {
				c.Opened(noon, node("1"), "p00", leaf("1", 8).Claim(), leaf("1", 8))
				c.Opened(noon, node("1"), "p01", leaf("1", 9).Claim(), leaf("1", 9))
				return c.Reran(noon, node("1"), leaf("1", 7))
			},
			"one after the other": func(c *Core) []Order {
				c.Came(noon, leaf("1", 7).Claim(), "")
				c.Came(noon, leaf("3", 8).Claim(), "p00")
				return c.Came(noon, leaf("3", 7).Claim(), "")
			},
		} {
			c, w := doubting(12, 1000)
			w.passed["p00"] = 0
			for _, path := range []string{other, "1"} {
				c.Came(noon, leaf(path, 8).Claim(), "p00")
				c.Came(noon, leaf(path, 9).Claim(), "p01")
			}
			out := decide(c)
			for _, a := range of[Accept](out) {
				if a.Node == node(other) {
					t.Errorf("%s, job %s: %v is used", name, other, a)
				}
			}
			if len(of[Blame](out)) != 2 || len(of[Withdraw](out)) > 0 {
				t.Errorf("%s, job %s: orders %v", name, other, out)
			}
		}
	}
}

// Whoever shows nothing when this machine has computed the job already is blamed at once.
func TestSettledAtOnce(t *testing.T) {
	c := swarm(2)
	c.Came(noon, leaf("1", 8).Claim(), "a")
	open := of[Open](c.Came(noon, leaf("1", 7).Claim(), "c"))
	c.Came(noon, leaf("1", 7).Claim(), "")
	blamed := of[Blame](c.Opened(noon, node("1"), "a", open[0].Claim, nil))
	if len(blamed) != 1 || blamed[0].Peer != "a" {
		t.Errorf("blamed are %v", blamed)
	}
}

// Two that differ are taken down to the first child that differs, and there one node tells who is wrong.
func TestDescent(t *testing.T) {
	right := [...]*Opening{leaf("11", 1), leaf("12", 2), leaf("13", 3)}
	wrong := leaf("12", 9)
	good, bad := above("1", 6, right[:]...), above("1", 8, right[0], wrong, right[2])
	c := swarm(2)
	c.Came(noon, good.Claim(), "a")
	open := of[Open](c.Came(noon, bad.Claim(), "c"))
	if len(open) != 1 || open[0].Of != "a" {
		t.Fatalf("opens %v", open)
	}
	c.Opened(noon, good.Node, "a", open[0].Claim, good)
	open = of[Open](c.Opened(noon, good.Node, "c", bad.Claim(), bad))
	if len(open) != 1 || open[0].Claim.Node.Path != "12" {
		t.Fatalf("opens %v", open)
	}
	c.Opened(noon, good.Node, "a", right[1].Claim(), right[1])
	again := of[Rerun](c.Opened(noon, good.Node, "c", wrong.Claim(), wrong))
	if len(again) != 1 || again[0].Node.Path != "12" {
		t.Fatalf("runs %v again", again)
	}
	out := c.Reran(noon, good.Node, leaf("12", 2))
	blame := of[Blame](out)
	truth := func(Node, []Claim) *Opening { return leaf("12", 2) }
	if len(blame) != 1 || blame[0].Peer != "c" || !blame[0].Proof.Holds(truth) {
		t.Fatalf("blames %v", blame)
	}
	if copies := of[Copy](out); len(copies) != 1 || copies[0].To != "d" {
		t.Errorf("goes on with %v", copies)
	}
	if out := c.Came(noon, bad.Claim(), "c"); len(of[Open](out)) > 0 || !c.Blamed("c") {
		t.Error("who was caught is listened to")
	}
}

// What was believed on the word of one that is caught elsewhere is taken back.
func TestWithdraw(t *testing.T) {
	c := swarm(1)
	first := leaf("1", 1).Claim()
	if got := of[Accept](c.Came(noon, first, "a")); len(got) != 1 {
		t.Fatal("not accepted")
	}
	c.blameForTest("a")
	if q := c.open[first.Node]; q.accepted != nil {
		t.Error("it stands")
	}
}

func (c *Core) blameForTest(id PeerID) { c.do(noon, func() { c.blame(id, Proof{}) }) }

// An opening that is not what was committed to is worth nothing, and neither is silence: its author is not
// believed.
func TestBadOpenings(t *testing.T) {
	o := above("1", 3, leaf("11", 1), leaf("12", 2))
	o.Time, o.Children[0].Time = 10, 3
	claim := o.Claim()
	if !o.Opens(&claim) || claim.Nodes != 3 || claim.Time != 10 {
		t.Fatal("a good one is refused")
	}
	for name, f := range map[string]func(o *Opening){
		"another outcome":     func(o *Opening) { o.Outcome[0]++ },
		"another child":       func(o *Opening) { o.Children[0].Outcome[0]++ },
		"a child less":        func(o *Opening) { o.Children = o.Children[:1] },
		"another order":       func(o *Opening) { slices.Reverse(o.Children) },
		"another tree below":  func(o *Opening) { o.Children[1].Tree[0]++ },
		"more nodes":          func(o *Opening) { o.Children[1].Nodes++ },
		"no nodes":            func(o *Opening) { o.Children[1].Nodes = 0 },
		"nodes that overflow": func(o *Opening) { o.Children[1].Nodes = 1<<64 - 1 },
		"too many children":   func(o *Opening) { o.Children = make([]Claim, MaxChildren+1) },
		"another node":        func(o *Opening) { o.Node = node("2") },
		"a child elsewhere":   commits(func(o *Opening) { o.Children[1] = leaf("22", 2).Claim() }),
		"a child twice":       commits(func(o *Opening) { o.Children[1] = o.Children[0] }),
		"a child in a child":  commits(func(o *Opening) { o.Children[1] = leaf("111", 2).Claim() }),
		"itself as a child":   commits(func(o *Opening) { o.Children[0] = leaf("1", 1).Claim() }),
		"order of no paths":   commits(func(o *Opening) { slices.Reverse(o.Children) }),
		"more than there are": commits(func(o *Opening) { o.Children[1].Nodes = MaxNodes }),
		"another time":        func(o *Opening) { o.Time++ },
		"no time":             func(o *Opening) { o.Time, o.Children[0].Time = 0, 0 },
		"a child's time":      func(o *Opening) { o.Children[1].Time++ },
		"children's time":     commits(func(o *Opening) { o.Children[1].Time = 8 }),
		"times that overflow": commits(func(o *Opening) { o.Children[1].Time = 1<<64 - 4 }),
		"too much time":       commits(func(o *Opening) { o.Time = MaxTime + 1 }),
	} {
		other := *o
		other.Children = slices.Clone(o.Children)
		claim := claim
		if f(&other); other.Outcome == (Hash{committed}) {
			claim = other.Claim()
		}
		if other.Opens(&claim) {
			t.Errorf("%s fits", name)
		}
	}
	for _, own := range []bool{true, false} { // a difference is settled here, too, where others make the copies
		c := swarm(2)
		c.cfg.Own = own
		c.Came(noon, claim, "a")
		c.Came(noon, leaf("1", 9).Claim(), "c")
		out := c.Opened(noon, o.Node, "a", claim, nil)
		if len(of[Blame](out)) > 0 || len(of[RunHere](out)) != 1 {
			t.Errorf("one that does not open: %v", out)
		}
		out = c.Came(noon, leaf("1", 9).Claim(), "")
		if blame := of[Blame](out); len(blame) != 1 || blame[0].Peer != "a" || len(of[Accept](out)) != 1 {
			t.Errorf("this machine comes to something else than one of them: %v", out)
		}
	}
}

// committed marks an opening that its author has committed to.
const committed = 77

func commits(f func(o *Opening)) func(o *Opening) {
	return func(o *Opening) {
		f(o)
		o.Outcome = Hash{committed}
	}
}

// Each has made nodes of other jobs: what both have leads down, and the rest is run again with it. A node that is
// not comparable with anything has nobody blamed but whoever is wrong.
func TestDescentPastOtherNodes(t *testing.T) {
	same := leaf("12", 2)
	good, bad := above("1", 6, leaf("11", 1), same), above("1", 8, same, leaf("13", 9))
	c := swarm(2)
	c.Came(noon, good.Claim(), "a")
	c.Came(noon, bad.Claim(), "c")
	c.Opened(noon, good.Node, "a", good.Claim(), good)
	again := of[Rerun](c.Opened(noon, good.Node, "c", bad.Claim(), bad))
	if len(again) != 1 || again[0].Node != good.Node || !slices.Equal(again[0].Given, []Claim{same.Claim()}) {
		t.Fatalf("runs %v again", again)
	}
	blame := of[Blame](c.Reran(noon, good.Node, good))
	if len(blame) != 1 || blame[0].Peer != "c" || !slices.Equal(blame[0].Proof.Given, []Claim{same.Claim()}) {
		t.Errorf("blames %v", blame)
	}
}

// A node that cannot be run again, or whose children are not those that it spawns, has nobody blamed: this machine
// computes the job.
func TestNothingToCompare(t *testing.T) {
	o := above("1", 3, leaf("11", 1))
	for name, again := range map[string]*Opening{"not run": nil, "no such child": leaf("1", 3)} {
		c := swarm(1)
		c.cfg.Spot = 1
		c.Came(noon, o.Claim(), "a")
		c.Opened(noon, o.Node, "a", o.Claim(), o)
		out := c.Reran(noon, o.Node, again)
		if len(of[RunHere](out)) != 1 || len(of[Blame](out))+len(of[Accept](out)) > 0 {
			t.Errorf("%s: %v", name, out)
		}
		if out = c.Came(noon, leaf("1", 3).Claim(), ""); len(of[Accept](out)) != 1 || len(of[Blame](out)) > 0 {
			t.Errorf("%s, and it was right: %v", name, out)
		}
	}
}

// Questions are bounded, and one who never answers keeps none open.
func TestBounds(t *testing.T) {
	c := swarm(2)
	for _, path := range []string{"1", "2", "3"} {
		c.Came(noon, leaf(path, 1).Claim(), "a")
	}
	if len(c.open) != 2 {
		t.Errorf("%d nodes are being checked, at most 2 may be", len(c.open))
	}
	c.Done(node("2"))
	seen := map[PeerID]bool{}
	for i := range 5 {
		for _, o := range c.Tick(noon.Add(time.Duration(i+1) * time.Minute)) {
			switch o := o.(type) {
			case Copy:
				seen[o.To] = true
			case RunHere:
				seen[""] = true
			}
		}
	}
	if !seen[""] {
		t.Errorf("asked were %v, and not this machine in the end", seen)
	}
}

// Where this machine may make no copies a node waits until there are enough others: whoever comes is asked at once, who
// was silent again when nobody else is left, and this machine never computes it. What is lost on the way, as whoever is
// asked has not heard of the run yet, is sent again soon.
func TestWaitsForOthers(t *testing.T) {
	w := &world{list: []Candidate{{"a", "x"}, {"b", "x"}}}
	c := New(Config{Quorum: 3, Wait: time.Minute, MaxOpen: 9}, w, w)
	now, x := noon, leaf("1", 7).Claim()
	step := func(what string, out []Order, asked []PeerID, missing, lacks int) {
		t.Helper()
		var to []PeerID
		for _, o := range of[Copy](out) {
			to = append(to, o.To)
		}
		nodes, peers := c.Lacking()
		if !slices.Equal(to, asked) || len(of[Missing](out)) != missing || peers != lacks ||
			(nodes > 0) != (lacks > 0) || len(of[RunHere](out)) > 0 {
			t.Errorf("%s: %v; %d nodes wait for %d peers", what, out, nodes, peers)
		}
	}
	step("one alone", c.Came(now, x, "a"), nil, 1, 2)
	step("nobody has come", c.Tick(now.Add(time.Second)), nil, 0, 2)
	w.list = append(w.list, Candidate{"c", "y"})
	now = now.Add(2 * time.Second)
	step("one has come", c.Tick(now), []PeerID{"c"}, 0, 1)
	now = now.Add(time.Minute)
	step("it is silent", c.Tick(now), nil, 0, 2)
	now = now.Add(time.Minute)
	step("it is asked again", c.Tick(now), []PeerID{"c"}, 0, 1)
	step("it has brought one", c.Came(now, x, "c"), nil, 0, 1)
	w.list = append(w.list, Candidate{"d", "z"})
	now = now.Add(time.Second)
	step("there are enough", c.Tick(now), []PeerID{"d"}, 0, 0)
	step("the copy is lost on the way", c.Lost(now, x.Node, "d", false), nil, 1, 1)
	now = now.Add(time.Second)
	step("it is sent again", c.Tick(now), []PeerID{"d"}, 0, 0)
	step("nothing comes of it", c.Lost(now, x.Node, "d", true), nil, 1, 1)
	step("that is not asked for again", c.Tick(now.Add(time.Second)), nil, 0, 1)
	now = now.Add(time.Minute)
	step("nobody else has come", c.Tick(now), []PeerID{"d"}, 0, 0)
	out := c.Came(now, x, "d")
	if step("all have come", out, nil, 0, 0); len(of[Accept](out)) != 1 {
		t.Errorf("three do not suffice: %v", out)
	}
}

// A child is found by its path and its identity, the first and the last, too.
func TestFind(t *testing.T) {
	var children []Claim
	for _, path := range []string{"1a", "1b", "1ca"} {
		children = append(children, leaf(path, 1).Claim())
	}
	for i, c := range children {
		if at, is := Find(children, c.Node); at != i || !is {
			t.Errorf("%q is at %d: %v", c.Node.Path, at, is)
		}
	}
	for _, n := range []Node{{Path: "1b"}, node("1"), node("1c"), node("2")} {
		if at, is := Find(children, n); is {
			t.Errorf("%v is found at %d", n, at)
		}
	}
}
