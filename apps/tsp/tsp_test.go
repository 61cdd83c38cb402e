package tsp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/satin-peer/satin"
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

func pools(t *testing.T) map[string]*satin.Pool {
	pools := map[string]*satin.Pool{"no pool": nil}
	for _, workers := range []int{1, 2, 4} {
		p, err := satin.NewPool(satin.Config{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		pools[fmt.Sprint(workers, " workers")] = p
	}
	return pools
}

func solved(t *testing.T, pool *satin.Pool, p Problem, want int64) {
	t.Helper()
	got, err := satin.Run(context.Background(), pool, solve, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Map.check(got); err != nil {
		t.Error(err)
	}
	if got.Length != want {
		t.Errorf("%s: tour of length %d, want %d", p.Map.Name, got.Length, want)
	}
}

func TestKnownTours(t *testing.T) {
	pools := pools(t)
	for name, c := range known() {
		t.Run(name, func(t *testing.T) {
			if got := solveAlone(Problem{Map: c.in}); got.Length != c.optimum {
				t.Errorf("twin: tour of length %d, want %d", got.Length, c.optimum)
			}
			for workers, pool := range pools {
				t.Run(workers, func(t *testing.T) { solved(t, pool, Problem{Map: c.in}, c.optimum) })
			}
		})
	}
}

// TestAgainstDynamicProgramming compares with the algorithm of Held and Karp (1962) and Bellman (1962), which shares
// nothing with this package's, also on matrices that are no distances of anything.
func TestAgainstDynamicProgramming(t *testing.T) {
	pools := pools(t)
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(minCities, 11).Draw(rt, "cities")
		longest := rapid.SampledFrom([]int32{1, 2, 30, 1000, maxDistance}).Draw(rt, "longest")
		distance := rapid.Int32Range(0, longest)
		in := newInstance("matrix", n, func(a, b int) int32 { return distance.Draw(rt, "distance") })
		p := Problem{Map: in, Threshold: rapid.SampledFrom([]int{0, 5, maxCities * maxCities}).Draw(rt, "threshold")}
		want := heldKarp(in)
		if got := solveAlone(p); got.Length != want {
			rt.Fatalf("twin: tour of length %d, want %d", got.Length, want)
		}
		for _, pool := range pools {
			solved(t, pool, p, want)
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
	pools := pools(t)
	for _, in := range []*Instance{randomInstance(35, 1), randomInstance(40, 2)} {
		want := solveAlone(Problem{Map: in})
		if err := in.check(want); err != nil {
			t.Fatal(err)
		}
		for workers, pool := range pools {
			for _, threshold := range []int{0, defaultThreshold, maxCities * maxCities} {
				t.Run(fmt.Sprint(in.Name, " ", workers, " ", threshold), func(t *testing.T) {
					solved(t, pool, Problem{Map: in, Threshold: threshold}, want.Length)
				})
			}
		}
	}
}

// TestPoorStart begins with a tour that can be improved, so that better ones have to be found and handed up
// by the search.
func TestPoorStart(t *testing.T) {
	in := randomInstance(24, 7)
	want := solveAlone(Problem{Map: in}).Length
	order := slices.Clone(startTour(in).Order)
	order[3], order[4] = order[4], order[3]
	poor := in.tour(order)
	for workers, pool := range pools(t) {
		t.Run(workers, func(t *testing.T) {
			got, err := satin.Run(context.Background(), pool, search, whole(in, poor, 0))
			if err != nil || got.Length != want || in.check(got) != nil {
				t.Errorf("got a tour of length %d (%v, %v), want %d", got.Length, err, in.check(got), want)
			}
		})
	}
	if got := searchAlone(whole(in, poor, 0)); got.Length != want {
		t.Errorf("twin: got a tour of length %d, want %d", got.Length, want)
	}
}

// TestSameTree: on one worker, jobs search what the twin searches and nothing else, also when better tours
// turn up on the way.
func TestSameTree(t *testing.T) {
	in := randomInstance(30, 3)
	order := slices.Clone(startTour(in).Order)
	order[3], order[10] = order[10], order[3]
	s := whole(in, in.tour(order), 0)
	splits, better := 0, 0
	var walk func(s Subproblem) Tour
	walk = func(s Subproblem) Tour {
		best, children := s.branch()
		if len(children) == 2 {
			splits++
		}
		if best.Length < s.Best.Length {
			better++
		}
		for _, c := range children {
			c.Best = best
			best = shorter(best, walk(c))
		}
		return best
	}
	walk(s)
	if splits < 5 || better < 2 {
		t.Fatalf("%d splits and %d better tours are not enough to try it on", splits, better)
	}
	pool := pools(t)["1 workers"]
	if _, err := satin.Run(context.Background(), pool, search, s); err != nil {
		t.Fatal(err)
	}
	if got := pool.Stats().Spawned; got != uint64(2*splits) {
		t.Errorf("%d jobs for %d splits", got, splits)
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
	pools := pools(t)
	for name, optimum := range optima {
		t.Run(name, func(t *testing.T) {
			in, err := instance([]string{filepath.Join(folder, name+".tsp")}, 0, defaultSeed)
			if err != nil {
				t.Skip(err)
			}
			solved(t, pools["2 workers"], Problem{Map: in, Threshold: defaultThreshold}, optimum)
		})
	}
}
