package tsp

import (
	"context"
	"fmt"
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

// known are instances whose shortest tours are known from elsewhere than this package.
func known() map[string]struct {
	in      *Instance
	optimum int64
} {
	type instance = struct {
		in      *Instance
		optimum int64
	}
	return map[string]instance{
		// Neighbours are 10 apart and there are tours that never step further (an even number of cities).
		"grid of 6 by 5": {grid(6, 5), 300},
		// With an odd number one diagonal step is needed: 24 * 10 + 14.
		"grid of 5 by 5": {grid(5, 5), 254},
		// Around a circle no shortest tour crosses itself, so it goes round.
		"24 on a circle": {circle, circle.tour(ascending(24)).Length},
		// A closed knight's tour, 1 a knight's move and 2 any other, exists on 6 x 6 (Euler 1759) but not on
		// a board with an odd number of squares, where there is an open one of 24 moves.
		"knight on 6 by 6": {knight(6), 36},
		"knight on 5 by 5": {knight(5), 26},
		// Petersen's graph (1898) has a Hamiltonian path but no Hamiltonian cycle.
		"Petersen's graph": {petersen(), 11},
		"three cities":     {newInstance("", 3, func(a, b int) int32 { return int32(a + b) }), 6},
		"all in one place": {newInstance("", 12, func(a, b int) int32 { return 0 }), 0},
		"all equally far":  {newInstance("", 11, func(a, b int) int32 { return maxDistance }), 11 * maxDistance},
	}
}

func grid(w, h int) *Instance {
	return newInstance("grid", w*h, func(a, b int) int32 {
		return int32(metrics["EUC_2D"](point{float64(a % w * 10), float64(a / w * 10)},
			point{float64(b % w * 10), float64(b / w * 10)}))
	})
}

func knight(side int) *Instance {
	return newInstance("knight", side*side, func(a, b int) int32 {
		dx, dy := a%side-b%side, a/side-b/side
		if dx*dx+dy*dy == 5 {
			return 1
		}
		return 2
	})
}

func petersen() *Instance {
	return newInstance("Petersen", 10, func(a, b int) int32 { // a > b
		switch {
		case a < 5 && (a-b == 1 || a-b == 4), a >= 5 && b >= 5 && (a-b == 2 || a-b == 3), a-b == 5:
			return 1
		}
		return 2
	})
}

func ascending(n int) []uint8 {
	order := make([]uint8, n)
	for i := range order {
		order[i] = uint8(i)
	}
	return order
}

func solved(t *testing.T, pool *satin.Pool, p Problem, want Tour) {
	t.Helper()
	got, err := satin.Run(context.Background(), pool, solve, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Map.check(got); err != nil {
		t.Error(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: tour %v, the twin says %v", p.Map.Name, got, want)
	}
}

// The shortest tours of published instances are found.
func TestKnownTours(t *testing.T) {
	pools := apptest.Pools(t)
	for name, c := range known() {
		t.Run(name, func(t *testing.T) {
			want := solveAlone(Problem{Map: c.in})
			if want.Length != c.optimum {
				t.Errorf("twin: tour of length %d, want %d", want.Length, c.optimum)
			}
			for workers, pool := range pools {
				t.Run(workers, func(t *testing.T) { solved(t, pool, Problem{Map: c.in}, want) })
			}
		})
	}
}

// TestAgainstDynamicProgramming compares with the algorithm of Held and Karp (1962) and Bellman (1962), which shares
// nothing with this package's, also on matrices that are no distances of anything.
func TestAgainstDynamicProgramming(t *testing.T) {
	pools := apptest.Pools(t)
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(minCities, 11).Draw(rt, "cities")
		longest := rapid.SampledFrom([]int32{1, 2, 30, 1000, maxDistance}).Draw(rt, "longest")
		distance := rapid.Int32Range(0, longest)
		in := newInstance("matrix", n, func(a, b int) int32 { return distance.Draw(rt, "distance") })
		p := Problem{Map: in, Threshold: rapid.SampledFrom([]int{0, 5, maxCities * maxCities}).Draw(rt, "threshold")}
		want := heldKarp(in)
		got := solveAlone(p)
		if got.Length != want {
			rt.Fatalf("twin: tour of length %d, want %d", got.Length, want)
		}
		for _, pool := range pools {
			solved(t, pool, p, got)
		}
	})
}

// heldKarp is the length of a shortest tour: best[set][last] is the shortest path from city 0 through set to last.
func heldKarp(in *Instance) int64 {
	n := in.Cities - 1 // city 0 is not in the sets; city i is bit i-1
	const far = int64(1) << 50
	best := make([][]int64, 1<<n)
	for set := range best {
		best[set] = make([]int64, n)
		for last := range n {
			best[set][last] = far
			if rest := set &^ (1 << last); set == 1<<last {
				best[set][last] = in.dist(0, uint8(last+1))
			} else if rest != set {
				for prev := range n {
					if rest>>prev&1 == 1 {
						best[set][last] = min(best[set][last], best[rest][prev]+in.dist(uint8(prev+1), uint8(last+1)))
					}
				}
			}
		}
	}
	shortest := far
	for last := range n {
		shortest = min(shortest, best[1<<n-1][last]+in.dist(0, uint8(last+1)))
	}
	return shortest
}

// TestTwin compares jobs and twin with every size of jobs.
func TestTwin(t *testing.T) {
	pools := apptest.Pools(t)
	for _, in := range []*Instance{randomInstance(35, 1), randomInstance(40, 2)} {
		want := solveAlone(Problem{Map: in})
		if err := in.check(want); err != nil {
			t.Fatal(err)
		}
		for workers, pool := range pools {
			for _, threshold := range []int{0, defaultThreshold, maxCities * maxCities} {
				t.Run(fmt.Sprint(in.Name, " ", workers, " ", threshold), func(t *testing.T) {
					solved(t, pool, Problem{Map: in, Threshold: threshold}, want)
				})
			}
		}
	}
}

// A Trial begins with a tour that can be improved, so that better ones have to be found by the search.
type Trial struct {
	Problem Problem
	Start   Tour
}

func init() {
	satin.Register("tsp.try", try)
	satin.Register("tsp.told", told)
}

func try(f *satin.Frame, t Trial) Tour {
	return solveFrom(f, t.Problem, satin.ShareConstant(f, t.Problem.Map), t.Start)
}

// told runs each half of the search after a tour has come from a job that is lost, and gives the worse result.
func told(f *satin.Frame, t Trial) Tour {
	in := t.Problem.Map
	best := satin.ShareLattice(f, shorter, in, t.Start)
	best.Offer(f, solveAlone(t.Problem))
	s := whole(in, t.Start.Length)
	_, children := s.branch(in, t.Start)
	var worst Tour
	for _, c := range children {
		got := search(f, Job{satin.ShareConstant(f, in), best, c, 0})
		if got.Length > worst.Length {
			worst = got
		}
	}
	return worst
}

// TestLostFinder: whoever leaves something out because of a tour has that tour in its result; its finder may be lost.
func TestLostFinder(t *testing.T) {
	for _, c := range trials() {
		got, err := satin.Run(t.Context(), nil, told, c)
		if want := solveAlone(c.Problem).Length; err != nil || got.Length != want {
			t.Errorf("%s: a tour of %d, %v, and one of %d was known", c.Problem.Map.Name, got.Length, err, want)
		}
	}
}

// poorly begins with two cities of the start tour exchanged.
func poorly(in *Instance, a, b int) Trial {
	order := slices.Clone(startTour(in).Order)
	order[a], order[b] = order[b], order[a]
	return Trial{Problem{Map: in}, in.tour(order)}
}

func (t Trial) alone() Tour { return solveAloneFrom(t.Problem.Map, t.Start) }

// trials need better tours, and some have many that are equally long.
func trials() []Trial {
	return []Trial{poorly(randomInstance(24, 7), 3, 4), poorly(randomInstance(30, 3), 3, 10), poorly(grid(5, 4), 2, 7),
		poorly(knight(5), 1, 9), poorly(petersen(), 0, 4), poorly(randomWeights(24, 3), 1, 5)}
}

// From a poor tour, which has to be improved on the way, jobs come to the tour that the twin comes to.
func TestPoorStart(t *testing.T) {
	pools := apptest.Pools(t)
	for _, c := range trials() {
		want := c.alone()
		if want.Length >= c.Start.Length || len(want.At) == 0 {
			t.Errorf("%s: the start tour was not improved", c.Problem.Map.Name)
		}
		for workers, pool := range pools {
			got, err := satin.Run(context.Background(), pool, try, c)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: %v, %v, the twin says %v", c.Problem.Map.Name, workers, got, err, want)
			}
		}
	}
}

