package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/peer/emulate"
	"github.com/satin-peer/satin/steal"
)

func newEmulateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "emulate",
		Short: "Imitate a wide-area network between the peers of this machine",
		Long: `emulate makes the daemons of this machine feel a wide-area network: what one cluster sends to another is held back until it would
have come over links of a certain latency and bandwidth, which all peers of a cluster share. Start daemons with --emulate DIR and
--cluster NAME, each with a --state-dir of its own. It is for experiments, on Linux.`,
		RunE: func(cmd *cobra.Command, args []string) error { return group("command", cmd, args) },
	}
	cmd.AddCommand(newEmulateCreateCommand(), newEmulateSetCommand())
	return cmd
}

func newEmulateCreateCommand() *cobra.Command {
	var clusters []string
	var seed uint64
	cmd := &cobra.Command{
		Use:   "create DIR SCENARIO",
		Short: "Make the directory of an emulated network",
		Long: `create makes DIR, from which daemons read the network. SCENARIO is the name of a built-in one, scenario1 to scenario11 of the papers
and figure4, or a file in their language (docs/operating.md). The scenario begins at once.`,
		Example: `  satin-peer emulate create /tmp/wan scenario10
  satin-peer emulate create /tmp/wan slow.wan --clusters delft,leiden
  satin-peer start --emulate /tmp/wan --cluster delft --state-dir /tmp/peer1 --trust open`,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := apps.ArgCount(args, 2, "DIR SCENARIO"); err != nil {
				return err
			}
			files, name := scenarioFile(args[1])
			if _, err := fs.Stat(files, name); err != nil {
				return &apps.InputError{What: "SCENARIO", Got: args[1],
					Want: "a file, or one of scenario1 to scenario11 and figure4"}
			}
			err := emulate.Create(args[0], files, name, clusters, seed)
			switch {
			case errors.Is(err, fs.ErrExist):
				return failed(
					"%s holds an emulated network already, which daemons may be using: take another directory", args[0])
			case err != nil:
				return failed("%w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&clusters, "clusters", nil,
		"`NAMES` of the scenario's clusters in their order (default 1,2,3...)")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "of what the scenario draws at random")
	return cmd
}

// scenarioFile finds a scenario: a built-in one, unless a file has the name.
func scenarioFile(name string) (fs.FS, string) {
	if _, err := os.Stat(name); err != nil {
		if _, err := fs.Stat(wan.Scenarios(), name); err == nil {
			return wan.Scenarios(), name
		}
	}
	return os.DirFS(filepath.Dir(name)), filepath.Base(name)
}

func newEmulateSetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "set DIR FROM TO BANDWIDTH LATENCY",
		Short: "Change a link of an emulated network while it is used",
		Long: `set gives the link from cluster FROM to cluster TO another bandwidth, in bytes per second, and latency, a duration one way: for all
daemons, at once, until the scenario changes it again. "removed" for BANDWIDTH takes the link away, "restored" brings it back, both
without LATENCY.`,
		Example: `  satin-peer emulate set /tmp/wan delft leiden 100000 100ms
  satin-peer emulate set /tmp/wan delft leiden removed`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) < 4 || len(args) > 5 {
				return apps.ArgCount(args, 5, "DIR FROM TO BANDWIDTH LATENCY")
			}
			return setLink(args)
		},
	}
}

func setLink(args []string) error {
	dir, from, to := args[0], args[1], args[2]
	if _, err := os.Stat(dir); err != nil {
		return &apps.InputError{What: "DIR", Got: dir, Want: "a directory that satin-peer emulate create has made"}
	}
	e, err := emulate.Open(dir, from, func(steal.PeerID) string { return "" })
	if err != nil {
		return failed("%w", err)
	}
	defer func() { _ = e.Close() }()
	switch word := strings.ToLower(args[3]); {
	case len(args) == 4 && word == "removed":
		err = e.Remove(from, to)
	case len(args) == 4 && word == "restored":
		err = e.Restore(from, to)
	case len(args) == 4:
		return apps.ArgCount(args, 5, "DIR FROM TO BANDWIDTH LATENCY")
	default:
		bandwidth, bad := strconv.ParseFloat(word, 64)
		if bad != nil {
			return &apps.InputError{What: "BANDWIDTH", Got: args[3], Want: "bytes per second, or removed, or restored"}
		}
		latency, bad := time.ParseDuration(args[4])
		if bad != nil {
			return &apps.InputError{What: "LATENCY", Got: args[4], Want: "a duration such as 100ms"}
		}
		err = e.Set(from, to, wan.Conditions{Bandwidth: bandwidth, Latency: latency})
	}
	if err != nil {
		return fmt.Errorf("the link from %s to %s: %w", from, to, err)
	}
	return nil
}
