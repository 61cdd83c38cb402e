package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/module"
	"github.com/satin-peer/satin/internal/plain"
)

// run is the command: it does what args say and gives the exit code. All that it prints and logs goes through writers
// that let nothing through which a terminal obeys; who draws on the screen itself has to do that for what it draws.
func run(args []string, list []apps.App, c console) int {
	out := &sticky{w: plain.NewWriter(c.out)}
	c.screen, c.err = c.err, plain.NewWriter(c.err)
	c.args, c.out, c.modules = args, out, map[module.Hash]*runModule{}
	args, list, release, err := c.withModule(args, list)
	defer release()
	root := newRoot(list, c)
	if err == nil {
		args, err = prepare(root, args)
	}
	if err == nil {
		root.SetArgs(append([]string{}, args...)) // nil would mean the process's own
		err = root.Execute()
	}
	if unwritten := out.failure(); unwritten != nil {
		err = unwritten
	}
	return exitCode(err, c.err)
}

// logsTo says whether a file gets what is logged, and not a terminal.
func logsTo(c console, path string) bool { return isFile(c.screen, path) || isFile(c.err, path) }

func newRoot(list []apps.App, c console) *cobra.Command {
	root := &cobra.Command{
		Use:   "satin-peer",
		Short: "Run divide-and-conquer programs on all cores of a swarm of machines",
		Long: `satin-peer runs recursive programs, such as searches, whose work falls into jobs of unpredictable size. Idle cores
steal jobs from busy ones, on this machine and on the others of a swarm, so that all of them finish together.

The answer goes to standard output, everything else to standard error.`,
		Example: `  satin-peer apps
  satin-peer run nqueens 14
  satin-peer start --background
  satin-peer invite
  satin-peer status`,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: typoDistance,
		Args:                       cobra.ArbitraryArgs,
	}
	showVersion := root.Flags().Bool("version", false, "print the version, as satin-peer version does")
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *showVersion && len(args) == 0 {
			return c.printVersion(false)
		}
		if len(args) > 0 && slices.ContainsFunc(list, func(a apps.App) bool { return a.Name == args[0] }) {
			return &apps.InputError{What: "command", Got: args[0],
				Want: "run before the name of an application: satin-peer run " + args[0]}
		}
		return group("command", cmd, args)
	}
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetFlagErrorFunc(flagError)
	root.AddGroup(&cobra.Group{ID: swarmGroup, Title: "In a swarm:"},
		&cobra.Group{ID: hereGroup, Title: "On this machine:"})
	add := func(id string, commands ...*cobra.Command) {
		for _, cmd := range commands {
			cmd.GroupID = id
			root.AddCommand(cmd)
		}
	}
	add(swarmGroup, newStartCommand(list, c), newJoinCommand(c), newInviteCommand(c), newRevokeCommand(c),
		newLeaveCommand(c), newStatusCommand(c), newTopCommand(c), newDashboardCommand(c), newPeersCommand(c),
		newRunsCommand(c), newModulesCommand(c), newPublishCommand(list, c), newWaitCommand(list, c),
		newCancelCommand(c), newRefuseCommand(c),
		newSuspendCommand(c), newShareCommand(c), newPauseCommand(c), newFinishCommand(c),
		newResumeCommand(list, c), newServiceCommand(c), newDoctorCommand(c))
	add(hereGroup, newRunCommand(list, c), newCampaignCommand(list, c), newAppsCommand(list, c), newNewCommand(c),
		newBuildCommand(c), newConfigCommand(c),
		newPathsCommand(c), newPurgeCommand(c),
		newEmulateCommand(), newCheckCommand(c), newManualCommand(), newVersionCommand(c))
	root.SetHelpCommand(newHelpCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Args = cobra.ArbitraryArgs
		completion.RunE = func(cmd *cobra.Command, args []string) error { return group("shell", cmd, args) }
		for _, shell := range completion.Commands() {
			shell.Args = noArgs
		}
		completion.Example = "  satin-peer completion bash > ~/.local/share/bash-completion/completions/satin-peer"
	}
	return root
}

// Groups of commands in the help.
const (
	swarmGroup = "swarm"
	hereGroup  = "here"
)

// group is what a command does that only has subcommands: it explains itself, or says that it has not that one.
func group(what string, cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknown(what, cmd, args[0])
	}
	return cmd.Help()
}

// newHelpCommand is "help": cobra's own prints the usage when it does not know the command.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]...",
		Short:   "Explain a command",
		Long:    "help explains a command, as its --help does.",
		Example: "  satin-peer help run nqueens",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return unknown("command", about, rest[0])
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return subcommands(about, true), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// typoDistance is how many letters may differ in a word for it to be suggested instead.
const typoDistance = 2

// unknown says that parent has no subcommand of that name, and which it has. An empty name is one that is missing.
func unknown(what string, parent *cobra.Command, name string) error {
	want := "none"
	if names := subcommands(parent, false); len(names) > 0 {
		want = "one of " + strings.Join(names, ", ")
	}
	if near := parent.SuggestionsFor(name); name != "" && len(near) > 0 {
		want += " (did you mean " + strings.Join(near, " or ") + "?)"
	}
	return &apps.InputError{What: what, Got: name, Want: want}
}

// subcommands lists the names of cmd's subcommands, for completion with what they are.
func subcommands(cmd *cobra.Command, explain bool) (names []string) {
	for _, sub := range cmd.Commands() {
		switch {
		case sub.Hidden:
		case explain:
			names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
		default:
			names = append(names, sub.Name())
		}
	}
	return names
}

// noArgs is for commands that take flags only.
func noArgs(_ *cobra.Command, args []string) error { return apps.ArgCount(args, 0, "") }
