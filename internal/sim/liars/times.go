package liars

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/satin-peer/satin/verify"
)

// found says how many of the jobs of one liar, each of some 500 nodes whose times have a heavy tail, spot checks
// find wrong; quiet: nobody says how long nodes took, so all are drawn alike.
func found(is Character, rate float64, quiet bool, jobs int) (of, caught int, err error) {
	for seed := range jobs {
		r, err := Run(Config{Seed: uint64(seed), Verify: spotted(rate), Peers: 1, Liars: 1, Is: is, Jobs: 1,
			Deepest: 12, Heavy: true, Quiet: quiet, Used: true})
		if err != nil {
			return 0, 0, fmt.Errorf("%s, seed %d: %w", is, seed, err)
		}
		of, caught = of+r.Lied, caught+r.Caught
	}
	return of, caught, nil
}

// cost is the part of the time of all nodes that the owner takes to run some of them again, where nobody lies; of some
// schedules, and how much it varies among these.
func cost(rate float64, heavy, quiet bool, schedules int) (mean, deviation float64, err error) {
	var squares float64
	for seed := range schedules {
		r, err := Run(Config{Seed: uint64(seed), Verify: spotted(rate), Peers: 20, Jobs: 100, Deepest: 11, Heavy: heavy,
			Quiet: quiet, Used: true})
		if err != nil {
			return 0, 0, fmt.Errorf("honest, seed %d: %w", seed, err)
		}
		share := float64(r.OwnTime) / float64(r.Time)
		mean, squares = mean+share/float64(schedules), squares+share*share/float64(schedules)
	}
	return mean, math.Sqrt(max(squares-mean*mean, 0)), nil
}

func spotted(rate float64) verify.Config {
	return verify.Config{Quorum: 1, Own: true, Wait: time.Minute, MaxOpen: 1000, Spot: rate}
}

// times prints what spot checks cost in time, and what they find of wrong nodes that take long, with the draws by time
// and without them.
func times(w io.Writer, schedules int) error {
	jobs := 50 * schedules
	fmt.Fprintf(w, "\n## Nodes that take long\n\nSpot checks draw nodes alike, and then by the time that their authors say they took "+
		"(`verify/audit.go`). Cost: the part of all nodes' time for which the owner runs some again, where nobody lies, on the average of "+
		"%d schedules as above, and its deviation; nodes take 1 ms each, or times with a heavy tail: longer ones are as rare as t^-1.7, so "+
		"that a fiftieth takes more than 10 ms, and a fifth of all the time. Found: of %d jobs of some 500 nodes, with that tail, in which "+
		"the leaf is wrong that takes longest, or each that takes more than 10 ms.\n\n", schedules, jobs)
	fmt.Fprintln(w, "| spot | drawn | cost, times alike, % | cost, heavy tail, % | longest leaf found, % | long leaves found, % |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|")
	for _, rate := range []float64{0.01, 0.1} {
		for _, quiet := range []bool{true, false} {
			drawn := map[bool]string{true: "alike", false: "alike, and by time"}[quiet]
			row := fmt.Sprintf("| %g%% | %s |", 100*rate, drawn)
			for _, heavy := range []bool{false, true} {
				mean, deviation, err := cost(rate, heavy, quiet, schedules)
				if err != nil {
					return err
				}
				row += fmt.Sprintf(" %.2f ± %.2f |", 100*mean, 100*deviation)
			}
			for _, is := range []Character{Missing, Sparing} {
				of, caught, err := found(is, rate, quiet, jobs)
				if err != nil {
					return err
				}
				row += fmt.Sprintf(" %.1f |", percent(caught, of))
			}
			fmt.Fprintln(w, row)
		}
	}
	return nil
}
