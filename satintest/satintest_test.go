package satintest_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/satintest"
)

// Coins are ways to pay a sum, the fewest coins first, and of those the first by content.
type Coins []int

func fewest(a, b Coins) Coins {
	if a == nil || b != nil && cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b)) > 0 {
		return b
	}
	return a
}

// Purse is what is still to be paid.
type Purse struct {
	Sum  int
	Paid Coins
	Best satin.Lattice[int, Coins]
}

func init() {
	satin.RegisterLattice[int]("satintest.coins", fewest, nil)
	satin.Register("satintest.pay", pay)
	satin.Register("satintest.payAll", payAll)
	satin.Register("satintest.payWrongly", payWrongly)
	satin.Register("satintest.payWronglyAll", payWronglyAll)
	satin.RegisterLattice[string]("satintest.known", known, nil)
	satin.Register("satintest.take", take)
	satin.Register("satintest.game", game)
	satin.Register("satintest.careless", careless)
	satin.Register("satintest.inherits", inherits)
	satin.Register("satintest.inheritor", inheritor)
	satin.Register("satintest.latecomer", latecomer)
	satin.Register("satintest.either", either, satin.Essence(func(_, r int) (int, error) { return r % 2, nil }))
	satin.RegisterLattice[string]("satintest.most", greatest, nil)
	satin.RegisterLattice[string]("satintest.hinted", hinted, nil, satin.Hints())
	satin.Register("satintest.believer", believer)
	satin.Register("satintest.believes", believes)
}

func pay(f *satin.Frame, sum int) Coins {
	return payAll(f, Purse{Sum: sum, Best: satin.ShareLattice(f, fewest, sum, nil)})
}

func payAll(f *satin.Frame, p Purse) Coins {
	best := p.Best.Value(f)
	return payWith(f, p, payAll, best != nil && len(p.Paid) > len(best))
}

// payWrongly prunes what is as good as the bound, though the job that found that may be lost.
func payWrongly(f *satin.Frame, sum int) Coins {
	return payWronglyAll(f, Purse{Sum: sum, Best: satin.ShareLattice(f, fewest, sum, nil)})
}

func payWronglyAll(f *satin.Frame, p Purse) Coins {
	best := p.Best.Value(f)
	return payWith(f, p, payWronglyAll, best != nil && len(p.Paid) >= len(best))
}

func payWith(f *satin.Frame, p Purse, again func(*satin.Frame, Purse) Coins, prune bool) (best Coins) {
	if prune || p.Sum < 0 {
		return nil
	}
	if p.Sum == 0 {
		p.Best.Offer(f, p.Paid)
		return p.Paid
	}
	g := satin.Fork(f, again)
	for _, coin := range []int{1, 3, 4} {
		g.Spawn(Purse{p.Sum - coin, append(slices.Clone(p.Paid), coin), p.Best})
	}
	for c := range g.Results() {
		best = fewest(best, c)
	}
	return best
}

// Known is what searches have found: values of positions, by position and depth.
type Known map[[2]int]int

func known(a, b Known) Known {
	all := maps.Clone(a)
	if all == nil {
		all = Known{}
	}
	for key, v := range b {
		if old, ok := all[key]; !ok || v > old {
			all[key] = v
		}
	}
	return all
}

// Pile is a heap to take 1 to 3 from, so many moves ahead; whoever takes the last wins. Nothing is known beyond.
type Pile struct {
	Left, Depth int
	Known       satin.Lattice[string, Known]
	Careless    bool
}

func game(f *satin.Frame, left int) int     { return searched(f, left, false) }
func careless(f *satin.Frame, left int) int { return searched(f, left, true) }

// searched looks less far first, as such searches do.
func searched(f *satin.Frame, left int, careless bool) (value int) {
	table := satin.ShareLattice(f, known, "take", Known{})
	for depth := 2; depth <= left; depth++ {
		value = satin.Spawn(f, take, Pile{left, depth, table, careless}).Get()
	}
	return value
}

