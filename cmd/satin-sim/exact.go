package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/sim/paper"
	"github.com/satin-peer/satin/internal/sim/runlife"
)

// kindFlag is the flag --kinds.
type kindFlag []sim.FaultKind

func (k *kindFlag) String() string { return "" }

func (k *kindFlag) Set(text string) error {
	*k = nil
	for _, name := range strings.Split(text, ",") {
		kind, ok := sim.FaultNamed(name)
		if !ok {
			return fmt.Errorf("%q is not a kind of fault; satin-sim list names them", name)
		}
		*k = append(*k, kind)
	}
	return nil
}

// declareKinds makes --kinds; without it all are drawn.
func declareKinds(fs *flag.FlagSet) *kindFlag {
	kinds := kindFlag(sim.FaultKinds())
	fs.Var(&kinds, "kinds", "draw faults of these `kinds` only, with commas between them")
	return &kinds
}

func exact(args []string, out, progress io.Writer) error {
	fs := flag.NewFlagSet("exact", flag.ContinueOnError)
	seeds := fs.Uint64("seeds", 1000, "number of schedules")
	from := fs.Uint64("from", 0, "first seed")
	kinds := declareKinds(fs)
	first := fs.Bool("first", false, "stop at the first schedule that breaks an invariant")
	if err := parse(fs, args, 0, 0, out); err != nil {
		return err
	}
	if *seeds < 1 || *seeds > maxSeeds {
		return usage("--seeds %d: 1 to %d are possible", *seeds, maxSeeds)
	}
	if *first {
		return firstFailure(*from, *seeds, *kinds, out)
	}
	began := time.Now()
	x, err := paper.Exact(paper.Options{Seeds: 1, Progress: progress}, *from, *seeds, *kinds)
	if err != nil {
		return err
	}
	fmt.Fprintf(out,
		"%d schedules, %d violations; %d events, %d messages lost or damaged, %d jobs put back, %d salvaged; %.0f schedules/s\n",
		x.Schedules, x.Failed, x.Counts.Events, x.Counts.Lost, x.Counts.PutBack, x.Counts.Salvaged,
		float64(x.Schedules)/time.Since(began).Seconds())
	printFailures(x, out)
	for _, what := range slices.Sorted(maps.Keys(x.Broken)) {
		fmt.Fprintf(out, "%-18s %d\n", what, x.Broken[what])
	}
	livesErr := exactLives(*from, *seeds, out)
	if x.Failed > 0 {
		return fmt.Errorf("%d schedules broke an invariant; satin-sim replay %d shows the first", x.Failed,
			x.Failures[0].Seed)
	}
	return livesErr
}

// exactLives runs schedules of the life of runs: who ends them, and where their answers are. In some, jobs are moved
// by the core of package steal, in the others by a model of it.
func exactLives(from, seeds uint64, out io.Writer) error {
	some := max(1, seeds/4)
	return errors.Join(exactLife(from, seeds, runlife.Kind{}, "life of runs", "--life", out),
		exactLife(from, some, runlife.Kind{Cuts: true}, "life of runs with cuts", "--life --cuts", out),
		exactLife(from, some, runlife.Kind{Clocks: true}, "life of runs with clocks", "--life --clocks", out),
		exactLife(from, some, runlife.Kind{Rosters: true}, "life of runs with rosters", "--life --rosters", out),
		exactLife(from, some, runlife.Kind{Verified: true}, "life of verified runs", "--life --verified", out),
		exactLife(from, some, runlife.Kind{Modules: true}, "life of runs with modules", "--life --modules", out),
		exactLife(from, some, runlife.Kind{Stealing: true}, "life of runs with stealing", "--life --stealing", out),
		exactLife(from, some, runlife.Kind{Stealing: true, Rosters: true}, "life of runs with stealing and rosters",
			"--life --stealing --rosters", out),
		exactLife(from, some, runlife.Kind{Stealing: true, Rosters: true, Cuts: true, Clocks: true, Verified: true,
			Modules: true}, "life of runs with everything",
			"--life --stealing --rosters --cuts --clocks --verified --modules", out))
}

func exactLife(from, seeds uint64, kind runlife.Kind, what, flags string, out io.Writer) error {
	began := time.Now()
	c, failures := runlife.Check(from, seeds, kind)
	fmt.Fprintf(out, "%s: %d schedules, %d violations; %d events, %d messages lost, %d crashes, "+
		"%d answers, %d disputes; %.0f schedules/s\n", what, seeds, c.Failed, c.Events, c.Lost, c.Crashes, c.Answers,
		c.Disputes, float64(seeds)/time.Since(began).Seconds())
	for _, f := range failures {
		fmt.Fprintf(out, "%s, seed %d: %v\n", what, f.Seed, f.Err)
	}
	if len(failures) > 0 {
		return fmt.Errorf("%d schedules of the %s broke an invariant; satin-sim replay %s %d shows the first",
			c.Failed, what, flags, failures[0].Seed)
	}
	return nil
}

