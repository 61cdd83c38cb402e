package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
)

const runName = "run"

// options are the flags of "run", the same for all applications.
type options struct {
	workers    int
	nice       int
	sequential bool
	json       bool
	stats      bool
	verbose    bool
}

func newRunCommand(list []apps.App, c console) *cobra.Command {
	o := &options{}
	cmd := &cobra.Command{
		Use:   runName + " APPLICATION [ARGUMENT]...",
		Short: "Run an application on all cores",
		Long: `run computes one problem and prints the answer, after checking it as far as that can be told. On a terminal a line shows
how far it is: the share of the job tree that is done, jobs per second, workers that are busy, and the time it may still
take; elsewhere it tells the same every 10 seconds, on standard error.

Ctrl-C ends it within a second and says how far it got; a second Ctrl-C ends it at once.`,
		Example: `  satin-peer run nqueens 14
  satin-peer run nqueens 14 --workers 2 --stats
  satin-peer run nqueens 14 --sequential
  satin-peer run nqueens 14 --json > queens.json`,
		SuggestionsMinimumDistance: typoDistance,
		Args:                       cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return unknown("application", cmd, "") // one that is given but unknown is found before
		},
	}
	flags := cmd.PersistentFlags()
	flags.IntVar(&o.workers, "workers", 0, fmt.Sprintf("cores to use, 1 to %d (default all of this machine)", satin.MaxWorkers))
	flags.BoolVar(&o.sequential, "sequential", false, "run the sequential program the parallel one is compared with")
	flags.BoolVar(&o.json, "json", false, "print one JSON object instead of the answer's text")
	flags.BoolVar(&o.stats, "stats", false, "report statistics at the end; with --json they are in the object")
	flags.BoolVar(&o.verbose, "verbose", false, "when a job panics, also print its stack")
	flags.IntVar(&o.nice, "nice", 0, fmt.Sprintf("lower the priority of the workers by 0 to %d, to be polite to other programs", maxNice))
	for _, name := range []string{"workers", "nice"} {
		if err := cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions); err != nil {
			panic(err) // no such flag
		}
	}
	cmd.AddGroup(&cobra.Group{ID: runName, Title: "Applications:"})
	for _, app := range list {
		cmd.AddCommand(newAppCommand(app, o, c))
	}
	return cmd
}

func newAppCommand(app apps.App, o *options, c console) *cobra.Command {
	own := flag.NewFlagSet(app.Name, flag.ContinueOnError)
	build := app.Setup(own)
	cmd := &cobra.Command{
		Use:     strings.TrimSpace(app.Name + " " + app.Args),
		GroupID: runName,
		Short:   app.Summary,
		Long:    app.Long,
		Args:    cobra.ArbitraryArgs, // the application says what is wrong with them
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd.Flags()); err != nil {
				return err
			}
			problem, err := build(args)
			if err != nil {
				return err
			}
			return c.run(&task{app.Name, args, given(cmd.Flags(), own), problem}, o)
		},
	}
	examples := make([]string, len(app.Examples))
	for i, e := range app.Examples {
		examples[i] = "  satin-peer " + runName + " " + app.Name + " " + e
	}
	cmd.Example = strings.Join(examples, "\n")
	if !strings.Contains(app.Args, "FILE") {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	addGoFlags(cmd.Flags(), own)
	return cmd
}

// maxNice is the largest Unix nice value.
const maxNice = 19

// check refuses values out of range and flags that would have to be ignored.
func (o *options) check(flags *pflag.FlagSet) error {
	if o.sequential {
		for _, f := range []struct{ name, why string }{
			{"workers", "it uses one core"},
			{"stats", "it spawns no jobs to count"},
			{"nice", "it has no workers"},
		} {
			if flags.Changed(f.name) {
				return errors.New("--" + f.name + " cannot go with --sequential, the sequential program: " + f.why)
			}
		}
	}
	if flags.Changed("workers") {
		if err := apps.IntRange("--workers", o.workers, 1, satin.MaxWorkers); err != nil {
			return err
		}
	}
	return apps.IntRange("--nice", o.nice, 0, maxNice)
}
