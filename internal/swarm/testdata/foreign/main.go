// Foreign is a satin-peer with an application whose jobs have factor of the GNU coreutils run.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"strconv"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/cli"
)

func init() { satin.RegisterErr("primes.count", count) }

// Range is from From up to and without To.
type Range struct{ From, To int }

const leaf = 200

// count counts primes.
func count(f *satin.Frame, r Range) (int, error) {
	if r.To-r.From > leaf {
		mid := (r.From + r.To) / 2
		x := satin.SpawnErr(f, count, Range{r.From, mid})
		n, err := count(f, Range{mid, r.To})
		m, fault := x.Get()
		return n + m, errors.Join(err, fault)
	}
	var numbers []string
	for i := r.From; i < r.To; i++ {
		numbers = append(numbers, strconv.Itoa(i))
	}
	out, err := satin.Exec(f, "factor", nil, numbers...)
	n := 0
	for line := range bytes.Lines(out) {
		if len(bytes.Fields(line)) == 2 {
			n++
		}
	}
	return n, err
}

func main() {
	cli.Main(apps.App{Name: "primes", Summary: "Count primes by factor", Args: "N", Executables: []string{"factor"},
		Setup: func(*flag.FlagSet) func([]string) (*apps.Problem, error) {
			return func(args []string) (*apps.Problem, error) {
				n, err := strconv.Atoi(args[0])
				if err != nil {
					return nil, &apps.InputError{What: "N", Got: args[0], Want: "a number"}
				}
				return &apps.Problem{Title: "primes", Root: "primes.count", Arg: Range{2, n},
					Sequential: func() any { return 0 }, Check: func(any) error { return nil },
					Answer: func(r any) apps.Answer { return apps.Answer{Text: fmt.Sprint(r)} }}, nil
			}
		}})
}
