package cli

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/peer/control"
)

func newTopCommand(c console) *cobra.Command {
	return newDaemonCommand(c, cobra.Command{
		Use:   "top",
		Short: "Watch the daemon, its runs and its peers in the terminal",
		Long: `top shows what satin-peer status, runs and peers show, brought up to date every second, with the jobs per second of the last
minutes. It needs a terminal; NO_COLOR switches the colours off.

Keys: tab chooses runs or peers, the arrows, page up and down scroll, s sorts the peers otherwise, p pauses this peer for an hour,
r resumes it, q and Ctrl-C end top; the daemon goes on.`,
		Example: `  satin-peer top
  satin-peer top --state-dir ~/second`,
	}, 0, 0, func(ctx context.Context, d *control.Client, _ []string) error {
		if c.width() == 0 {
			return failed("top needs a terminal on its standard error: satin-peer status prints the same once")
		}
		program := tea.NewProgram(newTop(ctx, d), tea.WithContext(ctx), tea.WithInput(c.in), tea.WithOutput(c.screen),
			tea.WithAltScreen())
		_, err := program.Run()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	})
}

// A topSource is what top asks the daemon; tests have their own.
type topSource interface {
	Status(context.Context) (control.Status, error)
	Peers(context.Context) ([]control.PeerInfo, error)
	Runs(context.Context) ([]control.RunInfo, error)
	Pause(context.Context, time.Duration) error
	Resume(context.Context) error
}

const (
	topEvery = time.Second
	// topPatience is how long the daemon may take to answer; it answers at once, or something is wrong.
	topPatience = 5 * time.Second
	// topHistory is how many rates are kept for the curve.
	topHistory = 240
	// topPause is what the key p asks for.
	topPause = time.Hour
)

// A topSight is what the daemon said at one moment.
type topSight struct {
	at     time.Time
	status control.Status
	peers  []control.PeerInfo
	runs   []control.RunInfo
}

// Messages of the program's loop.
type (
	topTick struct{}
	topSeen struct { // what was asked for, or why it did not come
		sight topSight
		err   error
	}
	topGlance topSight // a look between the regular ones
	topDone   struct { // an action
		what string
		err  error
	}
)

// look asks the daemon, away from the loop.
func (t *top) look() tea.Msg {
	ctx, cancel := context.WithTimeout(t.ctx, topPatience)
	defer cancel()
	s := topSight{at: time.Now()}
	var err error
	if s.status, err = t.source.Status(ctx); err != nil {
		return topSeen{err: err}
	}
	if s.peers, err = t.source.Peers(ctx); err != nil {
		return topSeen{err: err}
	}
	if s.runs, err = t.source.Runs(ctx); err != nil {
		return topSeen{err: err}
	}
	return topSeen{sight: s}
}

// act asks the daemon to do something, away from the loop.
func (t *top) act(what string, do func(context.Context) error) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(t.ctx, topPatience)
		defer cancel()
		return topDone{what, do(ctx)}
	}
}

func topLater() tea.Cmd { return tea.Tick(topEvery, func(time.Time) tea.Msg { return topTick{} }) }
