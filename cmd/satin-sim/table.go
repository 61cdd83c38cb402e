package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/sim/paper"
	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
)

func table(args []string, out, progress io.Writer) error {
	fs := flag.NewFlagSet("table", flag.ContinueOnError)
	seeds := fs.Int("seeds", 1, "runs of every experiment, 1 to 100")
	dir := fs.String("out", "", "write sim-NAME.md into this `folder` instead of to standard output")
	quiet := fs.Bool("quiet", false, "do not report progress")
	names, rest := leading(args)
	if err := parse(fs, rest, 0, 0, out); err != nil {
		return err
	}
	if *seeds < 1 || *seeds > 100 {
		return usage("--seeds %d: 1 to 100 are possible", *seeds)
	}
	tables, err := tablesNamed(names)
	if err != nil {
		return err
	}
	o := paper.Options{Seeds: *seeds, Progress: progress}
	if *quiet {
		o.Progress = nil
	}
	for _, t := range tables {
		fmt.Fprintf(progress, "%s: %s\n", t.Name, t.About)
		began := time.Now()
		doc, failure := t.Make(o)
		if doc != nil {
			if err := deliver(doc, *dir, t.Name, out); err != nil {
				return err
			}
		}
		if failure != nil {
			return failure
		}
		fmt.Fprintf(progress, "  %.0f s\n", time.Since(began).Seconds())
	}
	return nil
}

// leading splits the words before the first flag off, so that "table table1 --seeds 3" reads naturally.
func leading(args []string) (words, rest []string) {
	i := 0
	for i < len(args) && !strings.HasPrefix(args[i], "-") {
		i++
	}
	return args[:i], args[i:]
}

func tablesNamed(names []string) ([]paper.Table, error) {
	if len(names) == 0 {
		return nil, usage("which table? satin-sim list names them; \"all\" makes all")
	}
	if len(names) == 1 && names[0] == "all" {
		return paper.Tables(), nil
	}
	var tables []paper.Table
	for _, name := range names {
		t, err := paper.TableNamed(name)
		if err != nil {
			return nil, usageError{err}
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// deliver prints a page, or writes it so that a reader never sees half of it.
func deliver(doc *paper.Document, dir, name string, out io.Writer) error {
	if dir == "" {
		_, err := io.WriteString(out, doc.String())
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, "sim-"+name+".md")
	text := strings.TrimRight(doc.String(), "\n") + "\n"
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func exact(args []string, out, progress io.Writer) error {
	fs := flag.NewFlagSet("exact", flag.ContinueOnError)
	seeds := fs.Uint64("seeds", 1000, "number of schedules")
	from := fs.Uint64("from", 0, "first seed")
	all := fs.Bool("all-kinds", false, "faults that cost peers their lives, too")
	first := fs.Bool("first", false, "stop at the first schedule that breaks an invariant")
	if err := parse(fs, args, 0, 0, out); err != nil {
		return err
	}
	if *seeds < 1 || *seeds > 1e9 {
		return usage("--seeds %d: 1 to 1000000000 are possible", *seeds)
	}
	kinds := sim.Survivable()
	if *all {
		kinds = sim.FaultKinds()
	}
	if *first {
		return firstFailure(*from, *seeds, kinds, out)
	}
	began := time.Now()
	x, err := paper.Exact(paper.Options{Seeds: 1, Progress: progress}, *from, *seeds, kinds)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d schedules, %d violations; %d events, %d messages lost or damaged, %d jobs put back; %.0f schedules/s\n",
		x.Schedules, x.Failed, x.Counts.Events, x.Counts.Lost, x.Counts.PutBack, float64(x.Schedules)/time.Since(began).Seconds())
	for _, f := range x.Failures {
		fmt.Fprintf(out, "seed %d: %v\n    %s\n", f.Seed, f.Err, f.About)
	}
	if x.Failed > 0 {
		again := ""
		if *all {
			again = "--all-kinds "
		}
		return fmt.Errorf("%d schedules broke an invariant; satin-sim replay %s%d shows the first", x.Failed, again, x.Failures[0].Seed)
	}
	return nil
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

func replay(args []string, out, _ io.Writer) error {
	fs := flag.NewFlagSet("replay", flag.ContinueOnError)
	all := fs.Bool("all-kinds", false, "as in satin-sim exact")
	if err := parse(fs, args, 1, 1, out); err != nil {
		return err
	}
	seed, err := strconv.ParseUint(fs.Arg(0), 10, 64)
	if err != nil {
		return usage("%q is not a seed, a whole number", fs.Arg(0))
	}
	kinds := sim.Survivable()
	if *all {
		kinds = sim.FaultKinds()
	}
	c := sim.Schedule(seed, kinds)
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

func nws(args []string, out, _ io.Writer) error {
	fs := flag.NewFlagSet("nws", flag.ContinueOnError)
	seed := fs.Uint64("seed", 1, "decides the series")
	if err := parse(fs, args, 0, 0, out); err != nil {
		return err
	}
	_, err := out.Write(wan.SyntheticDAS(*seed))
	return err
}

func list(args []string, out, _ io.Writer) error {
	fs := flag.NewFlagSet("list", flag.ContinueOnError)
	if err := parse(fs, args, 0, 0, out); err != nil {
		return err
	}
	fmt.Fprint(out, "applications:")
	for _, a := range paper.Apps() {
		fmt.Fprint(out, " ", a.Name)
	}
	fmt.Fprintf(out, "\npolicies: %s\nscenarios: scenario1 to scenario11, figure4\ntables:\n", strings.Join(steal.PolicyNames(), " "))
	for _, t := range paper.Tables() {
		fmt.Fprintf(out, "  %-10s %s\n", t.Name, t.About)
	}
	fmt.Fprintln(out, "faults:")
	for _, k := range sim.FaultKinds() {
		fmt.Fprintf(out, "  %v\n", k)
	}
	return nil
}
