package verify

import (
	"encoding/hex"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A forest has what stands behind claims.
type forest map[Hash]*Opening

// grow makes a node of so much time of its own.
func (f forest) grow(path string, own uint64, children ...Claim) Claim {
	o := &Opening{Node: node(path), Outcome: Hash{1}, Time: own, Children: children}
	for _, c := range children {
		o.Time += c.Time
	}
	c := o.Claim()
	f[c.Tree] = o
	return c
}

// leaves are a node of as many as there are times of their own.
func (f forest) leaves(path string, own uint64, times ...uint64) Claim {
	var list []Claim
	for i, t := range times {
		list = append(list, f.grow(path+string(rune(0x100+i)), t))
	}
	return f.grow(path, own, list...)
}

// audit has a claim challenged, and gives the paths of what is run again, in order. What is wrong is blamed.
func (f forest) audit(t *testing.T, spot float64, draw func(n uint64) uint64, claim Claim,
	wrong ...string) (ran []string, blamed, accepted bool) {
	t.Helper()
	c := swarm(1)
	c.cfg.Spot, c.rand = spot, drawer(draw)
	out := c.Came(noon, claim, "a")
	for len(out) == 1 {
		switch o := out[0].(type) {
		case Open:
			out = c.Opened(noon, claim.Node, "a", o.Claim, f[o.Claim.Tree])
		case Rerun:
			ran = append(ran, o.Node.Path)
			again := &Opening{Node: o.Node, Outcome: Hash{1}, Children: o.Given}
			if slices.Contains(wrong, o.Node.Path) {
				again.Outcome[0]++
			}
			out = c.Reran(noon, claim.Node, again)
		default:
			return ran, false, len(of[Accept](out)) == 1
		}
	}
	return ran, len(of[Blame](out)) == 1, len(of[Accept](out)) == 1
}

// A drawer is a Rand.
type drawer func(n uint64) uint64

func (f drawer) Below(n uint64) uint64 { return f(n) }

func seeded(seed uint64) func(uint64) uint64 { return rand.New(rand.NewPCG(seed, 7)).Uint64N }

// list draws one after the other, and then 0.
func list(draws ...uint64) func(uint64) uint64 {
	return func(uint64) (next uint64) {
		if len(draws) > 0 {
			next, draws = draws[0], draws[1:]
		}
		return next
	}
}

// As many nodes of a claim are challenged as the rate says; one that comes to something else names its author. One
// that is drawn twice is run once.
func TestSpot(t *testing.T) {
	f := forest{}
	claim := f.leaves("1", 0, 0, 0)
	all := []string{"1", "1Ā", "1ā"}
	for i := range 4 { // the last is none
		var wrong []string
		if i < 3 {
			wrong = all[i : i+1]
		}
		ran, blamed, accepted := f.audit(t, 1, list(0, 1, 2), claim, wrong...)
		if blamed != (i < 3) || accepted == blamed || !slices.Equal(ran, all[:min(i+1, 3)]) {
			t.Errorf("%v is wrong: %v run again, blamed %v, accepted %v", wrong, ran, blamed, accepted)
		}
	}
	if ran, _, accepted := f.audit(t, 1, list(2, 0, 2), claim); !accepted || !slices.Equal(ran, []string{"1ā", "1"}) {
		t.Errorf("%v run again, accepted %v", ran, accepted)
	}
}

// pareto is a time with a heavy tail: no mean of its square, but for a bound.
func pareto(r *rand.Rand) uint64 { return uint64(1000 * min(math.Pow(r.Float64(), -1/1.2), 1000)) }

// What is drawn by time costs the rate times the claim's time on the average, whether times are alike or have a heavy
// tail, and finds a node the sooner the longer it took; those that are drawn alike are found as often as without times.
func TestDrawsByTime(t *testing.T) {
	const spot, n, audits = 0.02, 300, 2000
	for name, own := range map[string]func(*rand.Rand) uint64{
		"alike": func(*rand.Rand) uint64 { return 1000 }, "heavy": pareto} {
		r := rand.New(rand.NewPCG(1, 2))
		f, times, total := forest{}, map[string]float64{}, 0.0
		var parts []Claim
		for i := range n / 30 {
			path := "1" + string(rune(0x100+i))
			var of []uint64
			for k := range 29 {
				of = append(of, own(r))
				times[path+string(rune(0x100+k))] = float64(of[k])
			}
			top := own(r)
			times[path] = float64(top)
			parts = append(parts, f.leaves(path, top, of...))
		}
		claim := f.grow("1", 0, parts...)
		longest := ""
		for _, path := range slices.Sorted(maps.Keys(times)) { // of those that are alike always the same
			total += times[path]
			if longest == "" || times[path] > times[longest] {
				longest = path
			}
		}
		if uint64(total) != claim.Time {
			t.Fatalf("%v are %d", total, claim.Time)
		}
		cost, without, found, most := 0.0, 0.0, 0, 0
		for seed := range uint64(audits) {
			before, _, _ := f.audit(t, spot, seeded(seed), untimed(f, claim))
			ran, _, accepted := f.audit(t, spot, seeded(seed), claim)
			if !accepted || len(ran) < len(before) || !slices.Equal(ran[:len(before)], before) {
				t.Fatalf("%v run again with times, %v without", ran, before)
			}
			for i, path := range ran {
				cost += times[path] / total / audits
				if i < len(before) {
					without += times[path] / total / audits
				}
			}
			if slices.Contains(ran, longest) {
				found++
			}
			most = max(most, len(ran))
		}
		if extra := cost - without; extra < 0.9*spot || extra > 1.1*spot || cost > 2.2*spot {
			t.Errorf("%s: the draws by time cost %.4f, all %.4f, with a rate of %g", name, extra, cost, spot)
		}
		if most > 2*int(math.Ceil(spot*float64(claim.Nodes))) {
			t.Errorf("%s: %d nodes were run again", name, most)
		}
		least, share := map[string]float64{"alike": 1.7, "heavy": 3}[name]*spot, float64(found)/audits
		if share < least || share > 4*spot {
			t.Errorf("%s: the longest was found by %.4f of the audits, not %.4f", name, share, least)
		}
	}
}

// untimed is the claim of an author that says nothing of times.
func untimed(f forest, c Claim) Claim {
	o := *f[c.Tree]
	o.Children, o.Time = slices.Clone(o.Children), 0
	for i, child := range o.Children {
		o.Children[i] = untimed(f, child)
	}
	c = o.Claim()
	f[c.Tree] = &o
	return c
}

// Whatever an author says of times, it is found as often as by the draws that are alike, and has this machine run no
// more than twice as many nodes.
func TestTimesThatLie(t *testing.T) {
	const spot, n, audits = 0.05, 100, 500
	f := forest{}
	times := func(of func(i int) uint64) (list []uint64) {
		for i := range n - 1 {
			list = append(list, of(i))
		}
		return list
	}
	wrong := func(i int) bool { return i%20 == 0 }
	const huge = MaxTime / n
	for name, c := range map[string]struct {
		own   uint64
		times []uint64
		finds float64 // at least, besides what draws that are alike find
		most  int     // of nodes that are run again
	}{
		"no times":             {0, times(func(int) uint64 { return 0 }), 0, 5},
		"all of it at the top": {1 << 40, times(func(int) uint64 { return 0 }), 0, 6},
		"in right nodes": {0, times(func(i int) uint64 {
			if wrong(i) {
				return 0
			}
			return 1000
		}), 0, 10},
		"in one right node": {0, times(func(i int) uint64 { return map[bool]uint64{true: 1 << 30}[i == 1] }), 0, 6},
		"huge":              {huge, times(func(int) uint64 { return huge }), 0.15, 10},
		"tiny":              {1, times(func(int) uint64 { return 1 }), 0.15, 10},
		"in wrong nodes":    {0, times(func(i int) uint64 { return map[bool]uint64{true: 1000}[wrong(i)] }), 0.15, 10},
	} {
		claim := f.leaves("1", c.own, c.times...)
		if o := f[claim.Tree]; !o.Opens(&claim) || claim.Nodes != n {
			t.Fatalf("%s: %+v does not open", name, claim)
		}
		var bad []string
		for i := range n - 1 {
			if wrong(i) {
				bad = append(bad, "1"+string(rune(0x100+i)))
			}
		}
		alike, both := 0, 0
		for seed := range uint64(audits) {
			_, before, _ := f.audit(t, spot, seeded(seed), untimed(f, claim), bad...)
			ran, blamed, accepted := f.audit(t, spot, seeded(seed), claim, bad...)
			if before && !blamed || blamed == accepted || len(ran) > c.most {
				t.Fatalf("%s: found without times %v, with %v; %d nodes run again", name, before, blamed, len(ran))
			}
			if before {
				alike++
			}
			if blamed {
				both++
			}
		}
		if found := 1 - math.Pow(1-float64(len(bad))/n, 5); math.Abs(float64(alike)/audits-found) > 0.05 ||
			float64(both-alike)/audits < c.finds {
			t.Errorf("%s: %d of %d found by draws that are alike, %.2f are expected; %d by both", name, alike, audits,
				found, both)
		}
	}
}

// There are as many draws by time as alike ones, however many nodes that hardly took any time a point falls into.
func TestDrawsAreBounded(t *testing.T) {
	const n = 100
	times, draws := []uint64{1000}, []uint64{0, 10, 20, 30, 40}
	for range n - 2 {
		times = append(times, 1)
	}
	for i := range uint64(n) {
		draws = append(draws, 1050+i)
	}
	f := forest{}
	claim := f.leaves("1", 0, times...)
	if ran, _, accepted := f.audit(t, 0.05, list(draws...), claim); len(ran) != 10 || !accepted {
		t.Errorf("%d nodes run again, accepted %v", len(ran), accepted)
	}
	// what takes longer than is left is run with the probability left/own: here a point of 55 in 1000
	for point, runs := range map[uint64]int{54: 6, 55: 5} {
		ran, _, accepted := f.audit(t, 0.05, list(0, 10, 20, 30, 40, 0, point, 1050), claim)
		if len(ran) != runs || !accepted {
			t.Errorf("%d of 1000: %d nodes run again, accepted %v", point, len(ran), accepted)
		}
	}
}

// Claims of times that cannot be are not looked at any further.
func TestImpossibleTimes(t *testing.T) {
	f := forest{}
	for _, time := range []uint64{MaxTime + 1, math.MaxUint64} {
		claim := f.leaves("1", 1, 1)
		claim.Time = time
		if ran, blamed, accepted := f.audit(t, 1, seeded(1), claim); len(ran) > 0 || blamed || accepted {
			t.Errorf("%d: %v run again, blamed %v, accepted %v", time, ran, blamed, accepted)
		}
	}
}

// A claim that says nothing of times is committed to as before there were any: this is the hash that daemons from then
// make. Times are under the hash, each in its place.
func TestTimesAreCommittedTo(t *testing.T) {
	f := forest{}
	seen := map[Hash]bool{}
	for _, c := range []Claim{f.leaves("1", 0, 0, 0), f.leaves("1", 3, 0, 0), f.leaves("1", 4, 0, 0),
		f.leaves("1", 0, 3, 0),
		f.leaves("1", 0, 0, 3), f.leaves("1", 0, 1, 2)} {
		if seen[c.Tree] {
			t.Errorf("%+v is another one's tree", c)
		}
		seen[c.Tree] = true
	}
	for time, want := range map[uint64]string{0: "7f0c389a651e67886722ac924fb8350eb7f3bc71a0910c8f751a9ba25b880e5f",
		7: "87a1f02ebd241bbb9da2158a947bb930d1484a16d69b99669dedc783388f9154"} {
		if c := f.grow("1", time); hex.EncodeToString(c.Tree[:]) != want {
			t.Errorf("with a time of %d the hash is %x", time, c.Tree)
		}
	}
}

// A claim is made of every node of a run that is verified: it leaves no garbage behind, and with many children no more
// than with one too many; they are hashed one by one, to the same as in one piece.
func TestClaimsLeaveNoGarbage(t *testing.T) {
	o := Opening{Node: Node{Path: "0.1"}, Time: 7}
	claim := func() { o.Claim() }
	for _, x := range []struct {
		children int
		most     float64
	}{{fewChildren, 0}, {1000, 4}} {
		o.Children = slices.Repeat([]Claim{{Node: Node{Path: o.Node.Path + ".1.2"}, Nodes: 1, Time: 1}}, x.children)
		if n := testing.AllocsPerRun(100, claim); n > x.most {
			t.Errorf("%v allocations for %d children", n, x.children)
		}
	}
	const want = "f2330f58f10bee3870d63d81c2f0af335c23aea541654d998ae8b6e836bfae23"
	if c := o.Claim(); hex.EncodeToString(c.Tree[:]) != want {
		t.Errorf("the hash of many children is %x", c.Tree)
	}
}
