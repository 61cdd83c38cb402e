package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/satin-peer/satin/apps"
)

// prepare finds what would confuse the parser of flags: the name of an application that does not exist, before flags
// that nobody could know then; and negative numbers and durations among the arguments, which look like flags. All of
// the arguments of an application, or of a command that was given such a one, go behind a "--".
func prepare(root *cobra.Command, args []string) ([]string, error) {
	cmd, rest, err := root.Find(args)
	if err != nil {
		return args, nil // the parser will find that, too
	}
	isRun := cmd.Parent() == root && cmd.Name() == runName
	isApp := cmd.Parent() != nil && cmd.Parent().Parent() == root && cmd.Parent().Name() == runName
	if cmd.HasSubCommands() && !isRun {
		return args, nil
	}
	s := split(cmd, rest)
	negative := func(a string) bool { return len(a) > 1 && a[0] == '-' && isPlain(a) }
	switch {
	case !isRun && !isApp && (s.open != nil || !slices.ContainsFunc(s.plain, negative)):
		return args, nil
	case isRun && s.clear:
		return nil, unknown("application", cmd, s.plain[0])
	case isRun:
		return args, nil
	case s.open != nil: // it would take the "--" for its value
		return nil, &apps.InputError{What: "--" + s.open.Name, Want: kind(s.open.Value.Type())}
	}
	path := []string{}
	for c := cmd; c.HasParent(); c = c.Parent() {
		path = append([]string{c.Name()}, path...)
	}
	return slices.Concat(path, s.flags, []string{"--"}, s.plain), nil
}

// arguments are those of a command, sorted.
type arguments struct {
	flags []string // with their values
	plain []string
	clear bool        // there is a plain one with only known flags before it
	open  *pflag.Flag // the last argument, if it is a flag that still needs a value
}

// split separates cmd's flags from the other arguments.
func split(cmd *cobra.Command, args []string) (s arguments) {
	cmd.InitDefaultHelpFlag()
	cmd.InheritedFlags() // merges them into cmd.Flags
	strange := false
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--":
			s.plain = append(s.plain, args[i+1:]...)
			s.clear = s.clear || len(s.plain) > 0 && !strange
			return s
		case isPlain(a):
			s.plain = append(s.plain, a)
			s.clear = s.clear || !strange
		default:
			f := lookup(cmd, a)
			strange = strange || f == nil
			s.flags = append(s.flags, a)
			if f == nil || f.NoOptDefVal != "" || strings.Contains(a, "=") {
				continue
			}
			if i++; i == len(args) {
				s.open = f
				return s
			}
			s.flags = append(s.flags, args[i])
		}
	}
	return s
}

// isPlain says whether an argument is neither a flag nor several: a word, "-", or a negative number.
func isPlain(a string) bool {
	if len(a) < 2 || a[0] != '-' {
		return true
	}
	digits := strings.TrimPrefix(a[1:], ".")
	return digits != "" && '0' <= digits[0] && digits[0] <= '9'
}

// lookup finds the flag that a, such as --name, --name=value or -n, sets; nil if there is none.
func lookup(cmd *cobra.Command, a string) *pflag.Flag {
	if name, ok := strings.CutPrefix(a, "--"); ok {
		name, _, _ = strings.Cut(name, "=")
		return cmd.Flags().Lookup(name)
	}
	return cmd.Flags().ShorthandLookup(a[1:2])
}
