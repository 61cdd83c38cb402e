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
type ranged struct {
	kind string // as pflag calls it
	set  func(text string) error
	text func() string
}

func (r *ranged) String() string {
	if r.text == nil { // pflag makes one of its own, to compare
		return ""
	}
	return r.text()
}
func (r *ranged) Type() string       { return r.kind }
func (r *ranged) Set(s string) error { return r.set(s) }

// numberFlag adds a flag for a whole number from least to most. What is at n is its default, in the range or not.
func numberFlag(flags *pflag.FlagSet, n *int, name string, least, most int, usage string) {
	flags.Var(&ranged{"int", func(text string) (err error) {
		got, err := apps.Int("--"+name, text, least, most)
		if err == nil {
			*n = got
		}
		return err
	}, func() string { return strconv.Itoa(*n) }}, name, usage)
}

// durationFlag does the same for a duration.
func durationFlag(flags *pflag.FlagSet, d *time.Duration, name string, least, most time.Duration, usage string) {
	flags.Var(&ranged{"duration", func(text string) error {
		got, err := durationIn("--"+name, text, least, most)
		if err == nil {
			*d = got
		}
		return err
	}, func() string { return d.String() }}, name, usage)
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
