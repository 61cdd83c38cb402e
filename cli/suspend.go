package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/peer/control"
)

func newSuspendCommand(c console) *cobra.Command {
	return newDaemonCommand(c, cobra.Command{
		Use:   "suspend RUN",
		Short: "Stop a run, on all peers, so that it can be resumed",
		Long: `suspend collects what the peers have computed of a run that this peer owns in its checkpoint, as far as that comes within some
seconds, and ends the run on all of them. satin-peer resume RUN goes on with it, after a restart of the daemon, too. It prints
the directory of the checkpoint, which may be copied: satin-peer resume DIRECTORY goes on with the copy on another machine.
RUN is what satin-peer runs shows, or its first digits.`,
		Example: `  satin-peer suspend 4f1c
  satin-peer resume 4f1c`,
	}, 1, 1, func(ctx context.Context, d *control.Client, args []string) error {
		run, err := findRun(ctx, d, args[0])
		if err != nil {
			return err
		}
		if err := d.Suspend(ctx, run.Run); err != nil {
			return err
		}
		if run.Checkpoint != "" {
			fmt.Fprintln(c.out, oneLine(run.Checkpoint))
		}
		fmt.Fprintf(c.err, "suspended: satin-peer resume %s goes on with it\n", run.Run)
		return nil
	})
}

func newResumeCommand(list []apps.App, c console) *cobra.Command {
	cmd := newDaemonCommand(c, cobra.Command{
		Use:   "resume [RUN|DIRECTORY]",
		Short: "Compute again after a pause, or go on with a suspended run",
		Long: `resume ends a pause before its time, or takes finish back. What keeps the peer from computing besides that it says.

With RUN, which is what satin-peer runs shows, or its first digits, it goes on with a run that was suspended. With the DIRECTORY of a
checkpoint, or a copy of one, it goes on with that: a run that this peer owns is the same run again; another peer's run, which only its
owner can go on with, becomes a new run of the same problem that this peer owns, and what the checkpoint holds is not computed
again. This program must have the application in the same version. The directory itself is only read. What is damaged in it is
left out. It prints the run; satin-peer wait prints its answer.`,
		Example: `  satin-peer resume
  satin-peer resume 4f1c
  satin-peer resume /mnt/usb/4f1c20aa9be04d52b7a0f6c1d2e3f405`,
	}, 0, 1, func(ctx context.Context, d *control.Client, args []string) error {
		if len(args) == 0 {
			return endPause(ctx, c, d)
		}
		what, err := resumption(ctx, d, args[0])
		if err != nil {
			return err
		}
		run, err := d.ResumeRun(ctx, what)
		if err != nil {
			return err
		}
		if run.Why != "" {
			fmt.Fprintln(c.err, oneLine(run.Title+": "+run.Why))
		}
		fmt.Fprintf(c.err, "%s: satin-peer wait %s prints the answer\n", oneLine(run.Title), run.Run)
		// whoever has made the directory may have named any file
		if t, err := readTask(list, run); err == nil && t.problem.Save != nil {
			fmt.Fprintf(c.err, "wait also writes a file, as the arguments in the checkpoint say: %s\n",
				oneLine(strings.Join(run.Args, " ")))
		}
		_, err = fmt.Fprintln(c.out, run.Run)
		return err
	})
	cmd.ValidArgsFunction = nil // files
	return cmd
}

// endPause ends a pause, and says what still keeps the peer from computing, if anything does.
func endPause(ctx context.Context, c console, d control.Daemon) error {
	if err := d.Resume(ctx); err != nil {
		return err
	}
	s, err := d.Status(ctx)
	if err == nil && s.State == control.PeerPaused {
		fmt.Fprintf(c.err, "no pause any more, but still %s\n", pauseText(s, time.Now()))
	}
	return err
}

// resumption says what a name means: a run, or a directory. What looks like a run is a directory only with a
// slash in it.
func resumption(ctx context.Context, d control.Daemon, name string) (control.Resumption, error) {
	if name != "" && len(name) <= runDigits && strings.Trim(name, "0123456789abcdef") == "" {
		run, err := findRun(ctx, d, name)
		return control.Resumption{Run: run.Run}, err
	}
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return control.Resumption{}, &apps.InputError{What: "RUN|DIRECTORY", Got: name,
			Want: whichRun + ", or the directory of a checkpoint"}
	}
	dir, err := filepath.Abs(name)
	return control.Resumption{Directory: dir}, err
}

func newRevokeCommand(c console) *cobra.Command {
	return newDaemonCommand(c, cobra.Command{
		Use:   "revoke PEER",
		Short: "Put a peer out, and keep it out",
		Long: `revoke ends the connections to a peer and lets it in no more, nor those who became members by its invitations, and
ends their runs here. If this peer founded the swarm, or those became members by it, that holds for all members, who
pass it on; else for this one only: ask the founder, or who invited the peer. PEER is the ID that satin-peer peers
shows. satin-peer invite PEER takes it back.`,
		Example: "  satin-peer revoke 12D3KooWEfSPJ8YpT6zV2Qdqz4YVNoqJqGHdc4oC4NW9aUQZQ6Jg",
	}, 1, 1, func(ctx context.Context, d *control.Client, args []string) error { return d.Revoke(ctx, args[0]) })
}
