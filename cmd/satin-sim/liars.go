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

	"github.com/satin-peer/satin/internal/sim/liars"
)

// tellLies runs schedules with liars and checks what package verify promises, then prints what each way to verify costs
// and lets through.
func tellLies(args []string, out, progress io.Writer) error {
	fs := flag.NewFlagSet("liars", flag.ContinueOnError)
	seeds := fs.Uint64("seeds", 1000, "schedules to check")
	from := fs.Uint64("from", 0, "the first `seed`")
	rows := fs.Int("rows", 3, "schedules for each row of the table, 0 to 100; 0: no table")
	dir := fs.String("out", "", "write sim-liars.md into this `folder` instead of to standard output")
	if err := parse(fs, args, 0, 0, out); err != nil {
		return err
	}
	if *seeds > maxSeeds || *rows < 0 || *rows > 100 {
		return usage("--seeds %d --rows %d: at most %d and 0 to 100 are possible", *seeds, *rows, maxSeeds)
	}
	began := time.Now()
	sum, failures := liars.Check(*from, *seeds)
	fmt.Fprintf(progress, "%d schedules, %d violations; %d outcomes of %d jobs accepted though wrong, where quorums "+
		"promise no more; %d of %d liars caught; %.0f schedules/s\n", *seeds, len(failures), sum.Misled, sum.Jobs,
		sum.Caught, sum.Lied, float64(*seeds)/time.Since(began).Seconds())
	var errs []error
	for i, f := range failures {
		if i < 10 {
			errs = append(errs, fmt.Errorf("seed %d: %w", f.Seed, f.Err))
		}
	}
	if len(errs) > 0 || *rows == 0 {
		return errors.Join(errs...)
	}
	var page bytes.Buffer
	fmt.Fprint(&page, "# Liars\n\nWhat each way to verify lets through and costs, in the simulator (`make liars-tables`). Only the "+
		"core is run; how peers make nodes of jobs is in docs/protocol.md.\n\n")
	if err := liars.Table(&page, *rows); err != nil {
		return err
	}
	if *dir == "" {
		_, err := out.Write(page.Bytes())
		return err
	}
	return os.WriteFile(filepath.Join(*dir, "sim-liars.md"), page.Bytes(), 0o644)
}
