package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/sim/liars"
)

// tellLies runs schedules with liars and checks what package verify promises, then prints what each way to verify costs
// and lets through.
func tellLies(args []string, out, progress io.Writer) error {
	fs := flag.NewFlagSet("liars", flag.ContinueOnError)
	seeds := fs.Uint64("seeds", 1000, "schedules to check")
	from := fs.Uint64("from", 0, "the first `seed`")
	runs := fs.Uint64("runs", 200, "whole runs with liars to check, in which it may be asked how an outcome was made")
	one := fs.Uint64("one", 0, "schedules of quorum=2 with one liar to check besides")
	rows := fs.Int("rows", 3, "schedules for each row of the table, 0 to 100; 0: no table")
	dir := fs.String("out", "", "write sim-liars.md into this `folder` instead of to standard output")
	if err := parse(fs, args, 0, 0, out); err != nil {
		return err
	}
	if max(*seeds, *runs, *one) > maxSeeds || *rows < 0 || *rows > 100 {
		return usage("--seeds %d --runs %d --rows %d: at most %d, as many, and 0 to 100 are possible", *seeds, *runs, *rows, maxSeeds)
	}
	mixed, errs := checkLiars(liars.ConfigOf, *from, *seeds)
	alone, failed := checkLiars(liars.OneLiarOf, *from, *one)
	fmt.Fprintf(progress, "%s, where quorums promise no more\n%s of one liar under quorum=2\n", mixed, alone)
	errs = append(errs, failed...)
	spread, late := liars.CheckSpread(*from, *seeds)
	errs = append(errs, firstOf(late)...)
	telling := fmt.Sprintf("%d schedules, %d violations, %d liars found out, %d false accusations, %d trials", *seeds, len(late),
		spread.Proofs, spread.False, spread.Tried)
	fmt.Fprintf(progress, "%s among members who tell each other of liars\n", telling)
	errs = append(errs, runLiars(*from, *runs, progress)...)
	if len(errs) > 0 || *rows == 0 {
		return errors.Join(errs...)
	}
	var page bytes.Buffer
	fmt.Fprint(&page, "# Liars\n\nWhat each way to verify lets through and costs, in the simulator (`make liars-tables`). Only the "+
		"core is run; how peers make nodes of jobs is in docs/protocol.md.\n\n")
	fmt.Fprintf(&page, "Schedules drawn by seed from %d on, with 4 to 11 peers, 3 to 14 jobs and answers that come late or never. Of all ways "+
		"and characters: %s, where quorums promise no more. Of quorum=2 with one liar of any character: %s.\n\n", *from, mixed, alone)
	if err := liars.Table(&page, *rows); err != nil {
		return err
	}
	fmt.Fprintf(&page, "\n## When liars are out\n\nMembers tell each other of proofs, try them and say who is out (package `peer/alarm`), "+
		"on lines that lose up to half of what is said, among partitions, with up to eight liars found out at once, and liars that accuse others. "+
		"Schedules drawn by seed from %d on, with 4 to 12 members: %s.\n\nThe time from when a member is to be told until it has the liar out: "+
		"from the proof, or from being connected again to a member that has the liar out. With delays: a try to tell it failed on the "+
		"way, or it was busy with other accusations; a try that waits in vain takes 5 s.\n\n", *from, telling)
	spread.Table(&page)
	if *dir == "" {
		_, err := out.Write(page.Bytes())
		return err
	}
	return os.WriteFile(filepath.Join(*dir, "sim-liars.md"), page.Bytes(), 0o644)
}

// checkLiars runs schedules, says what came of them, and gives the first that broke what must hold.
func checkLiars(draw func(uint64) liars.Config, from, n uint64) (said string, errs []error) {
	sum, failures := liars.Check(draw, from, n)
	return fmt.Sprintf("%d schedules, %d violations, %d of %d liars caught, %d outcomes of %d jobs accepted though wrong", n,
		len(failures), sum.Caught, sum.Lied, sum.Misled, sum.Jobs), firstOf(failures)
}

// firstOf gives some of the schedules that broke what must hold.
func firstOf(failures []liars.Failure) (errs []error) {
	for _, f := range failures[:min(len(failures), 10)] {
		errs = append(errs, fmt.Errorf("seed %d: %w", f.Seed, f.Err))
	}
	return errs
}

// runLiars runs whole runs, and gives the first that broke what must hold.
func runLiars(from, n uint64, progress io.Writer) (errs []error) {
	began, violations := time.Now(), 0
	var sum sim.Report
	for seed := from; seed < from+n; seed++ {
		r, err := sim.RunLiars(seed)
		if err != nil {
			if violations++; violations <= 10 {
				errs = append(errs, err)
			}
			continue
		}
		all, one := &sum.Proofs, &r.Proofs
		all.Nodes, all.Openings, all.Reran = all.Nodes+one.Nodes, all.Openings+one.Openings, all.Reran+one.Reran
		all.Caught = append(all.Caught, one.Caught...)
	}
	fmt.Fprintf(progress, "%d whole runs, %d violations; of %d nodes that others had committed to %d were asked for and %d "+
		"run again; %d liars caught; %.0f runs/s\n", n, violations, sum.Proofs.Nodes, sum.Proofs.Openings,
		sum.Proofs.Reran, len(sum.Proofs.Caught),
		float64(n)/time.Since(began).Seconds())
	return errs
}
