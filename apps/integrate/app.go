package integrate

import (
	"flag"
	"fmt"
	"math"
	"strings"

	"github.com/satin-peer/satin/apps"
)

// defaultThreshold makes some thousand jobs, if the tree is large enough for that.
const defaultThreshold = 12

//go:generate go run github.com/satin-peer/satin/cmd/satinversion

// App is adaptive integration.
var App = apps.App{
	Version: sources,
	Name:    "integrate",
	Summary: "integrals by adaptive bisection, as exact as one asks",
	Args:    "FUNCTION",
	Long: `Integrates a function over a range by halving every interval whose estimates do not agree yet. How often that
is depends on the place; the tree of intervals is irregular and its leaves take less than a microsecond. FUNCTION is one of

` + catalogue() + `
The estimates are by Simpson's rule. An interval may be wrong by its share of --epsilon; the answer says what they are wrong by
in all at most. It is compared with the exact integral, and is the same to the last bit with any number of workers.`,
	Examples: []string{"wave", "chirp --epsilon 1e-7", "peaks --threshold 0"},
	Setup:    setup,
}

// catalogue lists the integrands, a line for each.
func catalogue() string {
	var b strings.Builder
	for _, g := range integrands {
		fmt.Fprintf(&b, "  %-6s %s, from %g to %g, with an epsilon of %g or more\n", g.name, g.formula, g.from,
			g.to, g.finest)
	}
	return b.String()
}

func names() string {
	var list []string
	for _, g := range integrands {
		list = append(list, g.name)
	}
	return strings.Join(list, ", ")
}

func setup(fs *flag.FlagSet) func(args []string) (*apps.Problem, error) {
	epsilon := fs.Float64("epsilon", 1e-6, "largest `error` that is allowed")
	threshold := fs.Int("threshold", defaultThreshold, "`number` of halvings that make jobs; 0 is all of them")
	return func(args []string) (*apps.Problem, error) {
		if err := apps.ArgCount(args, 1, "FUNCTION"); err != nil {
			return nil, err
		}
		if err := apps.IntRange("--threshold", *threshold, 0, deepest); err != nil {
			return nil, err
		}
		for i, g := range integrands {
			if g.name != args[0] {
				continue
			}
			if err := apps.FloatRange("--epsilon", *epsilon, g.finest, 1); err != nil {
				return nil, err
			}
			return problem(g, whole(i, *epsilon, *threshold)), nil
		}
		return nil, &apps.InputError{What: "FUNCTION", Got: args[0], Want: "one of " + names()}
	}
}

func problem(g integrand, in Interval) *apps.Problem {
	return &apps.Problem{
		Title:      fmt.Sprintf("integral of %s from %g to %g", g.formula, g.from, g.to),
		Root:       "integrate.integrate",
		Arg:        in,
		Sequential: func() any { return sequential(in) },
		Check:      func(result any) error { return g.check(result.(Integral), in.Tolerance) },
		Answer: func(result any) apps.Answer {
			r := result.(Integral)
			return apps.Answer{
				Text: fmt.Sprintf("%s: %.15g, wrong by at most %.2g; %d intervals, halved %d times at most", g.name,
					r.Value, r.Error, r.Intervals, r.Depth),
				Fields: map[string]any{
					"function": g.name, "value": r.Value, "error": r.Error, "exact": g.exact(),
					"intervals": r.Intervals, "depth": r.Depth,
				},
			}
		},
	}
}

// check compares with the exact value.
func (g *integrand) check(r Integral, epsilon float64) error {
	if off := math.Abs(r.Value - g.exact()); !(off <= epsilon) { // not a number is wrong too
		return fmt.Errorf("%.6g is off by %.6g, more than %g", r.Value, off, epsilon)
	}
	if !(r.Error <= epsilon) {
		return fmt.Errorf("the error is only known to be below %.6g, not %g", r.Error, epsilon)
	}
	return nil
}
