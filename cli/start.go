package cli

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/preferences"
	"github.com/satin-peer/satin/peer/settings"
)

// A member is a peer in this process.
type member interface {
	control.Watched
	Close() // at once
	// Prefer changes what the owner of the machine allows.
	Prefer(preferences.Preferences)
}

// An opener makes a peer with the applications that are built in.
type opener func(ctx context.Context, l *settings.Loaded, list []apps.App, log *slog.Logger) (member, error)

func newStartCommand(list []apps.App, c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Take part in a swarm",
		Long: `start is the daemon: it computes for the runs of the swarm, its own and those of others, until it is told to leave. It stays in
the foreground and logs on standard error, unless --background is given. The other commands talk to it.

Settings come from the configuration file, variables of the environment and these flags; satin-peer config shows them.

SIGTERM, Ctrl-C, closing its terminal (SIGHUP) and satin-peer leave let it leave: it gives the work of others back and says goodbye.
A second signal ends it at once; others then notice after some seconds, and do its work again. After nohup it ignores SIGHUP.`,
		Example: `  satin-peer start
  satin-peer start --join /ip4/192.168.1.20/udp/4001/quic-v1/p2p/12D3KooWEfSPJ8YpT6zV2Qdqz4YVNoqJqGHdc4oC4NW9aUQZQ6Jg
  satin-peer start --background
  satin-peer start --join @invitation.txt
  satin-peer start --workers 2 --cluster home --log-format json`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.Flags().String("config", "", "the configuration `FILE` to read")
	settings.AddFlags(cmd.Flags())
	harm := addFaultFlag(cmd.Flags())
	behind := cmd.Flags().Bool("background", false, "return when the daemon answers; it logs to daemon.log in the state directory")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		faults, err := parseFaults(*harm)
		if err != nil {
			return err
		}
		l, err := c.load(cmd.Flags())
		if err != nil {
			return err
		}
		if *behind {
			return c.background(l)
		}
		start := func(c console) error {
			return c.start(l, list, faults, func() (*settings.Loaded, error) { return c.load(cmd.Flags()) })
		}
		if c.managed != nil {
			return serve(c, l, start)
		}
		return start(c)
	}
	return cmd
}

// start is the daemon's life.
func (c console) start(l *settings.Loaded, list []apps.App, faults []fault,
	again func() (*settings.Loaded, error)) error {
	written := *l
	var err error
	if l.Join, err = targets(l.Join, c.in); err != nil {
		return err
	}
	log := c.newLog(l)
	for _, stray := range l.Strays {
		log.Warn(stray)
	}
	signals, release := c.signals()
	defer release()
	server, err := control.Open(l.RuntimeDir, log)
	if err != nil {
		return openError(err, l)
	}
	p, err := c.open(context.Background(), l, list, log)
	if err != nil {
		if path := (*fs.PathError)(nil); errors.As(err, &path) && strings.HasPrefix(path.Path, l.StateDir) {
			err = placeError(err, l)
		}
		return errors.Join(err, server.Close(context.Background()))
	}
	d := &departure{Watched: p, gone: make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(d) }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	joined := c.joinAll(ctx, d, l.Join, log)
	c.announce(ctx, d, log)
	go followSettings(ctx, c, p, &written, again, log)
	hide := c.showDashboard(d, l, list, again, log)
	struck, disarm := c.arm(faults, func(what string) { log.Warn(what) })
	defer disarm()
	select {
	case s := <-signals:
		release()
		log.Info("leaving", "signal", s.String(), "at_most", l.LeaveAfter.String())
		err = c.leave(d, l.LeaveAfter)
	case f := <-struck:
		log.Info("leaving", "fault", f.String(), "at_most", l.LeaveAfter.String())
		err = c.leave(d, l.LeaveAfter)
	case <-d.gone:
	case err = <-joined:
		err = errors.Join(err, c.leave(d, l.LeaveAfter))
	case err = <-served:
		err = errors.Join(failed("the control socket: %w", err), c.leave(d, l.LeaveAfter))
	}
	cancel()
	hide()
	c.close(p, server, log)
	return err
}

// openError makes a failure of one that kept the control socket from being opened.
func openError(err error, l *settings.Loaded) error {
	if running := (*control.RunningError)(nil); errors.As(err, &running) {
		return failed("%w: satin-peer leave%s ends it; a second one needs another --state-dir", err, place(l))
	}
	if errors.Is(err, control.ErrBadInput) {
		return err
	}
	return placeError(err, l)
}

