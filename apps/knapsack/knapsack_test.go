package knapsack

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps/apptest"
	"github.com/satin-peer/satin/satintest"
	"pgregory.net/rapid"
)

// Published instances come to their published optima.
func TestPublishedOptima(t *testing.T) {
	for path, want := range map[string]int64{
		"testdata/knapPI_1_50_1000.csv":  8373,
		"testdata/knapPI_11_20_1000.csv": 1428,
	} {
		if s := apptest.Solve(t, App, path).(Solution); s.Profit != want {
			t.Errorf("%s: profit %d, published is %d", path, s.Profit, want)
		}
	}
	// The "large scale" collection that many papers use is the first of each series of the generator.
	for _, c := range []struct {
		class, n string
		want     int64
	}{
		{"uncorrelated", "100", 9147}, {"weak", "100", 1514}, {"strong", "100", 2397},
		{"uncorrelated", "200", 11238}, {"weak", "200", 1634}, {"strong", "200", 2697},
		{"uncorrelated", "500", 28857}, {"weak", "500", 4566}, {"strong", "500", 7117},
		{"uncorrelated", "1000", 54503}, {"weak", "1000", 9052}, {"strong", "1000", 14390},
	} {
		p, err := apptest.Setup(App, fmt.Sprintf("--generate %s %s 1000 1", c.class, c.n))
		if err != nil {
			t.Fatal(err)
		}
		if s := p.Sequential().(Solution); s.Profit != c.want {
			t.Errorf("%s %s: profit %d, published is %d", c.class, c.n, s.Profit, c.want)
		}
	}
}

// TestGeneratorIsPisingers compares with the published instance, item by item.
func TestGeneratorIsPisingers(t *testing.T) {
	data, err := os.ReadFile("testdata/knapPI_1_50_1000.csv")
	if err != nil {
		t.Fatal(err)
	}
	f, err := parse("published", data, 1)
	if err != nil {
		t.Fatal(err)
	}
	if made := generate(1, 50, 1000, 1); !reflect.DeepEqual(made, f.instance) {
		t.Errorf("generated %+v\npublished %+v", made, f.instance)
	}
}

// TestClasses checks the formulas of the classes on instances of each.
func TestClasses(t *testing.T) {
	const R = 1000
	rules := map[string]func(p, w int64) bool{
		"uncorrelated": func(p, w int64) bool { return 1 <= w && w <= R && 1 <= p && p <= R },
		"weak":         func(p, w int64) bool { return 1 <= w && w <= R && max(1, w-R/10) <= p && p <= w+R/10 },
		"strong":       func(p, w int64) bool { return 1 <= w && w <= R && p == w+R/10 },
		"inverse":      func(p, w int64) bool { return 1 <= p && p <= R && w == p+R/10 },
		"almost":       func(p, w int64) bool { return 1 <= w && w <= R && w+R/10-R/1000 <= p && p <= w+R/10+R/1000 },
		"subset-sum":   func(p, w int64) bool { return 1 <= w && w <= R && p == w },
		"similar":      func(p, w int64) bool { return 100*R <= w && w < 100*R+R/10 && 1 <= p && p <= R },
	}
	if len(rules) != len(classes) {
		t.Errorf("%d rules for %d classes", len(rules), len(classes))
	}
	for number, c := range classes {
		for i := 1; i <= series; i += 9 {
			in := generate(number, 200, R, i)
			for j, p := range in.Profit {
				if !rules[c.name](p, in.Weight[j]) {
					t.Errorf("%s: profit %d, weight %d", in.Name, p, in.Weight[j])
				}
			}
			if want := int64(i) * in.WeightSum[200] / 101; in.Capacity != want && in.Capacity < want {
				t.Errorf("%s: capacity %d, want %d or the heaviest item", in.Name, in.Capacity, want)
			}
		}
	}
}

// TestManyJobs solves instances of each class with so small a grain that they are many jobs.
func TestManyJobs(t *testing.T) {
	items := 30
	if testing.Short() {
		items = 20
	}
	for _, c := range classes {
		for _, i := range []int{20, 90} {
			apptest.Solve(t, App, fmt.Sprintf("--generate %s %d 1000 %d --threshold 3", c.name, items, i))
		}
	}
	apptest.Solve(t, App, "--generate strong 100 1000 50 --threshold 50")
	apptest.Solve(t, App, "--generate almost 40 1000 90 --threshold 3")
}

