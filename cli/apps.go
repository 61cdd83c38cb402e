package cli

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
)

func newAppsCommand(list []apps.App, c console) *cobra.Command {
	return &cobra.Command{
		Use:   "apps [APPLICATION]",
		Short: "List the applications, or explain one",
		Long: `apps lists the applications that are built in, with their arguments. With the name of one it explains what that computes,
how, and with which flags, as satin-peer run APPLICATION --help does.`,
		Example: `  satin-peer apps
  satin-peer apps nqueens`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return listApps(list, c)
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
}

func listApps(list []apps.App, c console) error {
	w := tabwriter.NewWriter(c.out, 0, 0, 3, ' ', 0)
	for _, app := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\n", app.Name, app.Args, app.Summary)
	}
	return w.Flush()
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
