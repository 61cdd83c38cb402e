package cli

import (
	"fmt"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func newVersionCommand(c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "version prints the version of the module, the revision it was built from as far as the build recorded it, and the Go version.",
		Example: "  satin-peer version\n  satin-peer version --json",
		Args:    noArgs,
	}
	asJSON := addJSON(cmd, "it")
	cmd.RunE = func(*cobra.Command, []string) error { return c.printVersion(*asJSON) }
	return cmd
}

// printVersion is what version and --version do.
func (c console) printVersion(asJSON bool) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return failed("this program was built without build information")
	}
	if !asJSON {
		_, err := fmt.Fprintln(c.out, "satin-peer "+version(info))
		return err
	}
	described := map[string]any{"version": moduleVersion(info), "go": info.GoVersion}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			described["revision"] = s.Value
		case "vcs.time":
			described["revision_time"] = s.Value
		case "vcs.modified":
			described["local_changes"] = s.Value == "true"
		}
	}
	return c.writeJSON(described)
}

func moduleVersion(info *debug.BuildInfo) string {
	if info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// revision finds the revision in a version that was made from one: v0.0.0-20261120203200-1a2b3c4d5e6f.
var revision = regexp.MustCompile(`^v[\w.-]*\d{14}-([0-9a-f]{12}(?:\+dirty)?)$|^\(devel\), revision ([0-9a-f]{12})`)

// briefVersion shortens what version wrote, for a column.
func briefVersion(version string) string {
	name, _, _ := strings.Cut(version, ",")
	if m := revision.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	if m := revision.FindStringSubmatch(version); m != nil {
		return m[2]
	}
	return name
}

// version is, for example, "v0.2.0, revision 1a2b3c4d5e6f of 2026-11-20T20:32:00Z with local changes, go1.26.8".
func version(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	parts := []string{moduleVersion(info)}
	if revision := settings["vcs.revision"]; revision != "" {
		text := "revision " + revision[:min(len(revision), 12)]
		if at := settings["vcs.time"]; at != "" {
			text += " of " + at
		}
		if settings["vcs.modified"] == "true" {
			text += " with local changes"
		}
		parts = append(parts, text)
	}
	return strings.Join(append(parts, info.GoVersion), ", ")
}