// The check of two heavy items takes no memory for each unit of their weight.
func TestTableOfHeavyItems(t *testing.T) {
	const heavy = 99_999_999
	if _, err := newInstance("x", heavy, []int64{5, 7}, []int64{1, heavy}).tabulate(); !errors.Is(err, errTooLarge) {
		t.Errorf("the table has %d numbers: %v", heavy+1, err)
	}
}

// TestAgainstDynamicProgramming draws instances that no generator makes: the twin and the jobs, with shares at random
// places, must find what a table finds.
func TestAgainstDynamicProgramming(t *testing.T) {
	pool, err := satin.NewPool(satin.Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t)
		want, err := in.tabulate()
		if err != nil {
			t.Fatal(err)
		}
		s := sequential(in)
		if s.Profit != want {
			t.Fatalf("twin: profit %d, want %d", s.Profit, want)
		}
		if err := in.check(s); err != nil {
			t.Fatal(err)
		}
		for _, p := range []*satin.Pool{nil, pool} {
			grain := rapid.IntRange(1, 5).Draw(t, "grain")
			got, err := satin.Run(context.Background(), p, solve, Problem{in, grain})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, s) {
				t.Fatalf("jobs: %+v, the twin says %+v", got, s)
			}
		}
	})
}

func drawInstance(t *rapid.T) *Instance {
	n := rapid.IntRange(1, 18).Draw(t, "n")
	largest := rapid.SampledFrom([]int64{2, 5, 100}).Draw(t, "largest")
	coefficients := rapid.SliceOfN(rapid.Int64Range(1, largest), n, n)
	profit, weight := coefficients.Draw(t, "profits"), coefficients.Draw(t, "weights")
	switch rapid.SampledFrom([]string{"any", "correlated", "same"}).Draw(t, "profits are") {
	case "correlated": // many sets are nearly as good as the best one
		for i := range profit {
			profit[i] = weight[i] + 10 + profit[i]%3
		}
	case "same": // many are as good
		copy(profit, weight)
	}
	capacity := rapid.Int64Range(1, int64(n)*largest).Draw(t, "capacity")
	return newInstance("drawn", capacity, profit, weight)
}

// TestSharesInAnyOrder lets walkers take turns, each a while in any order, share what they have left at any time,
// and hear of any of the solutions found so far: the best of all must be what the twin finds, the same items. It is
// a matter of microseconds, and what goes wrong takes a tie at the right time: so thousands of draws.
func TestSharesInAnyOrder(t *testing.T) {
	for range 50 {
		rapid.Check(t, sharesInAnyOrder)
	}
}

func sharesInAnyOrder(t *rapid.T) {
	in := drawInstance(t)
	want := sequential(in)
	best := Solution{Taken: newSet(in.size())}
	known := []Solution{best}
	for walkers := []*walker{walk(in, everything(in), best)}; len(walkers) > 0; {
		i := rapid.IntRange(0, len(walkers)-1).Draw(t, "next")
		w := walkers[i]
		w.hear(rapid.SampledFrom(known).Draw(t, "heard"))
		if !w.visit(rapid.IntRange(1, 10).Draw(t, "limit")) {
			walkers = append(walkers[:i], walkers[i+1:]...)
		} else if p, found := w.share(); found {
			walkers = append(walkers, walk(in, p, rapid.SampledFrom(known).Draw(t, "known")))
		}
		known = append(known, w.best)
		best = better(best, w.best)
	}
	if !reflect.DeepEqual(best, want) {
		t.Errorf("pieces give %+v, the twin %+v", best, want)
	}
}

// TestPartial: whatever jobs hear of each other, the answer is the twin's.
func TestPartial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t)
		want := sequential(in)
		p := Problem{in, rapid.IntRange(1, 4).Draw(t, "grain")}
		if got := satintest.AnyJoin(t, 5, solve, p); !reflect.DeepEqual(got, want) {
			t.Errorf("jobs give %+v, the twin says %+v", got, want)
		}
	})
}

// TestEquallyGood: a walker that hears of a solution finds an equally good one that comes first, whichever it hears of.
func TestEquallyGood(t *testing.T) {
	several := 0
	for seed := range uint64(20) {
		const n = 12
		rng := rand.New(rand.NewPCG(seed, 0))
		weight := make([]int64, n)
		for i := range weight {
			weight[i] = 1 + rng.Int64N(40)
		}
		in := newInstance("equal", 100, slices.Clone(weight), weight)
		want := sequential(in)
		for set := range uint64(1 << n) {
			s := Solution{want.Profit, Set{set}}
			if in.check(s) != nil {
				continue
			}
			several++
			w := walk(in, everything(in), Solution{Taken: newSet(n)})
			w.visit(rng.IntN(4))
			w.hear(s)
			for w.visit(100) {
			}
			if !reflect.DeepEqual(w.best, want) {
				t.Fatalf("seed %d: having heard of %v it finds %v, the first is %v", seed, s, w.best, want)
			}
		}
	}
	if several < 100 {
		t.Errorf("only %d solutions to hear of", several)
	}
}

