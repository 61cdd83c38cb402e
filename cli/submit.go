package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/settings"
	"github.com/satin-peer/satin/steal"
)

// submission says t to a daemon, with what its argument names.
func submission(t *task, o *options) (s control.Submission, loans []compute.Loan, err error) {
	s = control.Submission{App: t.app, Sources: t.sources, Args: commandLine(t), Title: t.problem.Title,
		Function: t.problem.Root, MaxCores: o.maxCores, Verify: o.verify, Adapt: o.adapt, MinPeers: o.least,
		MaxPeers: o.most, Eager: o.eager}
	if err := compute.Fits(s.Function, t.problem.Arg); err != nil {
		return s, nil, failed("%w", err)
	}
	if s.Argument, loans, err = compute.HandOver(t.problem.Arg); err != nil {
		return s, nil, failed("the problem is too large for a swarm: %w; run it with --local", err)
	}
	if o.recovery != steal.Salvage.String() {
		s.Recovery = o.recovery
	}
	return s, loans, nil
}

// lend gives the daemon what the argument names, unless it has it, and says what that is called.
func lend(ctx context.Context, d control.Daemon, loans []compute.Loan) (names []string, err error) {
	for _, l := range loans {
		digest := l.Recipe.Digest()
		c := control.Constant{Digest: fmt.Sprintf("%x", digest[:]), Name: l.Recipe.Name, Size: int64(l.State.Size)}
		there, err := d.AddConstant(ctx, c, nil)
		if err == nil && !there.Here {
			_, err = d.AddConstant(ctx, c, bytes.NewReader(l.State.Bytes()))
		}
		if err != nil {
			return nil, daemonError(err)
		}
		names = append(names, c.Digest)
	}
	return names, nil
}

// handIn hands t to the daemon d, and says who can help with it.
func handIn(c console, t *task, o *options, d control.Daemon) (run control.RunInfo, err error) {
	sub, loans, err := submission(t, o)
	if err != nil {
		return run, err
	}
	if sub.Constants, err = lend(context.Background(), d, loans); err != nil {
		return run, err
	}
	if sub.Module, err = c.offer(d, t.problem.Arg); err != nil {
		return run, daemonError(err)
	}
	if run, err = d.Submit(context.Background(), sub); err != nil {
		return run, daemonError(err)
	}
	if text := helpText(run.Help); text != "" {
		fmt.Fprintf(c.err, "satin-peer: %s\n", text)
	}
	return run, nil
}

// submit hands t to the daemon d, and waits for the answer unless it is to be left alone.
func (c console) submit(t *task, o *options, d control.Daemon) error {
	run, err := handIn(c, t, o, d)
	if err != nil {
		return err
	}
	if o.detach {
		if o.json {
			return c.writeJSON(run)
		}
		fmt.Fprintf(c.err, "%s: satin-peer wait %s prints the answer\n", oneLine(t.problem.Title), run.Run)
		_, err := fmt.Fprintln(c.out, run.Run)
		return err
	}
	c.warnPaused(d, insteadHere)
	return c.finish(t, o, &swarmRun{console: c, d: d, run: run.Run, problem: t.problem, ownsIt: true})
}

// insteadHere is what helps a run that nobody computes, whatever the reason is.
const insteadHere = "run --local computes in its own process instead"

// warnPaused says that this peer computes nothing, and what helps: alone it would keep its user waiting without a word.
func (c console) warnPaused(d control.Daemon, helps ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), c.patience)
	defer cancel()
	if s, err := d.Status(ctx); err == nil && s.State == control.PeerPaused {
		if s.Limit == "" { // which says what the reason is, and resume changes nothing
			ends := "satin-peer resume ends the pause"
			if _, daemon := d.(*control.Client); !daemon { // it is here for this run, and was paused when it was one
				ends += ", when it is a daemon again"
			}
			helps = append([]string{ends}, helps...)
		}
		text := fmt.Sprintf("this peer is %s, and leaves a run to the others, if there are any; one that is verified waits",
			pauseText(s, time.Now()))
		if len(helps) > 0 {
			text += ": " + strings.Join(helps, "; ")
		}
		c.complain(text)
	}
}

// commandLine gives the arguments of an application as "wait" can read them again.
func commandLine(t *task) (args []string) {
	for name, value := range t.flags {
		args = append(args, fmt.Sprintf("--%s=%v", name, value))
	}
	slices.Sort(args)
	if slices.ContainsFunc(t.args, func(a string) bool { return strings.HasPrefix(a, "-") }) {
		args = append(args, "--")
	}
	return append(args, t.args...)
}

// A swarmRun is a run that the daemon has.
type swarmRun struct {
	console console
	d       control.Daemon
	run     string
	problem *apps.Problem
	ownsIt  bool // an interrupt cancels the run
	last    atomic.Pointer[control.Progress]
}