// placeError names the setting of the place on the disk without which no daemon can start.
func placeError(err error, l *settings.Loaded) error {
	name, dir := "state_dir", l.StateDir
	if !strings.HasPrefix(l.RuntimeDir, dir) {
		name, dir = "runtime_dir", l.RuntimeDir
	}
	return failed("%s = %q cannot be used: %w", name, dir, err)
}

// leave says goodbye in the given time.
func (c console) leave(d control.Daemon, within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	err := d.Leave(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return failed("leaving took longer than %v: the others were not all told, and will find out by themselves",
			within)
	}
	return daemonError(err)
}

// closeWithin closes a peer, and does not wait for that any longer.
func closeWithin(p member, patience time.Duration) {
	closed := make(chan struct{})
	go func() {
		p.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(patience):
	}
}

// close ends what is left of a peer that has left, without waiting for long leaves of its jobs, and lets go
// of the control socket last, so that whoever waits for that finds nothing in the way of another daemon.
func (c console) close(p member, server *control.Server, log *slog.Logger) {
	closeWithin(p, c.patience)
	log.Info("left")
	ctx, cancel := context.WithTimeout(context.Background(), c.patience)
	defer cancel()
	if err := server.Close(ctx); err != nil {
		log.Warn("closing the control socket", "error", err)
	}
}

// joinAll connects to the members that the user named, and tells the log; what can never succeed is sent to
// the channel.
func (c console) joinAll(ctx context.Context, d control.Daemon, addresses []string, log *slog.Logger) <-chan error {
	hopeless := make(chan error, len(addresses))
	for _, address := range addresses {
		go func() {
			p, err := d.Join(ctx, address)
			switch {
			case err == nil:
				log.Info("joined", "through", p.Peer)
			case ctx.Err() != nil:
			case errors.Is(err, control.ErrBadInput):
				hopeless <- err
			case isFinal(address, err) && !hasMembers(ctx, d):
				hopeless <- failed("%w: without another invitation this peer would be alone", err)
			case isFinal(address, err):
				log.Warn("not joined by this invitation, and it is of no use to try again", "address", address,
					"error", err)
			default:
				log.Warn("not joined yet; it is tried again", "address", address, "error", err)
			}
		}()
	}
	return hopeless
}

// isFinal says whether an invitation was refused for good, and not because the member was busy.
func isFinal(address string, err error) bool {
	return host.IsInvitation(address) && errors.Is(err, control.ErrRefused) &&
		!strings.Contains(err.Error(), host.ErrBusy.Error())
}

// hasMembers says whether the peer has others to work with.
func hasMembers(ctx context.Context, d control.Daemon) bool {
	peers, err := d.Peers(ctx)
	return err != nil || slices.ContainsFunc(peers, func(p control.PeerInfo) bool { return p.Connected })
}

// announce logs what others need to know of this peer.
func (c console) announce(ctx context.Context, d control.Daemon, log *slog.Logger) {
	s, err := d.Status(ctx)
	if err != nil {
		log.Warn("the state is not known", "error", err)
		return
	}
	log.Info("started", "peer", s.Peer, "swarm", s.Swarm, "trust", s.Trust, "cluster", s.Cluster, "workers",
		s.Workers, "version", s.Version)
	if len(s.Addresses) > 0 {
		log.Info("listening", "address", s.Addresses[0], "more", len(s.Addresses)-1)
	}
	for _, a := range s.Addresses {
		log.Debug("listening", "address", a)
	}
	if s.State == control.PeerPaused && s.Limit == "" {
		log.Warn(pauseText(s, time.Now()))
	}
	if s.Trust == settings.TrustInvite {
		log.Info("others can join by what satin-peer invite prints, on the first member or one that was invited with --may-invite")
	} else if len(s.Addresses) > 0 {
		log.Info("others can join by satin-peer join and one of the addresses")
	}
}

// A departure is a daemon that tells when it was asked to leave and has left.
type departure struct {
	control.Watched
	once sync.Once
	gone chan struct{}
}

func (d *departure) Leave(ctx context.Context) error {
	err := d.Watched.Leave(ctx)
	d.once.Do(func() { close(d.gone) })
	return err
}
