package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/settings"
)

// stateMark is in every state directory in which a peer was once: without it nothing is removed.
const stateMark = "peer.key"

func newPurgeCommand(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "purge",
		Short: "Remove all that satin-peer has left on this machine",
		Long: `purge removes the state directory, with the peer's keys, answers, checkpoints and logs, the configuration file, and what this user's
commands have kept of compiled modules. It first shows what it would remove, and does it with --yes only. A daemon must have left before. What is in the state directory and not satin-peer's stays.`,
		Example:           "  satin-peer leave\n  satin-peer purge\n  satin-peer purge --yes",
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	yes := cmd.Flags().Bool("yes", false, "remove it")
	addPlaceFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		l, err := c.load(cmd.Flags())
		if err != nil {
			return err
		}
		if d, err := control.Connect(l.RuntimeDir); err == nil {
			d.Close()
			return failed("a daemon is running there: satin-peer leave%s ends it", place(l))
		}
		if err := host.Free(l.StateDir); errors.Is(err, host.ErrInUse) { // with another runtime_dir, or it hangs
			return failed("%w", err)
		}
		list, foreign, err := belongings(l)
		if err != nil {
			return failed("%w", err)
		}
		return purge(c, list, foreign, *yes)
	}
	return cmd
}

// belongings lists what is to be removed, and what is in the state directory besides.
func belongings(l *settings.Loaded) (list, foreign []string, err error) {
	if l.Found {
		list = append(list, l.File)
	}
	lock := ""
	if l.File != "" { // else it would be one of this directory
		lock = settings.LockPath(l.File)
	}
	for _, path := range []string{lock, cacheDir()} {
		if _, err := os.Stat(path); err == nil {
			list = append(list, path)
		}
	}
	entries, err := os.ReadDir(l.StateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == stateMark }) && len(entries) > 0 {
		return list, []string{l.StateDir}, nil
	}
	for _, e := range entries {
		path := filepath.Join(l.StateDir, e.Name())
		if slices.Contains(settings.StateNames(), e.Name()) || strings.HasPrefix(e.Name(), durable.Unfinished) {
			list = append(list, path)
		} else {
			foreign = append(foreign, path)
		}
	}
	if len(foreign) == 0 {
		list = append(list, l.StateDir)
	}
	return list, foreign, nil
}

// purge removes the files, or says what it would remove.
func purge(c console, list, foreign []string, yes bool) error {
	for _, path := range list {
		if yes {
			if err := os.RemoveAll(path); err != nil {
				return failed("%w", err)
			}
		}
		if _, err := fmt.Fprintln(c.out, path); err != nil {
			return err
		}
	}
	for _, path := range foreign {
		fmt.Fprintf(c.err, "this stays, as it is not satin-peer's: %s\n", oneLine(path))
	}
	switch {
	case len(list) == 0:
		fmt.Fprintln(c.err, "there is nothing to remove")
	case yes:
		fmt.Fprintln(c.err, "removed")
	default:
		fmt.Fprintln(c.err, "satin-peer purge --yes removes them: without its keys this machine is nobody that a swarm knows")
	}
	return nil
}
