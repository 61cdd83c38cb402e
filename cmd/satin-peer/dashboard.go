package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/settings"
)

// linkWithin is how long the daemon may take to make a link.
const linkWithin = 10 * time.Second

func newDashboardCommand(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "Print a link that shows the peer in the browser",
		Long: `dashboard prints a link to the page of the daemon that runs on this machine. It opens once, within a day; the browser then
has a session until the daemon ends. The page is for this machine only: from another one, forward its port, as ssh -L does.`,
		Example: `  satin-peer dashboard
  satin-peer dashboard --view
  xdg-open "$(satin-peer dashboard)"`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	view := cmd.Flags().Bool("view", false, "make a link to look only: not to pause, resume or cancel")
	addPlaceFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := apps.ArgCount(args, 0, ""); err != nil {
			return err
		}
		l, err := c.load(cmd.Flags())
		if err != nil {
			return err
		}
		level := dashboard.Control
		if *view {
			level = dashboard.View
		}
		link, err := askLink(l.RuntimeDir, level)
		if err != nil {
			return err
		}
		fmt.Fprintln(c.out, link)
		return nil
	}
	return cmd
}

// askLink has the daemon of a directory make a link to its page.
func askLink(runtimeDir string, level dashboard.Level) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), linkWithin)
	defer cancel()
	link, err := dashboard.Ask(ctx, runtimeDir, level)
	if errors.Is(err, dashboard.ErrNotRunning) {
		return "", failed("%w: satin-peer start serves one, unless its setting dashboard is %q", err,
			settings.DashboardOff)
	}
	if err != nil {
		return "", failed("%w", err)
	}
	return link, nil
}

// showDashboard serves the page of d, if the settings want it, until the function it gives is called. A page
// that cannot be is no reason for a peer not to work.
func (c console) showDashboard(d control.Daemon, l *settings.Loaded, log *slog.Logger) (hide func()) {
	if l.Dashboard == settings.DashboardOff {
		return func() {}
	}
	s, hide, err := c.openPage(dashboard.Config{Source: shown{d}, Listen: l.Dashboard, Dir: l.RuntimeDir,
		StateDir: l.StateDir, Log: log})
	if err != nil {
		log.Warn("there is no dashboard", "error", err)
		return func() {}
	}
	log.Info("the dashboard opens once by this link; satin-peer dashboard prints others", "link",
		s.Link(dashboard.Control))
	return hide
}

// Shown is a daemon as the dashboard shows it.
type shown struct{ daemon control.Daemon }

// Watch gives what a peer in this process hears of segments; other daemons know nothing of them.
func (s shown) Watch(ctx context.Context) ([]dashboard.Report, error) {
	d := s.daemon
	if in, ok := d.(*departure); ok {
		d = in.Daemon
	}
	if w, ok := d.(interface {
		Watch(ctx context.Context) ([]dashboard.Report, error)
	}); ok {
		return w.Watch(ctx)
	}
	return nil, nil
}

func (s shown) Pause(ctx context.Context, d time.Duration) error {
	return shownError(s.daemon.Pause(ctx, d))
}
func (s shown) Resume(ctx context.Context) error { return shownError(s.daemon.Resume(ctx)) }
func (s shown) Cancel(ctx context.Context, run string) error {
	return shownError(s.daemon.Cancel(ctx, run))
}

// shownError says in the dashboard's words what sort of error the daemon's is.
func shownError(err error) error {
	for from, to := range map[error]error{
		control.ErrBadInput: dashboard.ErrBadInput, control.ErrNotFound: dashboard.ErrNotFound,
		control.ErrRefused: dashboard.ErrRefused, control.ErrUnavailable: dashboard.ErrUnavailable,
	} {
		if errors.Is(err, from) {
			return &sorted{err, to}
		}
	}
	return err
}

// A sorted error has the text of one and is of the sort of another.
type sorted struct {
	error
	sort error
}

func (e *sorted) Unwrap() error { return e.sort }

func (s shown) Status(ctx context.Context) (dashboard.Status, error) {
	v, err := s.daemon.Status(ctx)
	if err != nil {
		return dashboard.Status{}, shownError(err)
	}
	clusters := []dashboard.Cluster{}
	for _, c := range v.Clusters {
		clusters = append(clusters, dashboard.Cluster{Name: c.Name, Mine: c.Mine, Reason: c.Reason, Peers: c.Peers,
			Workers: c.Workers, RTT: rough(c.RTT)})
	}
	w := v.Work
	return dashboard.Status{
		Peer: v.Peer, Version: v.Version, Started: v.Started, Swarm: v.Swarm, Trust: v.Trust,
		State: string(v.State), WhyIdle: v.WhyIdle, PausedUntil: v.PausedUntil, Workers: v.Workers, Busy: v.Busy,
		Peers: v.Peers,
		Reach: string(v.Reachability.State), WhyReach: v.Reachability.Why, Relay: v.Reachability.Relay,
		Address: append([]string{}, v.Addresses...), Cluster: v.Cluster, Clusters: clusters,
		Work: dashboard.Work{Executed: w.Executed, Rate: w.Rate, Given: w.Given, Taken: w.Taken, Busy: w.Busy,
			Sent: w.Sent, Received: w.Received},
	}, nil
}

func (s shown) Peers(ctx context.Context) ([]dashboard.Peer, error) {
	list, err := s.daemon.Peers(ctx)
	peers := make([]dashboard.Peer, len(list))
	for i, p := range list {
		peers[i] = dashboard.Peer{
			Peer: p.Peer, Name: p.Name, Version: p.Version, Connected: p.Connected, Alive: p.Alive,
			Relayed: p.Relayed, Address: p.Address,
			Cluster: p.Cluster, Reason: p.Reason, RTT: rough(p.RTT), State: string(p.State), Workers: p.Workers,
			Runs: p.Runs, Given: p.Given, Taken: p.Taken,
		}
	}
	return peers, shownError(err)
}

func (s shown) Runs(ctx context.Context) ([]dashboard.Run, error) {
	list, err := s.daemon.Runs(ctx)
	runs := make([]dashboard.Run, len(list))
	for i, r := range list {
		runs[i] = dashboard.Run{
			Run: r.Run, App: r.App, Args: append([]string{}, r.Args...), Title: r.Title, Owner: r.Owner, Mine: r.Mine,
			State: string(r.State), Ended: r.State.Ended(), Why: r.Why, Submitted: r.Submitted, Elapsed: r.Elapsed,
			Share: r.Share,
			Peers: r.Peers, Executed: r.Executed, Stats: shownStats(r.Stats),
		}
	}
	return runs, shownError(err)
}

func shownStats(s *control.RunStats) *dashboard.Stats {
	if s == nil {
		return nil
	}
	return &dashboard.Stats{
		Spawns: s.Spawns, Executed: s.Executed, Syncs: s.Syncs, AbortedJobs: s.AbortedJobs,
		LocalStealAttempts: s.LocalStealAttempts, LocalStealSuccesses: s.LocalStealSuccesses,
		WideStealAttempts: s.WideStealAttempts, WideStealSuccesses: s.WideStealSuccesses,
		IntraBytes: s.IntraBytes, InterBytes: s.InterBytes, RestartedJobs: s.RestartedJobs, Orphans: s.Orphans,
		StealTime: s.StealTime, RecoveryTime: s.RecoveryTime, UsefulTime: s.UsefulTime,
	}
}

// rough gives a time with two digits, so that what is sent does not change with every measurement.
func rough(seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(seconds))-1)
	return math.Round(seconds/unit) * unit
}