func take(f *satin.Frame, p Pile) int {
	key := [2]int{p.Left, p.Depth}
	if p.Careless { // a fact of another depth is one of another value
		key[1] = 0
	}
	if v, ok := p.Known.Value(f)[key]; ok {
		return v
	}
	best := -1
	if p.Left > 0 && p.Depth == 0 {
		best = 0
	}
	if p.Left > 0 && p.Depth > 0 {
		g := satin.Fork(f, take)
		for n := 1; n <= min(3, p.Left); n++ {
			g.Spawn(Pile{p.Left - n, p.Depth - 1, p.Known, p.Careless})
		}
		for v := range g.Results() {
			best = max(best, -v)
		}
	}
	p.Known.Offer(f, Known{key: best})
	return best
}

func greatest(a, b int) int { return max(a, b) }

// inherits rests on what every job may rest on: it sees what its parent had offered when it spawned it.
func inherits(f *satin.Frame, n int) int {
	l := satin.ShareLattice(f, greatest, "inherits", 0)
	l.Offer(f, n)
	least := satin.Spawn(f, inheritor, l).Get()
	if own := l.Value(f); own < n {
		return -own
	}
	return least
}

func inheritor(f *satin.Frame, l satin.Lattice[string, int]) int { return l.Value(f) }

// latecomer rests on more: that its job sees what it offers after it spawned it.
func latecomer(f *satin.Frame, n int) int {
	l := satin.ShareLattice(f, greatest, "latecomer", 0)
	child := satin.Spawn(f, inheritor, l)
	l.Offer(f, n)
	return child.Get()
}

func hinted(a, b int) int { return max(a, b) }

// believer rests on more, as values are hints: that its job sees what it had offered when it spawned it.
func believer(f *satin.Frame, n int) int {
	l := satin.ShareLattice(f, hinted, "believer", 0)
	l.Offer(f, n)
	least := satin.Spawn(f, believes, l).Get()
	if own := l.Value(f); own < n {
		return -own
	}
	return least
}

func believes(f *satin.Frame, l satin.Lattice[string, int]) int { return l.Value(f) }

// either returns what it happens to read, but registered that only its last bit counts.
func either(f *satin.Frame, n int) int {
	l := satin.ShareLattice(f, greatest, "either", 0)
	child := satin.Spawn(f, inheritor, l)
	l.Offer(f, n)
	return child.Get()
}

// recorder is a test that is to fail.
type recorder struct{ failed string }

func (r *recorder) Helper() {}
func (r *recorder) Fatalf(format string, args ...any) {
	if r.failed == "" {
		r.failed = fmt.Sprintf(format, args...)
	}
}

// TestRightPrograms: what rests on no more than a lattice promises passes.
func TestRightPrograms(t *testing.T) {
	if got := satintest.AnyJoin(t, 50, pay, 6); !slices.Equal(got, Coins{3, 3}) {
		t.Errorf("6 is paid with %v", got)
	}
	if got := satintest.AnyJoin(t, 50, game, 4); got != -1 {
		t.Errorf("a heap of 4 is worth %d", got)
	}
	if got := satintest.AnyJoin(t, 50, inherits, 5); got != 5 {
		t.Errorf("a job sees %d of what its parent had offered, 5", got)
	}
	if got := satintest.AnyJoin(t, 50, either, 4); got%2 != 0 {
		t.Errorf("4 is made %d", got)
	}
}

// TestWrongPrograms: what rests on more is found, and the failure says how.
func TestWrongPrograms(t *testing.T) {
	for name, try := range map[string]func(*recorder){
		"it prunes what is as good as the bound": func(r *recorder) { satintest.AnyJoin(r, 50, payWrongly, 9) },
		"it takes facts of another depth":        func(r *recorder) { satintest.AnyJoin(r, 50, careless, 4) },
		"it rests on later offers":               func(r *recorder) { satintest.AnyJoin(r, 50, latecomer, 5) },
		"it takes hints for what it has":         func(r *recorder) { satintest.AnyJoin(r, 50, believer, 5) },
		"its results differ in what counts":      func(r *recorder) { satintest.AnyJoin(r, 50, either, 5) },
	} {
		var r recorder
		try(&r)
		t.Logf("%s: %s", name, r.failed)
		for _, part := range []string{"with seed", "lattices were read", `"satintest.`, " offers: "} {
			if !strings.Contains(r.failed, part) {
				t.Errorf("%s: the failure %q does not say %q", name, r.failed, part)
			}
		}
	}
}
