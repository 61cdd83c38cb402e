package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/satin-peer/satin/apps"
)

// newManualCommand is for whoever makes packages: it is not listed.
func newManualCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "manual DIR",
		Short:   "Write manual pages, completions and a service file",
		Long:    "manual writes a manual page for each command, completions for four shells, and a unit for systemd into a directory.",
		Example: "  satin-peer manual /tmp/manual",
		Hidden:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := apps.ArgCount(args, 1, "DIR"); err != nil {
				return err
			}
			if err := writeManual(cmd.Root(), args[0]); err != nil {
				return failed("%w", err)
			}
			return nil
		},
	}
}

func writeManual(root *cobra.Command, dir string) error {
	write := func(name string, content func(w io.Writer) error) error {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		return errors.Join(content(file), file.Close())
	}
	errs := []error{
		write("completions/satin-peer.bash", func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }),
		write("completions/_satin-peer", root.GenZshCompletion),
		write("completions/satin-peer.fish", func(w io.Writer) error { return root.GenFishCompletion(w, true) }),
		write("completions/satin-peer.ps1", root.GenPowerShellCompletionWithDesc),
		write("systemd/satin-peer.service", func(w io.Writer) error {
			_, err := io.WriteString(w, systemdUnit([]string{"/usr/bin/satin-peer", "start"}, false))
			return err
		}),
	}
	var pages func(cmd *cobra.Command)
	pages = func(cmd *cobra.Command) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		errs = append(errs, write("man/"+name+".1", func(w io.Writer) error {
			_, err := io.WriteString(w, manPage(cmd))
			return err
		}))
		for _, sub := range cmd.Commands() {
			if !sub.Hidden {
				pages(sub)
			}
		}
	}
	pages(root)
	return errors.Join(errs...)
}

// manPage is a command's page in the language of man(7).
func manPage(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	var b strings.Builder
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH \"%s\" \"1\" \"\" \"satin-peer\" \"satin-peer manual\"\n", strings.ToUpper(roff(name)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", roffLines(cmd.Long))
	if flags := cmd.NonInheritedFlags(); flags.HasAvailableFlags() {
		b.WriteString(".SH OPTIONS\n")
		flags.VisitAll(func(f *pflag.Flag) {
			what, usage := pflag.UnquoteUsage(f)
			fmt.Fprintf(&b, ".TP\n.B \\-\\-%s %s\n%s\n", roff(f.Name), roff(what), roffLines(usage))
		})
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roffLines(cmd.Example))
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, strings.ReplaceAll(cmd.Parent().CommandPath(), " ", "-"))
	}
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			also = append(also, strings.ReplaceAll(sub.CommandPath(), " ", "-"))
		}
	}
	for i, page := range also {
		also[i] = "\\fB" + roff(page) + "\\fR(1)"
	}
	if len(also) > 0 {
		fmt.Fprintf(&b, ".SH \"SEE ALSO\"\n%s\n", strings.Join(also, ", "))
	}
	return b.String()
}

// roff escapes a text for the middle of a line.
func roff(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "\"", `\(dq`).Replace(text)
}

// roffLines escapes several lines; an empty one ends a paragraph. A dot at the beginning would be a request.
func roffLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		switch l = roff(l); {
		case l == "":
			lines[i] = ".PP"
		case strings.HasPrefix(l, "."):
			lines[i] = `\&` + l
		default:
			lines[i] = l
		}
	}
	return strings.Join(lines, "\n")
}
