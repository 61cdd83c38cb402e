package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/settings"
)

// addPlaceFlags adds the flags that say which daemon is meant.
func addPlaceFlags(flags *pflag.FlagSet) {
	flags.String("config", "", "the configuration `FILE` to read")
	settings.AddFlags(flags, "state_dir", "runtime_dir")
}

// load reads the settings, with those flags of a command that are settings.
func (c console) load(flags *pflag.FlagSet) (*settings.Loaded, error) {
	if err := notEmpty(flags); err != nil {
		return nil, err
	}
	file := ""
	if f := flags.Lookup("config"); f != nil {
		file = f.Value.String()
	}
	return settings.Load(settings.Sources{Dirs: c.dirs, Environ: c.environ, Flags: settings.Given(flags), File: file})
}

// connect finds the daemon that a command's flags mean.
func (c console) connect(flags *pflag.FlagSet) (*control.Client, error) {
	l, err := c.load(flags)
	if err != nil {
		return nil, err
	}
	d, err := c.await(l.RuntimeDir)
	if errors.Is(err, control.ErrNotRunning) { // the error ends with the command that starts one
		return nil, failed("%w%s", err, place(l))
	}
	if err != nil {
		return nil, daemonError(err)
	}
	return d, nil
}

// startingWithin is how long a command waits for a daemon that is starting, as in "satin-peer start &
// satin-peer invite".
const startingWithin = 2 * time.Second

// await finds the daemon of a directory, which may be about to start.
func (c console) await(dir string) (*control.Client, error) {
	d, err := control.Connect(dir)
	if !errors.Is(err, control.ErrNotRunning) || c.daemonTicks == 0 {
		return d, err
	}
	ticks, stop := c.every(lookEvery)
	defer stop()
	for range c.daemonTicks {
		<-ticks
		if d, err = control.Connect(dir); !errors.Is(err, control.ErrNotRunning) {
			break
		}
	}
	return d, err
}

// place is what a command needs to mean the same daemon as this one: the flags that name it, with a blank
// before each.
func place(l *settings.Loaded) (flags string) {
	for _, dir := range []struct{ flag, path string }{{"--state-dir", l.StateDir}, {"--runtime-dir", l.RuntimeDir}} {
		if !slices.ContainsFunc(l.Values(), func(v settings.Value) bool { return v.Origin == dir.flag }) {
			continue
		}
		path := dir.path
		if strings.Trim(path, plainLetters) != "" {
			path = "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
		}
		flags += " " + dir.flag + " " + path
	}
	return flags
}

// staysAlone says that a run stays in this process although the user has said where a daemon is: none is there.
func (c console) staysAlone(l *settings.Loaded) {
	said := func(v settings.Value) bool {
		return (v.Key == "state_dir" || v.Key == "runtime_dir") && v.Origin != "default"
	}
	if slices.ContainsFunc(l.Values(), said) {
		c.complain(fmt.Sprintf("no daemon is running (nobody listens on %s): this process computes it",
			oneLine(control.SocketPath(l.RuntimeDir))))
	}
}

// plainLetters mean nothing to a shell.
const plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%="

// daemonError makes a failure of a daemon's error, unless it is about what the user wrote.
func daemonError(err error) error {
	var (
		f *failure
		i *interrupted
		b *apps.InputError
		n *noRunError
	)
	if err == nil || errors.Is(err, control.ErrBadInput) || errors.As(err, &f) || errors.As(err, &i) ||
		errors.As(err, &b) || errors.As(err, &n) {
		return err
	}
	return failed("%w", err)
}

// A query is what a command asks of the daemon, and does with the reply.
type query func(ctx context.Context, d *control.Client, args []string) error

// newDaemonCommand makes a command that asks the daemon, from its name, texts and query. Usage is the
// arguments it takes, from least to most of them.
func newDaemonCommand(c console, cmd cobra.Command, least, most int, ask query) *cobra.Command {
	_, usage, _ := strings.Cut(cmd.Use, " ")
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return apps.ArgCount(args, least, usage)
		case len(args) > most && least < most:
			return apps.WrongArgs(args, "at most "+usage)
		case len(args) > most:
			return apps.ArgCount(args, most, usage)
		}
		d, err := c.connect(cmd.Flags())
		if err != nil {
			return err
		}
		defer d.Close()
		return daemonError(ask(cmd.Context(), d, args))
	}
	addPlaceFlags(cmd.Flags())
	return &cmd
}

// newShowCommand makes a command that asks the daemon for something, and shows it or, with --json, prints it.
func newShowCommand[T any](c console, cmd cobra.Command, what string,
	ask func(*control.Client, context.Context) (T, error), show func(T) error) *cobra.Command {
	var asJSON *bool
	made := newDaemonCommand(c, cmd, 0, 0, func(ctx context.Context, d *control.Client, _ []string) error {
		v, err := ask(d, ctx)
		switch {
		case err != nil:
			return err
		case *asJSON:
			return c.writeJSON(v)
		}
		return show(v)
	})
	asJSON = addJSON(made, what)
	return made
}

// addJSON adds --json to a command whose output it makes one JSON value.
func addJSON(cmd *cobra.Command, what string) *bool {
	return cmd.Flags().Bool("json", false, "print "+what+" as JSON")
}

// writeJSON prints v.
func (c console) writeJSON(v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return failed("this cannot be written as JSON: %w", err)
	}
	_, err = c.out.Write(append(text, '\n'))
	return err
}

const runDigits = 32

const whichRun = "the digits of one run, as satin-peer runs shows them; the first ones are enough"

// A noRunError says that no run begins with a name.
type noRunError struct{ name string }

func (e *noRunError) Error() string {
	return "no run begins with " + e.name + ": satin-peer runs lists those there are"
}
func (e *noRunError) Unwrap() error { return control.ErrNotFound }

func ambiguous(name string) error {
	return &apps.InputError{What: "RUN", Got: name, Want: whichRun + "; several begin with these"}
}

// findRun gives the run that a name, or the beginning of one, means; a *noRunError if the daemon knows none.
func findRun(ctx context.Context, d control.Daemon, name string) (control.RunInfo, error) {
	if name == "" || len(name) > runDigits || strings.Trim(name, "0123456789abcdef") != "" {
		return control.RunInfo{}, &apps.InputError{What: "RUN", Got: name, Want: whichRun}
	}
	runs, err := d.Runs(ctx)
	if err != nil {
		return control.RunInfo{}, err
	}
	runs = slices.DeleteFunc(runs, func(r control.RunInfo) bool { return !strings.HasPrefix(r.Run, name) })
	switch len(runs) {
	case 0:
		return control.RunInfo{}, &noRunError{name}
	case 1:
		return runs[0], nil
	}
	return control.RunInfo{}, ambiguous(name)
}