const maxSeeds = 1_000_000_000

func printFailures(x *paper.Exactness, out io.Writer) {
	for _, f := range x.Failures {
		fmt.Fprintf(out, "seed %d: %v\n    %s\n", f.Seed, f.Err, f.About)
	}
}

// firstFailure prints the failing schedule with the lowest seed, and is an error if there is one.
func firstFailure(from, seeds uint64, kinds []sim.FaultKind, out io.Writer) error {
	f, err := paper.FirstFailure(paper.Options{Seeds: 1}, from, seeds, kinds)
	if err != nil {
		return err
	}
	if f == nil {
		fmt.Fprintf(out, "%d schedules, 0 violations\n", seeds)
		return nil
	}
	fmt.Fprintf(out, "seed %d: %v\n    %s\n", f.Seed, f.Err, f.About)
	return fmt.Errorf("schedule %d broke an invariant", f.Seed)
}

// soakStep is how many schedules are run between two lines of soak.
const soakStep = 2_000

// soak runs schedules by the hour. It goes on after a failure, and can itself be gone on with.
func soak(args []string, out, progress io.Writer) error {
	fs := flag.NewFlagSet("soak", flag.ContinueOnError)
	seeds := fs.Uint64("seeds", 1_000_000, "number of schedules")
	from := fs.Uint64("from", 0, "first seed: where an earlier soak stopped")
	page := fs.String("add", "", "go on after the portions of this `page`, and add one to it")
	of := fs.String("of", "?", "what that page is to say was run, a `commit`")
	kinds := declareKinds(fs)
	if err := parse(fs, args, 0, 0, out); err != nil {
		return err
	}
	if *seeds < 1 || *seeds > maxSeeds {
		return usage("--seeds %d: 1 to %d are possible", *seeds, maxSeeds)
	}
	var sum *portions
	if *page != "" {
		var err error
		if sum, err = openPortions(*page); err != nil {
			return err
		}
		*from = max(*from, sum.next())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var failed []string
	began, done, end := time.Now(), uint64(0), *from+*seeds
	for at := *from; at < end && ctx.Err() == nil; {
		n := min(soakStep, end-at)
		x, err := paper.Exact(paper.Options{Seeds: 1, Progress: progress}, at, n, *kinds)
		if err != nil {
			return err
		}
		printFailures(x, out)
		for _, f := range x.Failures {
			failed = append(failed, fmt.Sprint(f.Seed))
		}
		at, done = at+n, done+n
		fmt.Fprintf(out, "%s: seeds to %d, %d of %d schedules, %d violations, %.0f schedules/s; --from %d goes on\n",
			time.Since(began).Round(time.Second), at-1, done, *seeds, len(failed),
			float64(done)/time.Since(began).Seconds(), at)
		if sum != nil {
			if err := sum.write(portion{*from, at - 1, *of, failed}); err != nil {
				return err
			}
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d schedules broke an invariant: seeds %s", len(failed), strings.Join(failed, " "))
	}
	return nil
}

func replay(args []string, out, _ io.Writer) error {
	fs := flag.NewFlagSet("replay", flag.ContinueOnError)
	kinds := declareKinds(fs)
	lives := fs.Bool("life", false, "the schedule is one of the life of runs")
	stealing := fs.Bool("stealing", false, "in it jobs are moved by the core that peers have, and not by a model of it")
	rosters := fs.Bool("rosters", false, "in it runs decide who takes part")
	cuts := fs.Bool("cuts", false, "in it members end between a write and what follows from it")
	clocks := fs.Bool("clocks", false, "in it members' clocks are wrong for a while")
	verified := fs.Bool("verified", false, "in it owners verify their runs, and members lie")
	modules := fs.Bool("modules", false, "in it runs need modules that are fetched")
	if err := parse(fs, args, 1, 1, out); err != nil {
		return err
	}
	seed, err := strconv.ParseUint(fs.Arg(0), 10, 64)
	if err != nil {
		return usage("%q is not a seed, a whole number", fs.Arg(0))
	}
	kind := runlife.Kind{Stealing: *stealing, Rosters: *rosters, Cuts: *cuts, Clocks: *clocks, Verified: *verified,
		Modules: *modules}
	if kind != (runlife.Kind{}) && !*lives {
		return usage("--stealing, --rosters, --cuts, --clocks, --verified and --modules go with --life")
	}
	if *lives {
		return runlife.Replay(seed, kind, out)
	}
	c := sim.Schedule(seed, *kinds)
	total := sim.Sequential(c.Tree)
	fmt.Fprintln(out, c.Describe())
	c.Trace = out
	began := time.Now()
	r, err := sim.Run(c)
	if r != nil {
		printReport(out, r, total, time.Since(began))
	}
	return err
}
