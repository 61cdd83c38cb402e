package cli

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
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/settings"
)

// linkWithin is how long the daemon may take to make a link.
const linkWithin = 10 * time.Second

func newDashboardCommand(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "Show the peer in the browser",
		Long: `dashboard prints a link to the page of the daemon that runs on this machine and, if it was typed in a terminal and there is a
browser, opens it there. A link opens once, within a day; the browser then has a session until the daemon ends. The page is for this
machine only: from another one, forward its port, as ssh -L does. While a browser is started, other users of this machine may see the
link among its arguments: where they are not to be trusted, use --print.`,
		Example: `  satin-peer dashboard
  satin-peer dashboard --view
  satin-peer dashboard --print`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	view := cmd.Flags().Bool("view", false, "make a link to look only: not to pause, resume or cancel")
	only := cmd.Flags().Bool("print", false, "do not open the link")
	addPlaceFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
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
		if _, err := fmt.Fprintln(c.out, link); err != nil || *only || !c.shows {
			return err
		}
		if err := c.browse(link); err != nil {
			fmt.Fprintf(c.err, "open it in a browser of this machine: none can be started from here (%s)\n",
				oneLine(err.Error()))
		}
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
func (c console) showDashboard(d control.Watched, l *settings.Loaded, list []apps.App,
	again func() (*settings.Loaded, error), log *slog.Logger) (hide func()) {
	if l.Dashboard == settings.DashboardOff {
		return func() {}
	}
	cfg := dashboard.Config{Source: shown{d}, Desk: &desk{d: d, list: list}, Listen: l.Dashboard, Dir: l.RuntimeDir,
		StateDir: l.StateDir, Log: log}
	if l.File != "" {
		cfg.Preferences = &ownerFile{c.dirs, l.File, again}
	}
	_, hide, err := c.openPage(cfg)
	if err != nil {
		log.Warn("there is no dashboard", "error", err)
		return func() {}
	}
	log.Info("there is a dashboard: satin-peer dashboard prints a link to it") // logs are read by others, too
	return hide
}

// Shown is a daemon of this process as the page shows it.
type shown struct{ control.Watched }

func (s shown) Status(ctx context.Context) (dashboard.Status, error) {
	v, err := s.Watched.Status(ctx)
	if err != nil {
		return dashboard.Status{}, err
	}
	clusters := append([]report.Cluster{}, v.Clusters...)
	for i := range clusters {
		clusters[i].RTT = rough(clusters[i].RTT)
	}
	return dashboard.Status{
		Peer: v.Peer, Name: v.Name, Version: v.Version, Started: v.Started, Swarm: v.Swarm, Trust: v.Trust,
		State: string(v.State), WhyIdle: v.WhyIdle, PausedUntil: v.PausedUntil, Limit: v.Limit,
		WorksFor: v.Works, JobsLeft: v.Left,
		Workers: v.Workers, Busy: v.Busy, Peers: v.Peers,
		Reach: string(v.Reachability.State), WhyReach: v.Reachability.Why, Relay: v.Reachability.Relay,
		Address: append([]string{}, v.Addresses...), Cluster: v.Cluster, Clusters: clusters,
		Work: v.Work, Modules: v.Modules.Whose, Executables: executableTexts(v.Executables),
		Refused: refusedTexts(v.Refused),
	}, nil
}

func (s shown) Peers(ctx context.Context) ([]dashboard.Peer, error) {
	list, err := s.Watched.Peers(ctx)
	peers := make([]dashboard.Peer, len(list))
	for i, p := range list {
		peers[i] = dashboard.Peer{
			Peer: p.Peer, Name: p.Name, Version: p.Version, Connected: p.Connected, Alive: p.Alive,
			Relayed: p.Relayed, Address: p.Address,
			Cluster: p.Cluster, Reason: p.Reason, RTT: rough(p.RTT), State: string(p.State), Workers: p.Workers,
			Runs: p.Runs, Given: p.Given, Taken: p.Taken,
		}
	}
	return peers, err
}

func (s shown) Runs(ctx context.Context) ([]dashboard.Run, error) {
	list, err := s.Watched.Runs(ctx)
	runs := make([]dashboard.Run, len(list))
	for i, r := range list {
		runs[i] = dashboard.Run{
			Run: r.Run, App: r.App, Args: append([]string{}, r.Args...), Title: r.Title,
			Owner: r.Owner, OwnerName: r.OwnerName, Mine: r.Mine,
			State: string(r.State), Ended: r.State.Ended(), Why: r.Why, Quarantined: r.Quarantined,
			Submitted: r.Submitted, Elapsed: r.Elapsed, CPU: r.CPU, Share: r.Share, Left: r.Left,
			Peers: r.Peers, Executed: r.Executed, Stats: r.Stats, Limits: limits(&r),
		}
		if r.Roster != nil {
			runs[i].Decided = r.Roster.Log
		}
	}
	return runs, err
}

// refusedTexts are what is refused, in words.
func refusedTexts(list []control.Refused) []string {
	texts := []string{}
	for _, r := range list {
		if r.Owner != "" {
			texts = append(texts, "all runs of "+r.Owner)
		} else {
			texts = append(texts, "run "+r.Run)
		}
	}
	return texts
}

// rough gives a time with two digits, so that what is sent does not change with every measurement.
func rough(seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(seconds))-1)
	return math.Round(seconds/unit) * unit
}
