package knapsack

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/satin-peer/satin/apps"
)

// defaultGrain is some 0.3 ms of work.
const defaultGrain = 20_000

//go:generate go run github.com/satin-peer/satin/cmd/satinversion

// App is the 0-1 knapsack problem.
var App = apps.App{
	Version: sources,
	Name:    "knapsack",
	Summary: "which items to pack for the highest profit within a capacity, proved by branch and bound",
	Args:    "FILE | N R I",
	Long: `Solves the 0-1 knapsack problem exactly: of items with a profit and a weight, it takes those that together are worth most
and weigh no more than the capacity. FILE is one of those that Pisinger has published (knapPI_*.csv), with an
instance or, for --instance, several.

--generate CLASS makes an instance as Pisinger's generator does, the same one to the last digit: N items, coefficients
up to R, and number I of a series of 100, which has room for I/101 of all weight. Classes are
` + strings.Join(classNames(), ", ") + `.

The method is the search of Horowitz and Sahni (1974) with the bound of Martello and Toth (1977). A job visits
--threshold nodes and then shares what is left with new jobs. How long it takes depends on the instance much more than on
its size: most take less than a second, some with 100 items take years. The answer is compared with that in the file, or
computed again by dynamic programming if that is not too much.`,
	Examples: []string{"--generate strong 200 1000 50", "--generate similar 100 1000 20",
		"knapPI_1_50_1000.csv --instance 7"},
	Setup: setup,
}

// classNames are the names of the classes in the order of their numbers.
func classNames() (names []string) {
	for _, number := range slices.Sorted(maps.Keys(classes)) {
		names = append(names, classes[number].name)
	}
	return names
}

// options are the flags.
type options struct {
	class    string
	instance int
	grain    int
	output   string
}

func setup(fs *flag.FlagSet) func(args []string) (*apps.Problem, error) {
	var o options
	fs.StringVar(&o.class, "generate", "", "make an instance of a `class` instead of reading a file")
	fs.IntVar(&o.instance, "instance", 1, "`number` of the instance in the file, from 1")
	fs.IntVar(&o.grain, "threshold", defaultGrain, "`nodes` that a job visits before it shares the rest")
	fs.StringVar(&o.output, "output", "", "write the instance and its solution to `FILE`")
	return func(args []string) (*apps.Problem, error) {
		if err := apps.IntRange("--threshold", o.grain, 1, math.MaxInt32); err != nil {
			return nil, err
		}
		read, inputs := o.read, args
		if o.class != "" {
			read, inputs = o.generate, nil
		}
		f, err := read(args)
		if err != nil {
			return nil, err
		}
		if o.output != "" {
			if err := apps.CheckOutput(o.output, inputs...); err != nil {
				return nil, err
			}
		}
		return problem(f, o), nil
	}
}

// read reads the file that args name.
func (o *options) read(args []string) (file, error) {
	if err := apps.ArgCount(args, 1, "FILE, or N R I with --generate"); err != nil {
		return file{}, err
	}
	if err := apps.IntRange("--instance", o.instance, 1, maxItems); err != nil {
		return file{}, err
	}
	data, err := apps.ReadFile(args[0], maxFile)
	if err != nil {
		return file{}, err
	}
	return parse(args[0], data, o.instance)
}

// generate makes the instance that args describe.
func (o *options) generate(args []string) (f file, err error) {
	if o.instance != 1 {
		return f, &apps.InputError{What: "--instance", Got: fmt.Sprint(o.instance),
			Want: "a file to choose from, not --generate"}
	}
	if err := apps.ArgCount(args, 3, "N R I"); err != nil {
		return f, err
	}
	limits := []struct {
		what   string
		lo, hi int
	}{{"N", 1, maxGenerated}, {"R", smallestRange, largestRange}, {"I", 1, series}}
	var values [3]int
	for i, l := range limits {
		if values[i], err = apps.Int(l.what, args[i], l.lo, l.hi); err != nil {
			return f, err
		}
	}
	for number, c := range classes {
		if c.name == o.class {
			f.instance = generate(number, values[0], int64(values[1]), values[2])
			return f, nil
		}
	}
	return f, &apps.InputError{What: "--generate", Got: o.class, Want: "one of " + strings.Join(classNames(), ", ")}
}

func problem(f file, o options) *apps.Problem {
	in := f.instance
	p := &apps.Problem{
		Title:      fmt.Sprintf("knapsack %s, %d items", in.Name, in.size()),
		Root:       "knapsack.solve",
		Arg:        Problem{in, o.grain},
		Sequential: func() any { return sequential(in) },
		Check:      func(result any) error { return f.check(result.(Solution)) },
		Answer: func(result any) apps.Answer {
			s := result.(Solution)
			numbers := in.numbers(s)
			return apps.Answer{
				Text:   fmt.Sprintf("%s: profit %d\n%s", in.Name, s.Profit, strings.Trim(fmt.Sprint(numbers), "[]")),
				Fields: map[string]any{"instance": in.Name, "profit": s.Profit, "items": numbers},
			}
		},
	}
	if o.output != "" {
		p.Save = func(result any) error {
			return apps.WriteFile(o.output, func(to io.Writer) error { return in.write(to, result.(Solution)) })
		}
	}
	return p
}

// check adds a solution up, and compares it with the highest profit where that is known or quickly found.
func (f *file) check(s Solution) error {
	if err := f.instance.check(s); err != nil {
		return err
	}
	if f.optimum != 0 && s.Profit != f.optimum {
		return fmt.Errorf("the profit is %d, the file says that %d is the highest", s.Profit, f.optimum)
	}
	if best, err := f.instance.tabulate(); err == nil && s.Profit != best {
		return fmt.Errorf("the profit is %d, dynamic programming finds %d", s.Profit, best)
	}
	return nil
}

var errTooLarge = errors.New("the table would be too large")

// tabulate finds the highest profit by dynamic programming (Bellman 1957), which shares nothing with the
// search: best[c] is the highest profit of the items so far within a capacity c. It fails if that takes more
// than some 0.2 s, or 80 MB.
func (in *Instance) tabulate() (int64, error) {
	const most, largest = 200_000_000, 10_000_000 // steps, and capacity
	capacity := min(in.Capacity, in.WeightSum[in.size()])
	if capacity > min(most/int64(in.size()), largest) {
		return 0, errTooLarge
	}
	best := make([]int64, capacity+1)
	for i, weight := range in.Weight {
		for c := capacity; c >= weight; c-- {
			best[c] = max(best[c], best[c-weight]+in.Profit[i])
		}
	}
	return best[capacity], nil
}