// TestPartial: whatever jobs hear of each other, and when, the tour is the twin's.
func TestPartial(t *testing.T) {
	for _, c := range trials() {
		if got, want := satintest.AnyJoin(t, 10, try, c), c.alone(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, the twin says %v", c.Problem.Map.Name, got, want)
		}
	}
}

// TestJoin: shorter is commutative, associative and idempotent.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.SliceOfN(rapid.Uint8Range(0, 1), 0, 2)
		draw := rapid.Custom(func(t *rapid.T) Tour {
			return Tour{rapid.Int64Range(1, 2).Draw(t, "length"), bytes.Draw(t, "order"), bytes.Draw(t, "at")}
		})
		a, b, c := draw.Draw(t, "a"), draw.Draw(t, "b"), draw.Draw(t, "c")
		same := func(a, b Tour) bool { return !a.before(b) && !b.before(a) && slices.Equal(a.Order, b.Order) }
		if !same(shorter(a, b), shorter(b, a)) || !same(shorter(a, a), a) ||
			!same(shorter(shorter(a, b), c), shorter(a, shorter(b, c))) {
			t.Errorf("no join: %v %v %v", a, b, c)
		}
	})
}

// TestEquallyLong: a search that knows any of the shortest tours finds the one that comes first.
func TestEquallyLong(t *testing.T) {
	others := 0
	for _, c := range trials() {
		in, want := c.Problem.Map, c.alone()
		var all []Tour // that the tree has
		var walk func(s Subproblem)
		walk = func(s Subproblem) {
			found, children := s.branch(in, Tour{Length: want.Length + 1})
			if found.Length == want.Length {
				all = append(all, found)
			}
			for _, c := range children {
				if len(all) < 50 {
					walk(c)
				}
			}
		}
		walk(firstOf(in, want.Length))
		others += len(all) - 1
		for _, known := range all {
			s := firstOf(in, want.Length)
			if got := s.searchAlone(in, known); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: having heard of %v it finds %v, the first is %v", in.Name, known, got, want)
			}
		}
	}
	if others < 20 {
		t.Errorf("only %d other tours to hear of", others)
	}
}

