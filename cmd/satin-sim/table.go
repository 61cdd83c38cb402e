package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/sim/paper"
	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal/policy"
)

func table(args []string, out, progress io.Writer) error {
	fs := flag.NewFlagSet("table", flag.ContinueOnError)
	seeds := fs.Int("seeds", 1, "runs of every experiment, 1 to 100")
	dir := fs.String("out", "", "write sim-NAME.md into this `folder` instead of to standard output")
	keep := fs.String("keep", "", "keep the runs of table1, figure2, figure3, scenarios and close in this `folder` as they end: the same program goes on from there when it is started again")
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
		if *keep != "" {
			in, err := keptIn(*keep, t.Name)
			if err != nil {
				return err
			}
			o.Once = in.once
		}
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
	return durable.Write(path, 0o644, false, durable.Bytes([]byte(text)))
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
	fmt.Fprintf(out, "\npolicies: %s\nscenarios: scenario1 to scenario11, figure4\ntables:\n",
		strings.Join(policy.Names(), " "))
	for _, t := range paper.Tables() {
		fmt.Fprintf(out, "  %-10s %s\n", t.Name, t.About)
	}
	fmt.Fprintln(out, "faults:")
	for _, k := range sim.FaultKinds() {
		fmt.Fprintf(out, "  %v\n", k)
	}
	return nil
}
