package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/peer/control"
)

func newRefuseCommand(c console) *cobra.Command {
	var lift *bool
	cmd := newDaemonCommand(c, cobra.Command{
		Use:   "refuse [RUN|PEER]",
		Short: "Take no part in a run, or in the runs of a peer",
		Long: `refuse ends this peer's part in a run of somebody else, now and after restarts. RUN is what satin-peer runs shows, or its
first digits. With the ID of a PEER it does so to all runs that this peer owns, those to come included. The owner and other members are
not told, and lose only what is at work here. --lift takes it back. Without an argument it lists what is refused.`,
		Example: `  satin-peer refuse 4f1c
  satin-peer refuse 12D3KooWEfSPJ8YpT6zV2Qdqz4YVNoqJqGHdc4oC4NW9aUQZQ6Jg
  satin-peer refuse --lift 4f1c20aa9be04d52b7a0f6c1d2e3f405`,
	}, 0, 1, func(ctx context.Context, d *control.Client, args []string) error {
		if len(args) == 0 {
			return c.listRefused(ctx, d)
		}
		r, err := toRefuse(ctx, d, args[0])
		if err != nil {
			return err
		}
		r.Lift = *lift
		return d.Refuse(ctx, r)
	})
	lift = cmd.Flags().Bool("lift", false, "refuse it no more")
	return cmd
}

// toRefuse says what a user's word means: hexadecimal digits are a run's name, or its beginning, and all else is a
// peer.
func toRefuse(ctx context.Context, d control.Daemon, name string) (control.Refused, error) {
	switch {
	case strings.Trim(name, "0123456789abcdef") != "":
		return control.Refused{Owner: name}, nil
	case len(name) == runDigits: // it need not be known here yet, or any more
		return control.Refused{Run: name}, nil
	}
	run, err := findRun(ctx, d, name)
	return control.Refused{Run: run.Run}, err
}

func (c console) listRefused(ctx context.Context, d control.Daemon) error {
	s, err := d.Status(ctx)
	if err != nil {
		return err
	}
	for _, r := range s.Refused {
		if r.Run != "" {
			fmt.Fprintf(c.out, "run   %s\n", oneLine(r.Run))
		} else {
			fmt.Fprintf(c.out, "peer  %s\n", oneLine(r.Owner))
		}
	}
	if len(s.Refused) == 0 {
		fmt.Fprintln(c.err, "nothing is refused here")
	}
	return nil
}
