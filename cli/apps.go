package cli

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/peer/control"
)

const appsName = "apps"

func newAppsCommand(list []apps.App, c console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   appsName + " [APPLICATION]",
		Short: "List the applications, or explain one",
		Long: `apps lists the applications that are built in, with their arguments, and, if a daemon is running, the modules that members of
its swarm have published. With the name of one, or the file of a module, it explains what that computes, how, and with which
flags, as satin-peer run APPLICATION --help does.`,
		Example: `  satin-peer apps
  satin-peer apps nqueens
  satin-peer apps ./golomb.wasm`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return listApps(cmd, list, c)
			case 1:
				return explainApp(cmd.Root(), args[0])
			}
			return apps.ArgCount(args, 1, "APPLICATION")
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return subcommands(runCommand(cmd.Root()), true), cobra.ShellCompDirectiveNoFileComp
		},
	}
	addPlaceFlags(cmd.Flags())
	return cmd
}

func listApps(cmd *cobra.Command, list []apps.App, c console) error {
	w := tabwriter.NewWriter(c.out, 0, 0, 3, ' ', 0)
	for _, app := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", app.Name, app.Args, app.Summary)
	}
	for _, m := range published(c, cmd) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", oneLine(m.Name), oneLine(m.Args), oneLine(m.Summary))
	}
	return w.Flush()
}

// published gives the modules that can be run by name; none if no daemon is running.
func published(c console, cmd *cobra.Command) (named []control.ModuleInfo) {
	d, err := c.connect(cmd.Flags())
	if err != nil {
		return nil
	}
	defer d.Close()
	all, err := d.Modules(cmd.Context())
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(m control.ModuleInfo) bool { return m.Name == "" })
}

func explainApp(root *cobra.Command, name string) error {
	all := runCommand(root)
	for _, cmd := range all.Commands() {
		if cmd.Name() == name {
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		}
	}
	return unknown("application", all, name)
}

// runCommand finds "run", whose subcommands are the applications.
func runCommand(root *cobra.Command) *cobra.Command {
	for _, cmd := range root.Commands() {
		if cmd.Name() == runName {
			return cmd
		}
	}
	return root
}
