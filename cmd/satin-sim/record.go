package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/apps/all"
	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/sim/record"
)

const recordHelp = `satin-sim record APP [ARGUMENTS] [FLAGS] runs an application of satin-peer on one core and prints the tree of its jobs, with
what each cost and how large its argument and result are, for satin-sim run --tree FILE. It takes some times as long as the
application's sequential program, which runs too, and beside it all jobs in place on one core: what they cost adds up to that.
With --runs N it does so N times, and what a job without children cost is the least of that, what others did the median.

Examples:
  satin-sim record nqueens 14 > queens.tree
  satin-sim record --runs 3 nqueens 14 > queens.tree
  satin-sim record uts T1 > uts.tree
`

// recordTree is the command "record": it is given the application's own arguments and flags.
func recordTree(args []string, out, progress io.Writer) error {
	if len(args) == 0 || args[0] == "--help" || args[0] == "-h" {
		fmt.Fprint(out, recordHelp)
		if len(args) == 0 {
			return usage("record what? satin-sim record --help shows examples")
		}
		return flag.ErrHelp
	}
	runs := 1
	if args[0] == "--runs" {
		var err error
		if len(args) < 3 {
			return usage("record --runs N APP ...")
		}
		if runs, err = strconv.Atoi(args[1]); err != nil || runs < 1 || runs > maxRecordings {
			return usage("--runs: got %q, want a whole number from 1 to %d", args[1], maxRecordings)
		}
		args = args[2:]
	}
	problem, err := problemOf(args[0], args[1:], out)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var trees []*sim.Recorded
	var shares []float64
	for range runs {
		again, share, err := recordOnce(ctx, strings.Join(args, " "), problem)
		if err != nil {
			return err
		}
		trees, shares = append(trees, again), append(shares, share)
	}
	tree, err := sim.Merge(trees)
	if err != nil {
		return fmt.Errorf("%s: %w", problem.Title, err)
	}
	slices.Sort(shares)
	if share := shares[len(shares)/2]; share > 0 { // the system tells
		tree.Weigh(time.Duration(share * float64(tree.Twin)))
	}
	total := sim.Sequential(tree)
	fmt.Fprintf(progress, "%s: %d jobs, %d of them leaves, %v of work; the sequential program took %v\n", problem.Title,
		total.Jobs, total.Result.Leaves, total.Work, tree.Twin)
	var text bytes.Buffer
	if err := tree.Write(&text); err != nil {
		return err
	}
	_, err = text.WriteTo(out)
	return err
}

// maxRecordings bounds --runs.
const maxRecordings = 100

// recordOnce runs the jobs one by one, and then all of them as one program beside the sequential program: what else the
// machine does slows both alike. It says as well what the one took as a share of the other; 0 where no system tells.
func recordOnce(ctx context.Context, name string, problem *apps.Problem) (tree *sim.Recorded, share float64,
	err error) {
	tree, result, err := record.Tree(ctx, name, problem.Root, problem.Arg)
	if err != nil {
		return nil, 0, err
	}
	if err := problem.Check(result); err != nil {
		return nil, 0, fmt.Errorf("%s: the recorded run has a wrong result: %w", problem.Title, err)
	}
	twin := make(chan time.Duration, 1)
	go func() { twin <- record.Time(func() { problem.Sequential() }) }()
	whole, err := record.Whole(ctx, problem.Root, problem.Arg)
	if err != nil {
		return nil, 0, err
	}
	tree.Twin = <-twin
	return tree, float64(whole) / float64(max(1, tree.Twin)), nil
}

// problemOf sets an application up as satin-peer run does.
func problemOf(name string, args []string, out io.Writer) (*apps.Problem, error) {
	list := all.Apps()
	i := slices.IndexFunc(list, func(a apps.App) bool { return a.Name == name })
	if i < 0 {
		var names []string
		for _, a := range list {
			names = append(names, a.Name)
		}
		return nil, usage("there is no application %q; there are %s", name, strings.Join(names, ", "))
	}
	fs := flag.NewFlagSet("record "+name, flag.ContinueOnError)
	setup := list[i].Setup(fs)
	words, rest := leading(args)
	if err := parse(fs, rest, 0, 0, out); err != nil {
		return nil, err
	}
	problem, err := setup(words)
	if err != nil {
		return nil, usageError{err}
	}
	return problem, nil
}
