package cli

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/peer/settings"
	"github.com/satin-peer/satin/steal"
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
	local      bool
	detach     bool
	dashboard  bool
	recovery   string
	maxCores   int
	verify     string
	adapt      string
	eager      int
	peers      string
	least      int // of --peers
	most       int
	each       string // a file with a line for each run
	results    string // the directory of their answers
	atOnce     int
	harm       *[]string
	faults     []fault // of harm

	exec func() (foreign, error) // for a run in this process; nil: no executables
}

func newRunCommand(list []apps.App, c console) *cobra.Command {
	o := &options{atOnce: runsAtOnce}
	cmd := &cobra.Command{
		Use:   runName + " APPLICATION [ARGUMENT]...",
		Short: "Run an application on all cores",
		Long: `run computes one problem and prints the answer, after checking it as far as that can be told. On a terminal a line shows
how far it is: the share of the job tree that is done, jobs per second, workers that are busy, and the time it may still
take; elsewhere it tells the same every 10 seconds, on standard error.

Where it runs: in the swarm, through the daemon of this machine, if there is one; else, with --join, in the swarm of the
members that are named, through a peer that is there for this run only; else on the cores of this machine. --local, --sequential,
--workers and --nice without --join mean this machine in any case.

A module, a file that ends in .wasm, is an application that somebody else has written, in C, Rust or Go: it runs
sandboxed, and the other members get it from this peer. What it computes and which flags it has it says itself: add --help.
It reads no files but those that --file NAME=PATH gives it, 8 MiB in all.

Ctrl-C ends it within a second and says how far it got; a second Ctrl-C ends it at once.`,
		Example: `  satin-peer run nqueens 14
  satin-peer run nqueens 14 --workers 2 --stats
  satin-peer run nqueens 14 --sequential
  satin-peer run nqueens 14 --json > queens.json
  satin-peer run ./golomb.wasm 11
  satin-peer run nqueens 18 --dashboard
  satin-peer run nqueens 18 --detach
  satin-peer run tsp --each instances.txt --results answers
  satin-peer run nqueens 18 --join satin-invite-1:pGFz...`,
		SuggestionsMinimumDistance: typoDistance,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return unknown("application", cmd, "") // one that is given but unknown is found before
		},
	}
	flags := cmd.PersistentFlags()
	numberFlag(flags, &o.workers, "workers", 1, satin.MaxWorkers,
		fmt.Sprintf("cores to use, 1 to %d (default all of this machine)", satin.MaxWorkers))
	flags.BoolVar(&o.sequential, "sequential", false, "run the sequential program the parallel one is compared with")
	flags.BoolVar(&o.json, "json", false, "print one JSON object instead of the answer's text")
	flags.BoolVar(&o.stats, "stats", false, "report statistics at the end; with --json they are in the object")
	flags.BoolVar(&o.verbose, "verbose", false, "when a job panics, also print its stack")
	numberFlag(flags, &o.nice, "nice", 0, maxNice, fmt.Sprintf(
		"lower the priority of the workers by 0 to %d, to be polite to other programs", maxNice))
	flags.BoolVar(&o.local, "local", false, "run it in this process, also when there is a daemon")
	flags.BoolVar(&o.detach, "detach", false, "leave the run with the daemon, and print what to wait for")
	flags.BoolVar(&o.dashboard, "dashboard", false, "print a link that shows the run in the browser, on standard error")
	flags.StringVar(&o.recovery, "recovery", "salvage",
		"the `WAY` in which the work of lost peers is dealt with: salvage, or naive to compute all of it again")
	numberFlag(flags, &o.maxCores, "max-cores", 0, satin.MaxWorkers,
		"cores of one peer that the run may use at most, in a swarm (0: each peer decides)")
	flags.StringVar(&o.verify, "verify", "members", "what is done before results of others are used: `MODE` members "+
		"believes them, spot=R runs a share R of their nodes again, quorum=K has K members come to each, doubt=P so "+
		"many that it is wrong with probability P at most; docs/security.md says what each finds, and what ,others is")
	o.addAdaptFlags(flags)
	flags.StringVar(&o.each, "each", "", "run once for each line of `FILE`, which has the arguments, with --results")
	flags.StringVar(&o.results, "results", "", "the `DIR` that gets the answers of --each as JSON; what is there is not run again")
	numberFlag(flags, &o.atOnce, "at-once", 1, maxAtOnce, "how many runs of --each a daemon has at once; each gets the same share of the cores")
	o.harm = addFaultFlag(flags)
	flags.String("config", "", "the configuration `FILE` to read")
	settings.AddFlags(flags, "state_dir", "runtime_dir", "join")
	for _, name := range []string{"workers", "nice", "state-dir", "runtime-dir", "join", "recovery", "max-cores", "verify",
		"eager", "adapt", "peers", "fault", "at-once"} {
		if err := cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions); err != nil {
			panic(err) // no such flag
		}
	}
	cmd.AddGroup(&cobra.Group{ID: runName, Title: "Applications:"})
	for _, app := range list {
		cmd.AddCommand(newAppCommand(app, o, c, list))
	}
	return cmd
}

