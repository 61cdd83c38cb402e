package knapsack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps/apptest"
	"pgregory.net/rapid"
)

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
			got, err := satin.Run(context.Background(), p, search, everything(in, grain))
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
	if rapid.Bool().Draw(t, "correlated") { // many sets are nearly as good as the best one
		for i := range profit {
			profit[i] = weight[i] + 10 + profit[i]%3
		}
	}
	capacity := rapid.Int64Range(1, int64(n)*largest).Draw(t, "capacity")
	return newInstance("drawn", capacity, profit, weight)
}

// TestSharesInAnyOrder searches the pieces of a walker in any order, each with the best solution of its own
// making: the best of all must be what the twin finds, the same items.
func TestSharesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInstance(t)
		want := sequential(in)
		best := everything(in, 0).Best
		for parts := []Part{everything(in, 0)}; len(parts) > 0; {
			i := rapid.IntRange(0, len(parts)-1).Draw(t, "next")
			w := walk(parts[i])
			parts = append(parts[:i], parts[i+1:]...)
			for w.visit(rapid.IntRange(1, 10).Draw(t, "limit")) {
				if p, found := w.share(); found {
					parts = append(parts, p)
				}
			}
			best = better(best, w.best)
		}
		if !reflect.DeepEqual(best, want) {
			t.Errorf("pieces give %+v, the twin %+v", best, want)
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

func TestDescribed(t *testing.T) { apptest.Described(t, App, "knapPI_1_50_1000.csv --instance 7") }