// solve waits for the answer and checks it.
func (r *swarmRun) solve(ctx context.Context) (solution, error) {
	o, err := r.d.Wait(ctx, r.run, func(p control.Progress) { r.last.Store(&p) })
	if errors.Is(err, control.ErrUnavailable) && ctx.Err() == nil {
		return solution{}, failed(
			"%w; the other peers of the run go on with it: once the daemon is there again, satin-peer wait %s gives the answer", err, r.run)
	}
	if err != nil {
		return solution{}, daemonError(err)
	}
	switch o.State {
	case control.RunDone:
	case control.RunCancelled:
		return solution{}, cancelled(o.Failure)
	case control.RunSuspended:
		return solution{}, failed("%w: satin-peer resume %s goes on with it", errSuspended, r.run)
	case control.RunRefused:
		return solution{}, failed("%w: %s; others may answer it, and satin-peer cancel %s ends it", errRefused, o.Failure,
			r.run)
	default:
		f := failed("%s", o.Failure)
		f.stack = []byte(o.Stack)
		return solution{}, f
	}
	s, err := examine(r.problem, func() (any, sample, error) {
		result, err := decodeResult(r.problem.Root, o.Result)
		end := r.measure()
		end.at, end.share, end.peers, end.unheard = floatSeconds(o.Elapsed), 1, o.Peers, o.Unheard
		return result, end, err
	})
	s.swarm, s.warning, s.by, s.rival, s.trust = &o.Stats, o.Warning, o.AnsweredBy, o.Disputed, o.Trust
	s.gave, s.sworn = o.Gave, o.Sworn
	return s, err
}

// Why there is no answer. A run that is suspended or refused may have one later.
var (
	errCancelled = errors.New("the run was cancelled")
	errSuspended = errors.New("the run is suspended")
	errRefused   = errors.New("the run is refused here")
)

// cancelled says that a run was cancelled and, if that is known, why. A reason may say so itself: "cancelled
// by its owner".
func cancelled(why string) error {
	if rest, ok := strings.CutPrefix(why, "cancelled"); ok || why == "" {
		return failed("%w%s", errCancelled, rest)
	}
	return failed("%w: %s", errCancelled, why)
}

// decodeResult makes the value that the root job returned of its encoding.
func decodeResult(root string, encoded []byte) (any, error) {
	result, known, err := compute.ResultOf(root, encoded)
	if !known {
		return nil, failed(
			"this program has no function %q any more: it and the daemon are of different versions; restart the daemon", root)
	}
	if err != nil {
		return nil, failed("the answer cannot be read: %w", err)
	}
	return result, nil
}

// measure gives the progress that was told last.
func (r *swarmRun) measure() sample {
	p := r.last.Load()
	if p == nil {
		return sample{peers: 1}
	}
	return sample{
		at: floatSeconds(p.Elapsed), share: p.Share, peers: max(p.Peers, 1), left: p.Left,
		waits: p.Waits,
		Stats: satin.Stats{Workers: p.Workers, Busy: p.Busy, Executed: p.Executed},
	}
}

// stop ends an own run everywhere. One that is only waited for goes on.
func (r *swarmRun) stop() (goesOn string) {
	if !r.ownsIt {
		return r.run
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.console.patience)
	defer cancel()
	if err := r.d.Cancel(ctx, r.run); err != nil {
		fmt.Fprintf(r.console.err, "satin-peer: the run could not be cancelled: %s; satin-peer cancel %s tries again\n",
			oneLine(err.Error()), r.run)
	}
	return ""
}

// ownPeer makes a peer for one run, which joins the members that were named.
func (c console) ownPeer(t *task, o *options, flags *pflag.FlagSet, list []apps.App, l *settings.Loaded) (err error) {
	if flags.Changed("workers") {
		l.Workers = o.workers
	}
	log := slog.New(slog.DiscardHandler)
	if o.verbose {
		log = c.newLog(l)
	}
	p, err := c.open(context.Background(), l, list, log)
	if err != nil {
		return err
	}
	defer func() {
		leaving := c.leave(p, c.patience)
		closeWithin(p, c.patience)
		if err == nil {
			err = leaving
		}
	}()
	if o.dashboard {
		hide, err := c.watch(shown{p})
		if err != nil {
			return err
		}
		defer hide()
	}
	if err := joinAny(p, l.Join); err != nil {
		return err
	}
	struck, disarm := c.arm(o.faults, c.complain)
	defer disarm()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-struck:
			_ = c.leave(p, l.LeaveAfter) // the waiting ends by it, and says so
		case <-over:
		}
	}()
	return c.submit(t, o, p)
}

