package sat

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
)

// Guess asks how many conflicts a refutation of a cube would take, without making it.
type Guess struct {
	Cube  Cube
	First uint64 // the seed of the first probe; the others have the next ones
	Count int    // of probes
}

func init() { satin.Register("sat.guess", guess, satin.Exact()) }

// guess probes the tree of cubes (Knuth, "Estimating the efficiency of backtrack programs", 1975): it follows one half
// of each cube that is split, by chance, to the end, and counts what it meets there once for each path that it might
// have followed. The mean of many probes is right; their spread says how far from it a few may be. It returns the
// conflicts of each probe.
func guess(f *satin.Frame, g Guess) []float64 {
	if g.Count > 1 {
		half := g
		half.Count /= 2
		g.First, g.Count = g.First+uint64(half.Count), g.Count-half.Count
		first := satin.Spawn(f, guess, half)
		rest := guess(f, g)
		return append(first.Get(), rest...)
	}
	return []float64{g.Cube.probe(g.First)}
}

func (c Cube) probe(seed uint64) (conflicts float64) {
	chance := rand.New(rand.NewPCG(seed, 0))
	for weight := 1.0; ; weight *= 2 {
		r, halves := c.solve(nil)
		conflicts += weight * float64(r.Conflicts)
		if len(halves) == 0 {
			return conflicts
		}
		c = halves[chance.IntN(len(halves))]
	}
}

// spread gives the mean of probes and its standard error.
func spread(probes []float64) (mean, deviation float64) {
	for _, p := range probes {
		mean += p / float64(len(probes))
	}
	for _, p := range probes {
		deviation += (p - mean) * (p - mean)
	}
	n := float64(len(probes))
	return mean, math.Sqrt(deviation / (n * (n - 1)))
}

// estimate is the problem of guessing what the problem of a cube will take.
func estimate(name string, c Cube, probes int) *apps.Problem {
	g := Guess{Cube: c, First: 1, Count: probes}
	return &apps.Problem{
		Title: fmt.Sprintf("%d probes of %s", probes, name),
		Root:  "sat.guess",
		Arg:   g,
		Sequential: func() any {
			all := make([]float64, 0, g.Count)
			for i := range g.Count {
				all = append(all, g.Cube.probe(g.First+uint64(i)))
			}
			return all
		},
		Check: func(result any) error {
			if got := len(result.([]float64)); got != probes {
				return fmt.Errorf("%d probes of %d", got, probes)
			}
			return nil
		},
		Answer: func(result any) apps.Answer {
			mean, deviation := spread(result.([]float64))
			return apps.Answer{
				Text:   fmt.Sprintf("%.3g conflicts, give or take %.2g (standard error of %d probes)", mean, deviation, probes),
				Fields: map[string]any{"conflicts": mean, "standard_error": deviation, "probes": probes},
			}
		},
	}
}
