package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
)

func newVersionCommand(c console) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "version prints the version of the module, the revision it was built from as far as the build recorded it, and the Go version.",
		Example: "  satin-peer version",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := apps.ArgCount(args, 0, ""); err != nil {
				return err
			}
			info, ok := debug.ReadBuildInfo()
			if !ok {
				return failed("this program was built without build information")
			}
			_, err := fmt.Fprintln(c.out, "satin-peer "+version(info))
			return err
		},
	}
}

// version is, for example, "v0.2.0, revision 1a2b3c4d5e6f of 2026-11-20T20:32:00Z with local changes, go1.26.8".
func version(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	parts := []string{"(devel)"}
	if info.Main.Version != "" {
		parts[0] = info.Main.Version
	}
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
