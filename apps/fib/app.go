package fib

import (
	"flag"
	"fmt"

	"github.com/satin-peer/satin/apps"
)

// maxN keeps the answer within 63 bits; the time, which grows by 1.6 with every step, ends long before.
const maxN = 90

//go:generate go run github.com/satin-peer/satin/cmd/satinversion

// App is the naive Fibonacci function.
var App = apps.App{
	Version: sources,
	Name:    "fib",
	Summary: "Fibonacci numbers the slow way: nothing but spawning",
	Args:    "N",
	Long: `Computes the Nth Fibonacci number by its definition, fib(n) = fib(n-1) + fib(n-2), and spawns one of the two calls at
every level. There is next to no work in a call, so the time it takes is the time of spawning.

With --threshold T, a job for at most T runs the sequential program: the same tree with larger leaves.`,
	Examples: []string{"40", "45 --threshold 20"},
	Setup:    setup,
}

func setup(fs *flag.FlagSet) func(args []string) (*apps.Problem, error) {
	threshold := fs.Int("threshold", 0, "largest `N` that a job computes without spawning; 0 spawns at every level")
	return func(args []string) (*apps.Problem, error) {
		if err := apps.ArgCount(args, 1, "N"); err != nil {
			return nil, err
		}
		n, err := apps.Int("N", args[0], 0, maxN)
		if err != nil {
			return nil, err
		}
		if err := apps.IntRange("--threshold", *threshold, 0, maxN); err != nil {
			return nil, err
		}
		return problem(n, *threshold), nil
	}
}

func problem(n, threshold int) *apps.Problem {
	p := &apps.Problem{
		Title:      fmt.Sprintf("fib(%d)", n),
		Root:       "fib.fib",
		Arg:        n,
		Sequential: func() any { return sequential(n) },
		Check: func(result any) error {
			if want := iterative(n); result != want {
				return fmt.Errorf("fib(%d) is %d, not %d", n, want, result)
			}
			return nil
		},
		Answer: func(result any) apps.Answer {
			return apps.Answer{
				Text:   fmt.Sprintf("fib(%d) = %d", n, result),
				Fields: map[string]any{"n": n, "fib": result},
			}
		},
	}
	if threshold > 0 {
		p.Root, p.Arg = "fib.coarse", Call{N: n, Threshold: threshold}
	}
	return p
}