// joinAny connects to the members that were named, at least one of them.
func joinAny(d control.Daemon, addresses []string) error {
	const within = 20 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var errs []error
	for _, a := range addresses {
		if _, err := d.Join(ctx, a); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == len(addresses) && len(errs) > 0 {
		return daemonError(errs[0])
	}
	return nil
}

func newWaitCommand(list []apps.App, c console) *cobra.Command {
	o := &options{}
	cmd := newDaemonCommand(c, cobra.Command{
		Use:   "wait RUN",
		Short: "Wait for a run and print its answer",
		Long: `wait shows the progress of a run that this peer owns, and prints its answer when it is there, as satin-peer run would have. It
can be asked again later, also after a restart of the daemon: an answer is kept, and a run that had not ended goes on. RUN is what
satin-peer runs shows, or its first digits. Names of files in the run's arguments are taken from the present directory. Ctrl-C ends the waiting, not the run.`,
		Example: `  satin-peer wait 4f1c
  satin-peer wait 4f1c --json > queens.json`,
	}, 1, 1, func(ctx context.Context, d *control.Client, args []string) error {
		run, err := findRun(ctx, d, args[0])
		if err != nil {
			return err
		}
		if !run.Mine {
			return control.Errorf(control.ErrRefused, "run %s belongs to %s: its answer is for wait there", run.Run,
				run.Owner)
		}
		list, release, err := c.moduleOf(ctx, d, run, list)
		if err != nil {
			return err
		}
		defer release()
		t, err := readTask(list, run)
		if err != nil {
			return failed("the arguments of run %s cannot be read: %w", run.Run, err)
		}
		if !run.State.Ended() {
			c.warnPaused(d, insteadHere)
		}
		return c.finish(t, o, &swarmRun{console: c, d: d, run: run.Run, problem: t.problem})
	})
	flags := cmd.Flags()
	flags.BoolVar(&o.json, "json", false, "print one JSON object instead of the answer's text")
	flags.BoolVar(&o.stats, "stats", false, "report statistics at the end; with --json they are in the object")
	flags.BoolVar(&o.verbose, "verbose", false, "when a job panicked, also print its stack")
	return cmd
}

// readTask makes the problem of a run again from its arguments.
func readTask(list []apps.App, run control.RunInfo) (*task, error) {
	i := slices.IndexFunc(list, func(a apps.App) bool { return a.Name == run.App })
	if i < 0 {
		return nil, fmt.Errorf("this program has no application %q", run.App)
	}
	own := flag.NewFlagSet(run.App, flag.ContinueOnError)
	build := setup(list[i], own)
	flags := pflag.NewFlagSet(run.App, pflag.ContinueOnError)
	addGoFlags(flags, own)
	if err := flags.Parse(run.Args); err != nil {
		return nil, err
	}
	problem, err := build(flags.Args())
	if err != nil {
		return nil, err
	}
	return &task{run.App, flags.Args(), given(flags, own), problem, list[i].Version}, nil
}

// elsewhere says whether a run goes to the daemon or to a peer of its own; it does then, and done is true.
func (c console) elsewhere(t *task, o *options, flags *pflag.FlagSet, list []apps.App) (done bool, err error) {
	joins := flags.Changed("join")
	if o.here(flags) {
		return o.staysHere(flags, "")
	}
	l, err := c.load(flags)
	if err != nil {
		return true, err
	}
	if l.Join, err = targets(l.Join, c.in); err != nil {
		return true, err
	}
	d, err := control.Connect(l.RuntimeDir)
	switch {
	case errors.Is(err, control.ErrNotRunning) && o.detach:
		return true, failed(
			"there is no daemon to leave the run with: start one with satin-peer start%s, or leave --detach out",
			place(l))
	case errors.Is(err, control.ErrNotRunning) && joins:
		return true, c.ownPeer(t, o, flags, list, l)
	case errors.Is(err, control.ErrNotRunning):
		if done, err = o.staysHere(flags, place(l)); !done {
			c.staysAlone(l)
		}
		return done, err
	case err != nil:
		return true, daemonError(err)
	}
	defer d.Close()
	switch {
	case flags.Changed("workers"):
		return true, errors.New(
			"--workers cannot go with --join here: a daemon is running, with the workers that it was started with")
	case len(o.faults) > 0:
		return true, errors.New(
			"--fault cannot go with a run of the daemon: give it to satin-peer start, or add --local")
	}
	if joins {
		if err := joinAny(d, l.Join); err != nil {
			return true, err
		}
	}
	if o.dashboard {
		if err := c.watchDaemon(l.RuntimeDir); err != nil {
			return true, err
		}
	}
	return true, c.submit(t, o, d)
}

// here says whether the flags keep a run in this process, whatever daemon there is.
func (o *options) here(flags *pflag.FlagSet) bool {
	return o.sequential || o.local || !flags.Changed("join") && (flags.Changed("workers") || flags.Changed("nice"))
}

// staysHere refuses, for a run in this process, what there is only in a swarm.
func (o *options) staysHere(flags *pflag.FlagSet, daemon string) (refused bool, err error) {
	for _, name := range []string{"recovery", "max-cores", "verify", "eager", "adapt", "peers"} {
		if isGiven(flags, name) {
			return true, failed("--%s is about the peers of a swarm, and this run has none: start a daemon with "+
				"satin-peer start%s, or add --join", name, daemon)
		}
	}
	if slices.ContainsFunc(o.faults, func(f fault) bool { return f.kind == faultLeave }) {
		return true, errors.New(
			"--fault leave cannot go with a run in this process: there is no swarm to leave; start a daemon, or add --join")
	}
	return false, nil
}
