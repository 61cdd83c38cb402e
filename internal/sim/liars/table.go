package liars

import (
	"fmt"
	"io"
	"time"

	"github.com/satin-peer/satin/verify"
)

// A Mode is a way to verify, as tables call it.
type Mode struct {
	Name   string
	Config verify.Config
	Record uint64 // comparisons that each peer has passed before, patient liars too
}

// Modes are those of the table.
func Modes() []Mode {
	base := verify.Config{Quorum: 1, Own: true, Wait: time.Minute, MaxOpen: 1000}
	quorum := base
	quorum.Quorum = 2
	return []Mode{{Name: "members", Config: base}, {Name: "spot=1%", Config: spotted(0.01)},
		{Name: "spot=10%", Config: spotted(0.1)}, {Name: "quorum=2", Config: quorum},
		{Name: "doubt=1e-4", Config: doubt(base)}, {Name: "doubt=1e-4, 100 before", Config: doubt(base), Record: 100},
		{Name: "doubt=1e-4, 1000 before", Config: doubt(base), Record: 1000}}
}

// Table prints what each way costs and lets through: schedules of 20 peers, of which some lie in one way, and 100
// jobs given away of some 120 nodes each.
func Table(w io.Writer, schedules int) error {
	fmt.Fprintf(w, "%d schedules for each row; 20 peers, 100 jobs. Liars have an introducer each: the worst case for quorums. "+
		"What is accepted is used at once. By \"before\" each peer has passed so many comparisons; of liars the patient only.\n\n",
		schedules)
	fmt.Fprintln(w, "| mode | liars | wrong, % | of these said to rest on liars, % | nodes run, times | of them by the owner, % | openings a job | liars caught, % |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, m := range Modes() {
		for _, is := range append([]Character{Honest}, Characters()...) {
			for _, liars := range []int{1, 4} {
				if is == Honest && liars > 1 {
					continue
				}
				var sum Result
				for seed := range schedules {
					r, err := Run(Config{Seed: uint64(seed), Verify: m.Config, Peers: 20, Liars: liars, Is: is,
						Jobs: 100, Deepest: 11, Used: true, Record: m.Record, Fresh: is != Patient})
					if err != nil {
						return fmt.Errorf("%s, %d %s, seed %d: %w", m.Name, liars, is, seed, err)
					}
					sum.add(&r)
				}
				fmt.Fprintf(w, "| %s | %d %s | %.2f | %s | %.2f | %.2f | %.1f | %s |\n", m.Name, liars, is,
					percent(sum.Wrong, sum.Jobs), said(&sum), float64(sum.Ran)/float64(sum.Needed),
					percent(sum.Owner, sum.Ran), float64(sum.Openings)/float64(sum.Jobs), caught(&sum))
			}
		}
	}
	return times(w, schedules)
}

func percent(part, of int) float64 { return 100 * float64(part) / float64(max(of, 1)) }

func caught(r *Result) string {
	if r.Lied == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", percent(r.Caught, r.Lied))
}

// said is how much of what is wrong the core names in the end.
func said(r *Result) string {
	if r.Wrong == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", min(100, percent(r.OnLiars, r.Wrong)))
}
