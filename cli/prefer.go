package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer/settings"
)

// newConfigPutCommand makes config set, or config unset.
func newConfigPutCommand(c console, cmd cobra.Command, take func(args []string) (key string,
	values []string)) *cobra.Command {
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	file := cmd.Flags().String("config", "", "the `FILE` to change")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		from := settings.Sources{Dirs: c.dirs, Environ: c.environ, File: *file}
		path, err := settings.FilePath(from)
		if err != nil {
			return failed("%w", err)
		}
		key, values := take(args)
		switch key { // what would keep the daemon from starting
		case executablesKey:
			err = usableExecutables(values)
		case "join":
			err = usablePlaces(values, nil)
		case "listen":
			err = usablePlaces(nil, values)
		}
		if err != nil {
			return err
		}
		if err := settings.Put(path, c.dirs, key, values); errors.As(err, new(syscall.Errno)) {
			return failed("%w", err) // nothing that the user has written is wrong
		} else if err != nil {
			return err
		}
		when := settings.When(key)
		if l, err := settings.Load(from); err == nil {
			for _, v := range l.Values() {
				if v.Key == key && strings.HasPrefix(v.Origin, "SATIN_") {
					when = v.Origin + " of the environment wins over it"
				}
			}
		}
		_, err = fmt.Fprintf(c.err, "written to %s: %s\n", path, when)
		return err
	}
	return &cmd
}

func newConfigSetCommand(c console) *cobra.Command {
	return newConfigPutCommand(c, cobra.Command{
		Use:   "set KEY VALUE...",
		Short: "Write one setting into the configuration file",
		Long: `set writes one setting into the configuration file, which is made if there is none; other lines stay as they are. What the owner
of the machine allows a daemon that runs takes up within two seconds, from the file as well:
` + ownersSettings(),
		Example: `  satin-peer config set workers_here 1
  satin-peer config set hours mon-fri/18:00-08:00 sat-sun/00:00-24:00
  satin-peer config set yield_to blender`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return apps.WrongArgs(args, "at least 2 (KEY VALUE...)")
			}
			return nil
		},
	}, func(args []string) (string, []string) { return args[0], args[1:] })
}

// ownersSettings lists what the owner of the machine allows, eight names a line.
func ownersSettings() string {
	var lines []string
	for names := range slices.Chunk(settings.OwnerNames(), 8) {
		lines = append(lines, "  "+strings.Join(names, ", "))
	}
	return strings.Join(lines, ",\n")
}

func newConfigUnsetCommand(c console) *cobra.Command {
	return newConfigPutCommand(c, cobra.Command{
		Use:     "unset KEY",
		Short:   "Take one setting out of the configuration file",
		Long:    "unset takes one setting out of the configuration file, so that its default is in force again.",
		Example: "  satin-peer config unset hours",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return apps.ArgCount(args, 1, "KEY")
			}
			return nil
		},
	}, func(args []string) (string, []string) { return args[0], nil })
}

// settingsEvery is how often a daemon looks whether its file has changed.
const settingsEvery = time.Second

// followSettings has a daemon take up what the owner of the machine changes in its configuration file, until ctx ends,
// when the file has been the same in two looks. A file with a mistake changes nothing, nor does one that is gone, as
// with a home that is not mounted any more: what was forbidden stays so. Both are told of once.
func followSettings(ctx context.Context, c console, p member, l *settings.Loaded,
	again func() (*settings.Loaded, error), log *slog.Logger) {
	if l.File == "" {
		return
	}
	ticks, stop := c.every(settingsEvery)
	defer stop()
	last := fileStamp{size: -1} // it may have changed since it was loaded
	changed, found := last, l.Found
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		now := stamp(l.File)
		if still := now == changed; now == last || !still {
			changed = now // it may be half-written: what an editor has cut off would be the defaults
			continue
		}
		last = now
		fresh, err := again()
		if err == nil && found && !fresh.Found {
			err = fmt.Errorf("%s is gone: config init writes another one", l.File)
		}
		if err != nil {
			log.Warn("the settings stay as they were", "error", err)
			continue
		}
		found = fresh.Found
		p.Prefer(fresh.Prefers(settings.MaxWorkers))
		if others := settings.NotLive(l, fresh); len(others) > 0 {
			log.Info("these settings take effect when the daemon is started again", "settings",
				strings.Join(others, ", "))
		}
	}
}

// A fileStamp tells one state of a file from another.
type fileStamp struct {
	at   time.Time
	size int64
}

func stamp(path string) fileStamp {
	info, err := os.Stat(path)
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{info.ModTime(), info.Size()}
}

// An ownerFile is where the page reads and writes what the owner of the machine allows: the configuration file of the
// daemon that shows it, which takes it up from there.
type ownerFile struct {
	dirs  settings.Dirs
	path  string
	again func() (*settings.Loaded, error)
}

func (f *ownerFile) Preferences() ([]dashboard.Preference, error) {
	l, err := f.again()
	if err != nil {
		return nil, err
	}
	var list []dashboard.Preference
	for _, v := range l.Owner() {
		list = append(list, dashboard.Preference{Name: v.Key, About: v.About, Kind: v.Kind, Values: v.Values,
			From: v.Fixed})
	}
	return list, nil
}

func (f *ownerFile) Prefer(name string, values []string) error {
	if !settings.IsOwners(name) {
		return fmt.Errorf("%w: %q is not for the page", report.ErrBadInput, name)
	}
	err := settings.Put(f.path, f.dirs, name, values)
	if wrong := (*settings.Error)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("%w: %w", report.ErrBadInput, err)
	}
	return err
}
