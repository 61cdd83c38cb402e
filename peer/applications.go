package peer

import (
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/satin-peer/satin/internal/compute"
	"github.com/satin-peer/satin/internal/compute/child"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/peer/constants"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/runs"
)

// An Application is one that this peer can run: its jobs are the functions registered as "Name.…".
type Application struct {
	Name string
	// Version identifies its code. Peers with different versions do not work on one run: their jobs might differ.
	Version statement.Version
	// Executables are those that its jobs have run, by the names that they call them.
	Executables []string
}

// Built gives the applications of this program, by name, their versions: those of their sources. One that does not
// tell that has the version of the build: the revision it was built from if that is known and nothing was
// changed, else the program itself; so a developer's build works together only with its copies.
func Built(sources map[string]string) (list []Application, err error) {
	build := ""
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		version := statement.VersionOfSources(sources[name], name)
		if sources[name] == "" {
			if build == "" {
				if build, err = buildID(); err != nil {
					return nil, err
				}
			}
			version = statement.VersionOf(build, name)
		}
		list = append(list, Application{Name: name, Version: version})
	}
	return list, nil
}

// buildID is the same for all programs whose jobs are the same.
func buildID() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok {
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if settings["vcs.revision"] != "" && settings["vcs.modified"] == "false" {
			return "revision " + settings["vcs.revision"], nil
		}
		if v := info.Main.Version; v != "" && v != "(devel)" && !strings.Contains(v, "+dirty") {
			return "version " + info.Main.Path + "@" + v, nil
		}
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("the program's own file, for the version of its applications: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("the program's own file, for the version of its applications: %w", err)
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("the program's own file, for the version of its applications: %w", err)
	}
	return fmt.Sprintf("program %x", h.Sum(nil)), nil
}

// A catalog is what this peer has, by name.
type catalog struct {
	built    map[string]Application
	modules  *modules
	programs []child.Program
	// what arguments of own runs name
	constants *constants.Store
}

// outdated says that the command which brings a run has its application from other sources, by the version that it
// tells: what it shows its user is not what would be computed. "" if it has not, or tells none.
func (c *catalog) outdated(name, sources string) string {
	app, ok := c.built[name]
	brought := statement.VersionOfSources(sources, name)
	if !ok || sources == "" || app.Version == brought {
		return ""
	}
	return fmt.Sprintf("the daemon has %s in version %s, this program in %s: satin-peer leave ends the daemon, and "+
		"satin-peer start begins it anew; --local does without", name, app.Version, brought)
}

// unfit says why this peer cannot take part in a run; "" if it can.
func (c *catalog) unfit(m *statement.SignedManifest) string {
	if _, why := c.lent(m); why != "" {
		return why
	}
	if m.Verify != "" && len(m.Executables) > 0 {
		return "what executables come to depends on the machine, so a run that needs some cannot be verified"
	}
	if why := c.constants.Fits(m.Constants); why != "" {
		return why
	}
	if _, err := modeOf(m.Verify); err != nil {
		return err.Error()
	}
	if m.Entry == module.Func {
		return c.modules.unfit(m)
	}
	app, ok := c.built[m.App]
	switch {
	case !ok:
		return fmt.Sprintf("this peer's daemon does not have the application %q: start the command that has it as the "+
			"daemon, or run it alone with --local", m.App)
	case app.Version != m.Version:
		return fmt.Sprintf("this peer has %s in version %s, the run needs %s: build both from the same sources",
			m.App, app.Version, m.Version)
	case !strings.HasPrefix(m.Entry, m.App+"."):
		return fmt.Sprintf("its entry function %q is not one of %s", m.Entry, m.App)
	}
	if _, ok := engine.Lookup(m.Entry); !ok {
		return fmt.Sprintf("%s has no function %q", m.App, m.Entry)
	}
	if m.Rounding != "" && m.Rounding != compute.Rounding() {
		return fmt.Sprintf("its results are compared to the bit, and this machine rounds as %s, its owner's as %s",
			compute.Rounding(), m.Rounding)
	}
	if len(m.Arg) <= compute.MaxChecked {
		if _, err := compute.ArgumentOf(m.Entry, m.Arg); err != nil {
			return plain.Name(plain.Clip(plain.OneLine(err)))
		}
	}
	return ""
}

// has says whether a member has the application of a run.
func (c *catalog) has(card *statement.Card, m *runs.Manifest, ready bool) bool {
	if !allows(card, m) {
		return false
	}
	if m.Entry != module.Func {
		return slices.ContainsFunc(card.Apps, func(a statement.App) bool {
			return a.Name == m.App && string(a.Version[:]) == m.Version
		})
	}
	h := module.Hash([]byte(m.Version))
	return hasModule(card, h) || !ready && runsModules(card, c.modules.published(h))
}
