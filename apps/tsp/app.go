package tsp

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/satin-peer/satin/apps"
)

// defaultThreshold leaves a subproblem that takes well under a millisecond to one job. Branching takes about
// 0.1 ms, so smaller ones would do no harm: they only make stealing and watching busier.
const defaultThreshold = 8

const defaultSeed = 1

//go:generate go run github.com/satin-peer/satin/cmd/satinversion

// App is the travelling salesman problem.
var App = apps.App{
	Version: sources,
	Name:    "tsp",
	Summary: "shortest tours through the cities of a TSPLIB file, proved by branch and bound",
	Args:    "[FILE]",
	Long: `Finds a shortest tour through the cities of a symmetric TSPLIB instance and proves that there is none shorter. FILE has
up to 128 cities and distances by EUC_2D, CEIL_2D, GEO, ATT or EXPLICIT; --random N makes an instance instead, N cities
spread evenly over a square of 10000 by 10000 or, with --weights random, N cities whose distances are numbers from 0 to 999 at
random (the instances of Javelin 3).

The method is branch and bound with the 1-tree bound of Held and Karp (1970, 1971): a Lagrangian relaxation computed in
whole numbers. It decides most edges at the root; of the others, it takes the one without which the bound rises most and
makes a job of the tours with it and one of the tours without. All begin with the tour of an iterated local search, which is
nearly always the best one already, and hear of better ones as they are found; a job that has waited looks at the best one
first, and may end at once. Of equally long tours the answer is the one that the sequential program
comes upon first.

Most instances with up to 60 cities take less than a second, with 80 some seconds; with more it depends on the instance.`,
	Examples: []string{"--random 70 --seed 1", "--random 35 --weights random", "berlin52.tsp", "att48.tsp --tour att48.tour"},
	Setup:    setup,
}

func setup(fs *flag.FlagSet) func(args []string) (*apps.Problem, error) {
	var m made
	fs.IntVar(&m.cities, "random", 0, "make an instance of `N` cities instead of reading a file")
	fs.StringVar(&m.weights, "weights", "square",
		"`distances` of a random instance: square, of cities in a square, or random, each for itself")
	fs.Uint64Var(&m.seed, "seed", defaultSeed, "`number` that makes a random instance different from others")
	threshold := fs.Int("threshold", defaultThreshold,
		"largest `number` of undecided edges that a job settles without spawning")
	output := fs.String("tour", "", "write the tour to `FILE`, in TSPLIB's format")
	return func(args []string) (*apps.Problem, error) {
		if err := apps.IntRange("--threshold", *threshold, 0, maxCities*maxCities); err != nil {
			return nil, err
		}
		in, err := m.instance(args)
		if err != nil {
			return nil, err
		}
		if *output != "" {
			if err := apps.CheckOutput(*output, args...); err != nil {
				return nil, err
			}
		}
		return problem(Problem{Map: in, Threshold: *threshold}, *output), nil
	}
}

// made says which instance to make, if any.
type made struct {
	cities  int // 0: none
	weights string
	seed    uint64
}

// instance makes an instance, or reads the file that args name.
func (m *made) instance(args []string) (*Instance, error) {
	if m.cities != 0 {
		if len(args) > 0 {
			return nil, &apps.InputError{What: "arguments", Got: args[0] + " and --random",
				Want: "FILE or --random N, not both"}
		}
		if err := apps.IntRange("--random", m.cities, minCities, maxCities); err != nil {
			return nil, err
		}
		switch m.weights {
		case "square":
			return randomInstance(m.cities, m.seed), nil
		case "random":
			return randomWeights(m.cities, m.seed), nil
		}
		return nil, &apps.InputError{What: "--weights", Got: m.weights, Want: "square or random"}
	}
	if m.seed != defaultSeed {
		return nil, &apps.InputError{What: "--seed", Got: fmt.Sprint(m.seed), Want: "none without --random"}
	}
	if m.weights != "square" {
		return nil, &apps.InputError{What: "--weights", Got: m.weights, Want: "none without --random"}
	}
	if err := apps.ArgCount(args, 1, "FILE, or --random N"); err != nil {
		return nil, err
	}
	return load(args[0])
}

func load(file string) (*Instance, error) {
	data, err := apps.ReadFile(file, maxFile)
	if err != nil {
		return nil, err
	}
	return parse(file, data)
}

// randomInstance spreads n cities evenly over a square; distances are EUC_2D.
func randomInstance(n int, seed uint64) *Instance {
	const side = 10000
	rng := rand.NewPCG(seed, uint64(n))
	cities := make([]point, n)
	for i := range cities {
		cities[i] = point{float64(rng.Uint64() % side), float64(rng.Uint64() % side)}
	}
	return newInstance(fmt.Sprintf("random%d-%d", n, seed), n, func(a, b int) int32 {
		return int32(metrics["EUC_2D"](cities[a], cities[b]))
	})
}

// randomWeights is a complete graph whose weights are whole numbers below 1000 at random (Javelin 3, "Finding suitable
// input graphs").
func randomWeights(n int, seed uint64) *Instance {
	const below = 1000
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	return newInstance(fmt.Sprintf("weights%d-%d", n, seed), n, func(a, b int) int32 { return rng.Int32N(below) })
}

func problem(p Problem, output string) *apps.Problem {
	q := &apps.Problem{
		Title:      fmt.Sprintf("shortest tour of %s, %d cities", p.Map.Name, p.Map.Cities),
		Root:       "tsp.solve",
		Arg:        p,
		Sequential: func() any { return solveAlone(p) },
		Check:      func(result any) error { return p.Map.check(result.(Tour)) },
		Answer: func(result any) apps.Answer {
			t := result.(Tour)
			cities := numbered(t)
			return apps.Answer{
				Text:   fmt.Sprintf("%s: length %d\n%s", p.Map.Name, t.Length, strings.Trim(fmt.Sprint(cities), "[]")),
				Fields: map[string]any{"instance": p.Map.Name, "length": t.Length, "tour": cities},
			}
		},
	}
	if output != "" {
		q.Save = func(result any) error {
			return apps.WriteFile(output, func(w io.Writer) error { return writeTour(w, p.Map.Name, result.(Tour)) })
		}
	}
	return q
}

// numbered returns the cities of t counted from 1, as TSPLIB does, beginning with the first.
func numbered(t Tour) []int {
	start := 0
	for i, city := range t.Order {
		if city == 0 {
			start = i
		}
	}
	cities := make([]int, len(t.Order))
	for i := range cities {
		cities[i] = int(t.Order[(start+i)%len(t.Order)]) + 1
	}
	return cities
}

// writeTour writes t as a TSPLIB tour file.
func writeTour(w io.Writer, name string, t Tour) error {
	var b strings.Builder
	fmt.Fprintf(&b, "NAME: %s.tour\nCOMMENT: length %d\nTYPE: TOUR\nDIMENSION: %d\nTOUR_SECTION\n", name, t.Length,
		len(t.Order))
	for _, city := range numbered(t) {
		fmt.Fprintln(&b, city)
	}
	b.WriteString("-1\nEOF\n")
	_, err := io.WriteString(w, b.String())
	return err
}
