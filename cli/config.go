package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/emulate"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/settings"
	"github.com/satin-peer/satin/steal"
)

func newConfigCommand(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the settings in force, and where each comes from",
		Long: `config prints the settings that satin-peer start would use, as the configuration file would have them, each with where it comes
from: a flag, the environment, the file and line, or the default. Of invitations it shows the beginning only, unless --show-secrets is
given: whoever has the whole line can join by it. config init writes a file with all settings explained, config set changes one
in it.`,
		Example: `  satin-peer config
  satin-peer config init
  satin-peer config set workers_here 1
  SATIN_WORKERS=2 satin-peer config --cluster home`,
		SuggestionsMinimumDistance: typoDistance,
	}
	cmd.Flags().String("config", "", "the configuration `FILE` to read")
	settings.AddFlags(cmd.Flags())
	secrets := cmd.Flags().Bool("show-secrets", false, "show invitations whole")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknown("command", cmd, args[0])
		}
		l, err := c.load(cmd.Flags())
		if err != nil {
			return err
		}
		return errors.Join(c.writeSettings(l, *secrets), usable(l))
	}
	cmd.AddCommand(newConfigInitCommand(c), newConfigSetCommand(c), newConfigUnsetCommand(c))
	return cmd
}

// originColumn is where the remarks begin, if the values leave room.
const originColumn = 40

func (c console) writeSettings(l *settings.Loaded, secrets bool) error {
	var b strings.Builder
	for _, v := range l.Values() {
		setting := v.Key + " = " + v.Text
		if !secrets {
			setting = masked(setting)
		}
		fmt.Fprintf(&b, "%-*s # %s\n", originColumn, setting, oneLine(v.Origin))
	}
	for _, stray := range l.Strays {
		fmt.Fprintln(c.err, "satin-peer: "+oneLine(stray))
	}
	_, err := c.out.Write([]byte(b.String()))
	return err
}

// usable says which setting would keep a daemon from starting although its form is right: the first of them.
func usable(l *settings.Loaded) error {
	if err := control.CheckDir(l.RuntimeDir); err != nil {
		return err
	}
	if err := usablePlaces(l.Join, l.Listen); err != nil {
		return err
	}
	if l.Emulate == "" {
		return nil
	}
	e, err := emulate.Open(l.Emulate, l.Cluster, func(steal.PeerID) string { return "" })
	if err != nil {
		return fmt.Errorf("emulate: %w", err)
	}
	return e.Close()
}

// usablePlaces says which value of join or listen a daemon would refuse although its form is right.
func usablePlaces(join, listen []string) error {
	// nothing is read here
	members, err := targets(slices.DeleteFunc(slices.Clone(join), func(s string) bool { return s == "-" }), nil)
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	for _, t := range members {
		read := func() error { _, err := host.ParseAddr(t); return err }
		if host.IsInvitation(t) {
			read = func() error { _, err := host.ParseInvitation(t); return err }
		}
		if err := read(); err != nil {
			return fmt.Errorf("join: %w", err)
		}
	}
	for _, a := range listen {
		if _, err := host.ParseListen(a); err != nil {
			return fmt.Errorf("listen: %w", err)
		}
	}
	return nil
}

func newConfigInitCommand(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "init",
		Short:             "Write a configuration file with all settings explained",
		Long:              "init writes a configuration file in which every setting is explained and commented out. It never replaces one.",
		Example:           "  satin-peer config init",
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	file := cmd.Flags().String("config", "", "the `FILE` to write")
	cmd.RunE = func(_ *cobra.Command, _ []string) error {
		path, err := settings.FilePath(settings.Sources{Dirs: c.dirs, Environ: c.environ, File: *file})
		if err != nil {
			return failed("%w", err)
		}
		if err := settings.WriteCommented(path, c.dirs); err != nil {
			return failed("%w", err)
		}
		_, err = fmt.Fprintln(c.out, path)
		return err
	}
	return cmd
}

func newPathsCommand(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "paths",
		Short: "Show where files are",
		Long: `paths shows which files and directories satin-peer uses. The state directory has the peer's identity: whoever can read its key
can pretend to be this peer; without it the peer is a new one.`,
		Example: `  satin-peer paths
  satin-peer paths --state-dir /srv/satin`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	asJSON := addJSON(cmd, "the paths")
	addPlaceFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		l, err := c.load(cmd.Flags())
		if err != nil {
			return err
		}
		if *asJSON {
			return c.writeJSON(map[string]string{
				"config": l.File, "state": l.StateDir, "runtime": l.RuntimeDir,
				"socket": control.SocketPath(l.RuntimeDir), "token": control.TokenPath(l.RuntimeDir),
			})
		}
		t := newSheet(c.out)
		t.row("config", l.File, note(!l.Found, "not there; satin-peer config init writes it"))
		t.row("state", l.StateDir, "identity, members, answers")
		t.row("runtime", l.RuntimeDir, "of the running daemon")
		t.row("socket", filepath.Base(control.SocketPath(l.RuntimeDir)), "in runtime: commands reach the daemon by it")
		t.row("token", filepath.Base(control.TokenPath(l.RuntimeDir)), "in runtime: proves that they may")
		return t.w.Flush()
	}
	return cmd
}

func note(is bool, text string) string {
	if is {
		return text
	}
	return ""
}