func newAppCommand(app apps.App, o *options, c console, list []apps.App) *cobra.Command {
	own := flag.NewFlagSet(app.Name, flag.ContinueOnError)
	build := setup(app, own)
	name := calledAs(c.modules, app.Name)
	cmd := &cobra.Command{
		Use:     strings.TrimSpace(name + " " + app.Args),
		GroupID: runName,
		Short:   app.Summary,
		Long:    app.Long,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd.Flags()); err != nil {
				return err
			}
			o.exec = func() (foreign, error) { return executor(c, app, cmd.Flags()) }
			if o.each != "" {
				return runBatch(c, app, o, cmd.Flags(), own, args)
			}
			problem, err := build(args)
			switch {
			case err != nil:
				return err
			case o.sequential && problem.Sequential == nil:
				return errors.New("--sequential: " + app.Name + " has no sequential program")
			case problem.Prepare != nil:
				if err := problem.Prepare(); err != nil {
					return err
				}
			}
			t := &task{app.Name, args, given(cmd.Flags(), own), problem, app.Version}
			if done, err := c.elsewhere(t, o, cmd.Flags(), list); done {
				return err
			}
			return c.run(t, o)
		},
	}
	examples := make([]string, len(app.Examples))
	for i, e := range app.Examples {
		examples[i] = "  satin-peer " + runName + " " + name + " " + e
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

// conflicts are pairs of flags that exclude each other.
var conflicts = []struct{ flag, with, why string }{
	{"workers", "sequential", ", the sequential program: it uses one core"},
	{"stats", "sequential", ", the sequential program: it spawns no jobs to count"},
	{"nice", "sequential", ", the sequential program: it has no workers"},
	{"join", "sequential", ", the sequential program: it stays in this process"},
	{"detach", "sequential", ", the sequential program: it stays in this process"},
	{"dashboard", "sequential", ", the sequential program: it has nothing to show"},
	{"each", "sequential", ": its runs are jobs"},
	{"each", "detach", ": interrupt it, its runs go on, and the same command waits for them again"},
	{"each", "json", ": the answers are JSON in any case"},
	{"each", "join", ": start a daemon with it"},
	{"each", "dashboard", ": satin-peer dashboard shows all runs"},
	{"each", "fault", ": give it to satin-peer start"},
	{"dashboard", "detach", ": satin-peer dashboard prints a link to the daemon's page"},
	{"join", "local", ": it stays in this process"},
	{"detach", "local", ": it stays in this process"},
	{"detach", "workers", ": the daemon has the workers that it was started with"},
	{"detach", "nice", ": the daemon has the priority that it was started with"},
	{"detach", "stats", ": satin-peer wait shows them when there are any"},
	{"recovery", "local", ": there is no peer to be lost"},
	{"recovery", "sequential", ", the sequential program: there is no peer to be lost"},
	{"max-cores", "local", ": --workers says how many it uses"},
	{"max-cores", "sequential", ", the sequential program: it uses one core"},
	{"verify", "local", ": nobody else computes"},
	{"verify", "sequential", ", the sequential program: nobody else computes"},
	{"eager", "local", ": nobody else computes"},
	{"eager", "sequential", ", the sequential program: nobody else computes"},
	{"adapt", "local", ": nobody else computes"},
	{"adapt", "sequential", ", the sequential program: nobody else computes"},
	{"peers", "local", ": nobody else computes"},
	{"peers", "sequential", ", the sequential program: nobody else computes"},
	{"fault", "sequential", ", the sequential program: it does not survive anything"},
	{"nice", "join", ": the priority of a peer is a setting, see satin-peer config"},
}

// check refuses values out of range and flags that would have to be ignored.
func (o *options) check(flags *pflag.FlagSet) error {
	for _, c := range conflicts {
		if isGiven(flags, c.flag) && isGiven(flags, c.with) {
			return errors.New("--" + c.flag + " cannot go with --" + c.with + c.why)
		}
	}
	err := notEmpty(flags)
	if err != nil {
		return err
	}
	for _, name := range []string{"results", "at-once"} {
		if o.each == "" && isGiven(flags, name) {
			return errors.New("--" + name + " is about many runs: it needs --each FILE, which has their arguments")
		}
	}
	if o.faults, err = parseFaults(*o.harm); err != nil {
		return err
	}
	if _, err := steal.ParseRecovery(o.recovery); err != nil {
		return &apps.InputError{What: "--recovery", Got: o.recovery,
			Want: fmt.Sprintf("%s or %s", steal.Salvage, steal.Naive)}
	}
	return o.checkAdapt()
}

// notEmpty refuses flags that were given an empty value, as by a variable of a shell that was never set, and would do
// nothing: a file was to be written, or a run to be verified. An application may have a use for one where it has a
// default.
func notEmpty(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" && (f.DefValue == "" || f.Name == "verify") {
			err = &apps.InputError{What: "--" + f.Name, Got: "nothing", Want: "a value, or none of this flag"}
		}
	})
	return err
}

// isGiven says whether a flag was given, and not as false.
func isGiven(flags *pflag.FlagSet, name string) bool {
	f := flags.Lookup(name)
	return f != nil && f.Changed && f.Value.String() != "false"
}
