package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/peer/control"
)

func newJoinCommand(c console) *cobra.Command {
	cmd := newDaemonCommand(c, cobra.Command{
		Use:   "join ADDRESS|INVITATION",
		Short: "Join a swarm through one of its members",
		Long: `join connects the daemon to a member of a swarm: by an invitation, which is what satin-peer invite prints on the member, or by
the member's address, if the swarm is open or this peer is on its list. One member is enough: it tells of the others. The daemon
remembers them, so that it finds them again after a restart.

Whoever sees an invitation can use it: "@FILE" takes it from a file and "-" from standard input, not from the command line, which other
users of the machine can see. The whole line that satin-peer invite prints may be pasted.

Without a running daemon, start one with satin-peer start --join.`,
		Example: `  satin-peer join /ip4/192.168.1.20/udp/4001/quic-v1/p2p/12D3KooWEfSPJ8YpT6zV2Qdqz4YVNoqJqGHdc4oC4NW9aUQZQ6Jg
  satin-peer join satin-invite-1:pGFz...
  satin-peer join @invitation.txt
  ssh first satin-peer invite | satin-peer join -`,
	}, 1, 1, func(ctx context.Context, d *control.Client, args []string) error {
		p, err := d.Join(ctx, args[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(c.err, "joined through %s\n", oneLine(named(p.Name, p.Peer)))
		return nil
	})
	ask := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		args, err := targets(args, c.in)
		if err != nil {
			return err
		}
		return ask(cmd, args)
	}
	return cmd
}

func newLeaveCommand(c console) *cobra.Command {
	return newDaemonCommand(c, cobra.Command{
		Use:   "leave",
		Short: "Let the daemon leave the swarm and end",
		Long: `leave hands results and work over to other peers, says goodbye, and ends the daemon, and returns when it has ended. Its own runs go
on without it, if others take part, and with it when it is started again. The peer remains a member: satin-peer start takes it
back in. SIGTERM, Ctrl-C and closing its terminal do the same.`,
		Example: "  satin-peer leave",
	}, 0, 0, func(ctx context.Context, d *control.Client, _ []string) error {
		if err := d.Leave(ctx); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, endWithin)
		defer cancel()
		return d.AwaitEnd(ctx)
	})
}

// endWithin is how long a daemon that has left may take to end.
const endWithin = 10 * time.Second

func newInviteCommand(c console) *cobra.Command {
	var (
		valid     = 24 * time.Hour
		uses      = 1
		mayInvite bool
		asJSON    *bool
		cmd       *cobra.Command
	)
	cmd = newDaemonCommand(c, cobra.Command{
		Use:   "invite [PEER]",
		Short: "Let a peer into the swarm",
		Long: `invite prints the command by which another machine joins this swarm. Whoever has that line can use it: send it as you would
send a password. With the ID of a peer, which its status shows, that peer is let in for good and the line is no secret. Who joins cannot invite others, unless --may-invite is given.`,
		Example: `  satin-peer invite
  satin-peer invite --uses 20 --valid 2h
  satin-peer invite 12D3KooWEfSPJ8YpT6zV2Qdqz4YVNoqJqGHdc4oC4NW9aUQZQ6Jg`,
	}, 0, 1, func(ctx context.Context, d *control.Client, args []string) error {
		i := control.Invitation{Uses: uses, MayInvite: mayInvite, Valid: valid.Seconds()}
		if len(args) > 0 {
			if i = (control.Invitation{Peer: args[0]}); i.Peer == "" { // which would invite anybody
				return &apps.InputError{What: "PEER", Got: "nothing", Want: "the ID of a peer, as its status shows it"}
			}
		}
		made, err := d.Invite(ctx, i)
		switch {
		case err != nil:
			return err
		case *asJSON:
			return c.writeJSON(made)
		}
		fmt.Fprintln(c.out, "satin-peer join "+oneLine(made.Line))
		fmt.Fprintln(c.err, inviteNote(i, made))
		return nil
	})
	durationFlag(cmd.Flags(), &valid, "valid", time.Minute, 30*24*time.Hour,
		"how long the line can be used, 1m to 720h")
	numberFlag(cmd.Flags(), &uses, "uses", 1, 1000, "how many peers may join by it, 1 to 1000")
	cmd.Flags().BoolVar(&mayInvite, "may-invite", false, "let whoever joins invite others")
	asJSON = addJSON(cmd, "the invitation")
	ask := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		flags := cmd.Flags()
		if len(args) > 0 && (flags.Changed("valid") || flags.Changed("uses") || mayInvite) {
			return errors.New("--valid, --uses and --may-invite cannot go with a PEER: it is let in by name, for good")
		}
		return ask(cmd, args)
	}
	return cmd
}

// inviteNote tells the inviter what the line is good for.
func inviteNote(i control.Invitation, made control.Invited) string {
	if i.Peer != "" && strings.HasPrefix(made.Line, "/") { // an address, which lets in nobody who is not on the list
		return fmt.Sprintf("Only %s can join by it.", oneLine(i.Peer))
	}
	who := "One peer"
	if i.Uses > 1 {
		who = fmt.Sprintf("%d peers", i.Uses)
	}
	return fmt.Sprintf("%s can join the swarm %s by it, until %s. Keep it secret.", who, oneLine(made.Swarm),
		clock(made.Expires))
}
