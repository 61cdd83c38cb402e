package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/peer/settings"
)

// Exit codes besides 0; a signal adds its number to exitSignal.
const (
	exitFailed   = 1
	exitBadInput = 2
	exitSignal   = 128
)

// A failure is an error that is not about the input.
type failure struct {
	code  int
	err   error
	stack []byte // where it happened, for --verbose; may be nil
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// failed is a failure with the exit code for most of them.
func failed(format string, args ...any) *failure {
	return &failure{code: exitFailed, err: fmt.Errorf(format, args...)}
}

// exitCode says err in one line on w and gives the exit code for it. What is not a failure is bad input.
func exitCode(err error, w io.Writer) int {
	if err == nil {
		return 0
	}
	var (
		f *failure
		i *interrupted
	)
	if errors.As(err, &i) {
		fmt.Fprintln(w, "satin-peer: "+i.Error())
		return i.exitCode()
	}
	if errors.Is(err, errUnread) {
		return exitSignal + int(syscall.SIGPIPE)
	}
	if !errors.As(err, &f) {
		fmt.Fprintln(w, "satin-peer: "+oneLine(masked(err.Error())))
		return exitBadInput
	}
	fmt.Fprintln(w, "satin-peer: "+oneLine(masked(strings.TrimPrefix(f.Error(), "satin: "))))
	for line := range strings.Lines(string(f.stack)) { // of another peer's: whatever it says must not move the cursor
		fmt.Fprintln(w, strings.ReplaceAll(oneLine(strings.TrimSuffix(line, "\n")), `\t`, "\t"))
	}
	return f.code
}

// oneLine is for what others have written, where it must not break a line. What a terminal would obey cannot leave
// this process anyway: see run.
func oneLine(s string) string { return plain.Line(s) }

// A sticky writer remembers its first error, also when whoever wrote did not look at it. The runs of a batch, and those
// of parts of a campaign, write to it at once.
type sticky struct {
	w   io.Writer
	mu  sync.Mutex
	err error
}

func (s *sticky) Write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	n, err = s.w.Write(p)
	s.err = err
	return n, err
}

// errUnread is that nobody reads standard output any more. The exit code says so, as after SIGPIPE; no words
// do: "| head" is usual.
var errUnread = errors.New("standard output: nobody reads it any more")

// failure is nil if all was written.
func (s *sticky) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err == nil:
		return nil
	case errors.Is(s.err, syscall.EPIPE):
		return errUnread
	}
	return failed("standard output: %w", s.err)
}

// flagError names the flag of an error of the parser and says what is allowed.
func flagError(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
		out     *apps.InputError
	)
	switch {
	case errors.As(err, &out): // of its range
		return out
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if letters := unknown.GetSpecifiedShortnames(); letters != "" {
			name = "-" + letters
		}
		want := "one of " + strings.Join(flagNames(cmd), ", ")
		if near := settings.Nearest(name, flagNames(cmd)); near != "" {
			want += " (did you mean " + near + "?)"
		}
		return &apps.InputError{What: "flag", Got: name, Want: want}
	case errors.As(err, &missing):
		return &apps.InputError{What: "--" + missing.GetFlag().Name, Want: kind(missing.GetFlag().Value.Type())}
	case errors.As(err, &invalid):
		want := kind(invalid.GetFlag().Value.Type())
		if strings.Contains(invalid.Unwrap().Error(), "out of range") {
			want += " of at most 64 bits"
		}
		return &apps.InputError{What: "--" + invalid.GetFlag().Name, Got: invalid.GetValue(), Want: want}
	}
	return err
}

func flagNames(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return names
}

// kind says what values a flag of a type takes.
func kind(flagType string) string {
	switch flagType {
	case "bool":
		return "true or false"
	case "int", "int64", "uint", "uint64":
		return "a whole number"
	case "float64":
		return "a number"
	case "duration":
		return "a duration such as 10s or 1h30m"
	case "string":
		return "a text"
	}
	return flagType // a word of its own, such as NAME=PATH
}