// TestLattice: better is a join, and only solutions that are what they say are joined.
func TestLattice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.Custom(func(t *rapid.T) Solution {
			return Solution{rapid.Int64Range(0, 2).Draw(t, "profit"), Set{rapid.Uint64Range(0, 7).Draw(t, "set")}}
		})
		a, b, c := draw.Draw(t, "a"), draw.Draw(t, "b"), draw.Draw(t, "c")
		if !reflect.DeepEqual(better(a, b), better(b, a)) || !reflect.DeepEqual(better(a, a), a) ||
			!reflect.DeepEqual(better(better(a, b), c), better(a, better(b, c))) {
			t.Errorf("no join: %v %v %v", a, b, c)
		}
	})
}

// TestOrder compares with the definition: s comes before all sets with the same beginning if it does before the first
// and the last of them.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 130).Draw(t, "n")
		draw := rapid.SliceOfN(rapid.SampledFrom([]uint64{0, 1, 1 << 63, math.MaxUint64}), 3, 3)
		s, other := Set(draw.Draw(t, "s")), Set(draw.Draw(t, "other"))
		next := rapid.IntRange(0, n).Draw(t, "next")
		if rapid.Bool().Draw(t, "close") { // they differ at next or just before
			copy(other, s)
			other[max(next-1, 0)/64] ^= 1 << (max(next-1, 0) % 64)
		}
		first := slices.Clone(other)
		for i := next; i < 192; i++ {
			first.add(i, i+1)
		}
		if got, want := s.beforeAll(other, next), s.before(first); got != want {
			t.Errorf("%x is before all that begin like the first %d of %x: %v, want %v", s, next, other, got, want)
		}
	})
}

// TestLargestNumbers has products and sums near their limits.
func TestLargestNumbers(t *testing.T) {
	const n, big = 12, maxCoefficient
	profit, weight := make([]int64, n), make([]int64, n)
	for i := range n {
		profit[i], weight[i] = big-int64(i%7), big-int64(i%5)
	}
	in := newInstance("big", n*big/2, profit, weight)
	s := sequential(in)
	if err := in.check(s); err != nil {
		t.Error(err)
	}
	// Any 6 items fit, and no 7: so it is the 6 of the highest profit, two each of big, big-1 and big-2.
	if want := int64(6*big - 6); s.Profit != want {
		t.Errorf("profit %d, want %d", s.Profit, want)
	}
}

// What is saved is, to the byte, the file in which the instance was published with its solution.
func TestOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "solved.csv")
	p, err := apptest.Setup(App, "--generate uncorrelated 50 1000 1 --output "+path)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Save(p.Sequential()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/knapPI_1_50_1000.csv")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("wrote\n%s\npublished is\n%s", got, want)
	}
}

// Items that are worth something else, are too heavy, are not there or are not the best are told from a right
// solution; what is best says the file or, where there is none, dynamic programming.
func TestCheckNoticesWrongAnswers(t *testing.T) {
	p, err := apptest.Setup(App, "testdata/knapPI_11_20_1000.csv")
	if err != nil {
		t.Fatal(err)
	}
	right := p.Sequential().(Solution)
	none := Set{0}
	all := Set{1<<20 - 1}
	for want, s := range map[string]Solution{
		"the items are worth 1428, not 1429":                      {right.Profit + 1, right.Taken},
		"the profit is 0, the file says that 1428 is the highest": {0, none},
		"the items weigh 9784, more than the 970 that fit":        {7983, all},
		"the solution is of another instance":                     {0, Set{0, 0}},
		"the solution has items that are not there":               {0, Set{1 << 20}},
	} {
		if err := p.Check(s); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	p, err = apptest.Setup(App, "--generate weak 20 100 30")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(Solution{0, none}); err == nil ||
		err.Error() != "the profit is 0, dynamic programming finds 311" {
		t.Error(err)
	}
}

// The command can describe the application, and its examples work.
func TestDescribed(t *testing.T) { apptest.Described(t, App, "knapPI_1_50_1000.csv --instance 7") }
