package nqueens

import (
	"flag"
	"fmt"

	"github.com/satin-peer/satin/apps"
)

// MaxN is the largest board whose number of solutions is known (Preusser and Engelhardt 2016); it took a year.
const MaxN = 27

// solutions[n] is the number of solutions, OEIS A000170.
var solutions = [MaxN + 1]uint64{
	1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512, 95815104, 666090624,
	4968057848,
	39029188884, 314666222712, 2691008701644, 24233937684440, 227514171973736, 2207893435808352, 22317699616364044,
	234907967154122528,
}

//go:generate go run github.com/satin-peer/satin/cmd/satinversion

// App is the n queens problem.
var App = apps.App{
	Version: sources,
	Name:    "nqueens",
	Summary: "count the ways to place N queens that do not attack each other",
	Args:    "N",
	Long: `Counts the ways to place N queens on a board of N by N squares so that no two share a row, a column or a diagonal.

The search places a queen in one row after the other and keeps the attacked columns and diagonals as bits. Of the up to eight
solutions that turn into each other when the board is turned or mirrored it looks at one, as a rule, and counts it for
all. The answer is checked with the published one (OEIS A000170).

A board with as many rows left as --threshold says is one job; 0 makes a job of every queen. Each row more takes about
seven times as long: 16 rows take a second on one core, 18 a minute, 20 an hour.`,
	Examples: []string{"18", "14 --threshold 0"},
	Setup:    setup,
}

// byN stands for a threshold that depends on the size of the board.
const byN = -1

// threshold leaves leaves of 0.1 to 5 ms, and some ten thousand of them for 18 queens.
func threshold(n int) int { return min(max(n-4, 12), 14) }

func setup(fs *flag.FlagSet) func(args []string) (*apps.Problem, error) {
	rows := fs.Int("threshold", byN,
		"`rows` left that a job counts without spawning; 0 spawns for every queen, -1 chooses by N")
	return func(args []string) (*apps.Problem, error) {
		if err := apps.ArgCount(args, 1, "N"); err != nil {
			return nil, err
		}
		n, err := apps.Int("N", args[0], 1, MaxN)
		if err != nil {
			return nil, err
		}
		if err := apps.IntRange("--threshold", *rows, byN, MaxN); err != nil {
			return nil, err
		}
		leaf := *rows
		if leaf == byN {
			leaf = threshold(n)
		}
		return problem(n, leaf), nil
	}
}

func problem(n, leaf int) *apps.Problem {
	return &apps.Problem{
		Title:      fmt.Sprintf("%d queens", n),
		Root:       "nqueens.count",
		Arg:        Queens{N: n, Leaf: leaf},
		Sequential: func() any { return sequential(n) },
		Check: func(result any) error {
			if result != solutions[n] {
				return fmt.Errorf("%d queens have %d solutions, not %d (OEIS A000170)", n, solutions[n], result)
			}
			return nil
		},
		Answer: func(result any) apps.Answer {
			return apps.Answer{
				Text:   fmt.Sprintf("%d queens: %d solutions", n, result),
				Fields: map[string]any{"n": n, "solutions": result},
			}
		},
	}
}
