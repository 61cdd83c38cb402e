package golomb

import (
	"flag"
	"fmt"

	"github.com/satin-peer/satin/apps"
)

// App is the application as the command knows it.
var App = apps.App{
	Name:     "golomb",
	Summary:  "Find a shortest Golomb ruler",
	Args:     "MARKS",
	Long:     "Finds a shortest ruler with so many marks whose distances are all different, by branch and bound.",
	Examples: []string{"11", "10 --leaf 6"},
	Setup: func(fs *flag.FlagSet) func([]string) (*apps.Problem, error) {
		leaf := fs.Int("leaf", 0, "marks that a job places without spawning; 0 chooses")
		return func(args []string) (*apps.Problem, error) {
			if len(args) != 1 {
				return nil, apps.ArgCount(args, 1, "MARKS")
			}
			marks, err := apps.Int("MARKS", args[0], 2, MaxMarks)
			if err != nil {
				return nil, err
			}
			if err := apps.IntRange("--leaf", *leaf, 0, MaxMarks); err != nil {
				return nil, err
			}
			if *leaf == 0 {
				*leaf = max(marks-4, 1)
			}
			return problem(Problem{marks, *leaf}), nil
		}
	},
}

func problem(p Problem) *apps.Problem {
	return &apps.Problem{
		Title: fmt.Sprintf("a Golomb ruler with %d marks", p.Marks), Root: "golomb.solve", Arg: p,
		Sequential: func() any { return Sequential(p.Marks) },
		Check: func(result any) error {
			r, ok := result.(Ruler)
			if !ok || len(r.Places) == 0 || r.length() != shortest[p.Marks] {
				return fmt.Errorf("%v has not the published length, %d", result, shortest[p.Marks])
			}
			return isRuler(p.Marks, r)
		},
		Answer: func(result any) apps.Answer {
			r, _ := result.(Ruler)
			return apps.Answer{Text: fmt.Sprintf("length %d: %v", r.length(), r.Places),
				Fields: map[string]any{"length": r.length(), "places": r.Places}}
		},
	}
}
