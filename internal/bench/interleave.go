package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/bench/ask"
)

// patience bounds how long a program may take over one question.
const patience = 3 * time.Minute

// An entrant is one contender of a comparison: what to ask which program. The program may change from round to round,
// between builds with other code layouts.
type entrant struct {
	name     string
	programs []*ask.Program
	question []any
}

// results are the answers of an interleaved run, by entrant and round.
type results struct {
	answers map[string][]ask.Answer
	rounds  int
	others  []float64 // share of the machine that other programs used, for each question
}

// interleave asks all entrants in turn, round after round, every other round backwards, so that whatever
// happens to the machine happens to all of them alike. One round more, the first, warms up and does not
// count.
func interleave(what string, rounds int, entrants []entrant) (*results, error) {
	res := &results{answers: map[string][]ask.Answer{}, rounds: rounds}
	order := slices.Clone(entrants)
	for round := range rounds + 1 {
		progress("%s: round %d of %d", what, round, rounds)
		for _, e := range order {
			p := e.programs[round%len(e.programs)]
			load := startLoad(p.Pid())
			answer, err := p.Ask(patience, e.question...)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", e.name, err)
			}
			if round > 0 {
				res.answers[e.name] = append(res.answers[e.name], answer)
				if share := load.others(); !math.IsNaN(share) {
					res.others = append(res.others, share)
				}
			}
		}
		slices.Reverse(order)
	}
	progress("")
	return res, nil
}

// progress tells a waiting person what is going on, on standard error; an empty text wipes the line.
func progress(form string, args ...any) {
	if info, err := os.Stderr.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return
	}
	fmt.Fprintf(os.Stderr, "\r\x1b[K"+form, args...)
}

// value reads a number from an entrant's answer in one round. A number that is missing is a bug in the bench.
func (r *results) value(name, key string, round int) float64 {
	v, err := r.answers[name][round].Float(key)
	if err != nil {
		panic(fmt.Sprintf("bench: %s: %v", name, err))
	}
	return v
}

// cost is the time that an entrant's work took in one round, in ns: wall clock or the CPU time of its
// process, whichever is less. On a quiet machine they are the same for one thread of work; on a busy one the
// wall clock also counts the turns of other programs; where garbage collection runs beside the work, CPU time
// is more.
func (r *results) cost(name string, round int) float64 {
	return min(r.value(name, "wall", round), r.value(name, "cpu", round))
}

// each computes a number for each round: ratios are taken within a round, before any median.
func (r *results) each(compute func(round int) float64) []float64 {
	list := make([]float64, r.rounds)
	for round := range list {
		list[round] = compute(round)
	}
	return list
}

// note tells how busy the machine was with other things.
func (r *results) note() string {
	if len(r.others) == 0 {
		return fmt.Sprintf("%d rounds. How busy the machine was with other programs is not known here.", r.rounds)
	}
	_, median, high := spread(r.others)
	text := fmt.Sprintf("%d rounds. Other programs used %.0f %% of the machine meanwhile (upper quartile %.0f %%).",
		r.rounds, 100*median, 100*high)
	if high > 0.1 {
		text += " That is too much for figures that need all cores or a quick answer: they come out too bad."
	}
	return text
}