// TestSameTree: on one worker, jobs search what the twin searches and nothing else, also when better tours
// turn up on the way.
func TestSameTree(t *testing.T) {
	c := poorly(randomInstance(30, 3), 3, 10)
	in := c.Problem.Map
	splits, better := 0, 0
	var walk func(s Subproblem, best Tour) Tour
	walk = func(s Subproblem, best Tour) Tour {
		if s.Floor > s.limit(best) {
			return best
		}
		found, children := s.branch(in, best)
		if len(children) == 2 {
			splits++
		}
		if found.before(best) {
			better++
		}
		for _, c := range children {
			found = walk(c, found)
		}
		return found
	}
	best := walk(whole(in, c.Start.Length), c.Start)
	walk(firstOf(in, best.Length), Tour{Length: best.Length + 1})
	if splits < 5 || better < 2 {
		t.Fatalf("%d splits and %d better tours are not enough to try it on", splits, better)
	}
	pool := apptest.Pools(t)["1 workers"]
	if _, err := satin.Run(context.Background(), pool, try, c); err != nil {
		t.Fatal(err)
	}
	pool.Close() // counts are exact then
	if got := pool.Stats().Spawned; got != uint64(splits) {
		t.Errorf("%d jobs for %d splits", got, splits)
	}
}

// TestDeferredPruning: a job that waited while a shorter tour was found ends without a job of its own.
func TestDeferredPruning(t *testing.T) {
	c := poorly(randomInstance(30, 3), 3, 10)
	in := c.Problem.Map
	s := whole(in, c.Start.Length)
	_, children := s.branch(in, c.Start)
	waited := children[1]
	if waited.Floor > waited.limit(c.Start) {
		t.Fatal("it was not worth spawning")
	}
	best := c.alone()
	waited.Floor = waited.limit(best) + 1
	waited.Edges = nil // whoever looks at these does too much
	if got := waited.searchAlone(in, best); !reflect.DeepEqual(got, best) {
		t.Errorf("%v, want %v", got, best)
	}
}

// TestPublishedOptima solves the instances of TSPLIB that are in the folder $SATIN_TSPLIB; they are not ours
// to publish.
func TestPublishedOptima(t *testing.T) {
	folder := os.Getenv("SATIN_TSPLIB")
	if folder == "" {
		t.Skip("set SATIN_TSPLIB to a folder with files of TSPLIB to solve them")
	}
	optima := map[string]int64{
		"burma14": 3323, "ulysses16": 6859, "gr17": 2085, "gr21": 2707, "gr24": 1272, "fri26": 937, "bayg29": 1610,
		"bays29":    2020,
		"dantzig42": 699, "swiss42": 1273, "att48": 10628, "gr48": 5046, "eil51": 426, "berlin52": 7542,
	}
	pools := apptest.Pools(t)
	for name, optimum := range optima {
		t.Run(name, func(t *testing.T) {
			in, err := load(filepath.Join(folder, name+".tsp"))
			if err != nil {
				t.Skip(err)
			}
			solved(t, pools["2 workers"], Problem{Map: in, Threshold: defaultThreshold}, solveAlone(Problem{Map: in}))
			if got := solveAlone(Problem{Map: in}).Length; got != optimum {
				t.Errorf("%d, published is %d", got, optimum)
			}
		})
	}
}
