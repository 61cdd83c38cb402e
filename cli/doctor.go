package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/settings"
)

func newDoctorCommand(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out why there is no work, or why nobody can connect",
		Long: `doctor looks at what may keep a peer from being useful: the settings, the daemon, whether others can reach it, its clock, ports,
members and work. Each finding comes with what to do about it. The exit code is 1 if there is a problem.`,
		Example: `  satin-peer doctor
  satin-peer doctor --json`,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	asJSON := addJSON(cmd, "the findings")
	addPlaceFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		found, err := c.examine(cmd.Context(), cmd.Flags())
		if err != nil {
			return err
		}
		if *asJSON {
			err = c.writeJSON(found)
		} else {
			err = writeFindings(c, found)
		}
		if err != nil {
			return err
		}
		return verdict(found)
	}
	return cmd
}

// examine looks at what can be seen from here, and asks the daemon for the rest.
func (c console) examine(ctx context.Context, flags *pflag.FlagSet) ([]control.Finding, error) {
	l, err := c.load(flags)
	if err != nil {
		return nil, err
	}
	found := c.examineSettings(l)
	d, err := control.Connect(l.RuntimeDir)
	if errors.Is(err, control.ErrNotRunning) {
		return append(found, examineState(l), control.Finding{
			Check: "daemon", Level: control.Problem, Text: "none is running on " + control.SocketPath(l.RuntimeDir),
			Fix: "start it with satin-peer start" + place(l) +
				"; if it was started with another --state-dir, give that here, too",
		}), nil
	}
	if err != nil {
		if state := examineState(l); state.Level == control.Problem {
			return append(found, state), nil
		}
		return nil, daemonError(err)
	}
	defer d.Close()
	more, err := d.Doctor(ctx)
	if err != nil {
		return append(found, control.Finding{
			Check: "daemon", Level: control.Problem, Text: "it runs, but could not say how it is: " + err.Error(),
			Fix: "look into its log, and restart it",
		}), nil
	}
	found = append(found, control.Finding{Check: "daemon", Level: control.Good,
		Text: "it runs and answers on " + control.SocketPath(l.RuntimeDir)})
	return append(found, more...), nil
}

func (c console) examineSettings(l *settings.Loaded) (found []control.Finding) {
	text := l.File + " does not exist; the defaults count"
	if l.Found {
		text = l.File + " is in order"
	}
	if err := usable(l); err != nil {
		found = append(found, control.Finding{
			Check: "settings", Level: control.Problem, Text: masked(err.Error()),
			Fix: "correct it; satin-peer config shows where each setting comes from",
		})
	} else {
		found = append(found, control.Finding{Check: "settings", Level: control.Good, Text: text})
	}
	for _, stray := range l.Strays {
		found = append(found, control.Finding{
			Check: "settings", Level: control.Warning, Text: stray,
			Fix: "correct the name (satin-peer config lists them), or unset it",
		})
	}
	return found
}

// examineState tells whether a daemon could be started with these settings.
func examineState(l *settings.Loaded) control.Finding {
	dir, text := l.StateDir, l.StateDir+" can be written"
	for {
		_, err := os.Stat(dir)
		above := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || above == dir {
			break
		}
		dir, text = above, l.StateDir+" will be made by the first start"
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = path.Err
		}
		return control.Finding{
			Check: "state", Level: control.Problem,
			Text: fmt.Sprintf("state_dir %s cannot be used: %s: %v", l.StateDir, dir, err),
			Fix:  "make it a directory of yours, or choose another one with --state-dir",
		}
	}
	if err := takes(probe); err != nil {
		return control.Finding{
			Check: "state", Level: control.Problem,
			Text: fmt.Sprintf("state_dir %s cannot be used: %v", l.StateDir, err),
			Fix:  "make room on the disk of " + dir + ", or choose another one with --state-dir",
		}
	}
	return control.Finding{Check: "state", Level: control.Good, Text: text}
}

// takes writes to a new file, and removes it: a full disk has files made, and takes nothing into them.
func takes(probe *os.File) error {
	_, err := probe.Write(make([]byte, 4096))
	return errors.Join(err, probe.Close(), os.Remove(probe.Name()))
}

func writeFindings(c console, found []control.Finding) error {
	t := newSheet(c.out)
	for _, f := range found {
		t.row(f.Level, f.Check, f.Text)
		if f.Fix != "" && f.Level != control.Good {
			t.row("", "", "→ "+f.Fix)
		}
	}
	return t.w.Flush()
}

// verdict is an error if something is a problem.
func verdict(found []control.Finding) error {
	var checks []string
	for _, f := range found {
		if f.Level == control.Problem {
			checks = append(checks, f.Check)
		}
	}
	if len(checks) == 0 {
		return nil
	}
	return failed("%s found: %s", counted(uint64(len(checks)), "problem"), strings.Join(checks, ", "))
}
