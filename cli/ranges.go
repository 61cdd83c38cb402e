package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/satin-peer/satin/apps"
)

// A ranged flag takes what lies in a range, and whoever gives it another value is told which that is.
type ranged[T any] struct {
	at    *T     // nil in one that pflag makes itself, to compare
	kind  string // as pflag calls it
	read  func(text string) (T, error)
	write func(T) string
}

func (r *ranged[T]) String() string {
	if r.at == nil {
		return ""
	}
	return r.write(*r.at)
}

func (r *ranged[T]) Type() string { return r.kind }

func (r *ranged[T]) Set(text string) error {
	v, err := r.read(text)
	if err == nil {
		*r.at = v
	}
	return err
}

// numberFlag adds a flag for a whole number from least to most. What is at n is its default, in the range or not.
func numberFlag(flags *pflag.FlagSet, n *int, name string, least, most int, usage string) {
	read := func(text string) (int, error) { return apps.Int("--"+name, text, least, most) }
	flags.Var(&ranged[int]{n, "int", read, strconv.Itoa}, name, usage)
}

// durationFlag does the same for a duration.
func durationFlag(flags *pflag.FlagSet, d *time.Duration, name string, least, most time.Duration, usage string) {
	read := func(text string) (time.Duration, error) { return durationIn("--"+name, text, least, most) }
	flags.Var(&ranged[time.Duration]{d, "duration", read, time.Duration.String}, name, usage)
}

// durationIn reads a duration from least to most. What names it in the error.
func durationIn(what, text string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < least || d > most {
		return 0, &apps.InputError{What: what, Got: text,
			Want: fmt.Sprintf("a duration from %s to %s, such as 1h30m", withoutZeros(least), withoutZeros(most))}
	}
	return d, nil
}

// withoutZeros writes a duration as people do: 720h and not 720h0m0s.
func withoutZeros(d time.Duration) string {
	text := d.String()
	if d%time.Minute == 0 && d > 0 {
		text = strings.TrimSuffix(text, "0s")
	}
	if d%time.Hour == 0 && d > 0 {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
