package cli

import (
	"flag"
	"math"
	"strconv"

	"github.com/spf13/pflag"
)

// A goValue is a flag of package flag in a set of package pflag. Setting it goes through the Go set, so that
// its Visit tells the application which flags were given.
type goValue struct {
	pflag.Value
	own  *flag.FlagSet
	name string
}

func (v goValue) Set(s string) error { return v.own.Set(v.name, s) }

func addGoFlags(flags *pflag.FlagSet, own *flag.FlagSet) {
	own.VisitAll(func(g *flag.Flag) {
		f := pflag.PFlagFromGoFlag(g)
		f.Value = goValue{f.Value, own, g.Name}
		flags.AddFlag(f)
	})
}

// given lists the application's own flags that were given, each with its value as JSON can have it.
func given(flags *pflag.FlagSet, own *flag.FlagSet) map[string]any {
	values := map[string]any{}
	own.Visit(func(g *flag.Flag) {
		f := flags.Lookup(g.Name)
		text := f.Value.String()
		values[g.Name] = text
		switch f.Value.Type() {
		case "int", "int64", "uint", "uint64":
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				values[g.Name] = n
			}
		case "float64":
			if x, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(x, 0) && !math.IsNaN(x) {
				values[g.Name] = x
			}
		case "bool":
			values[g.Name] = text == "true"
		}
	})
	return values
}
