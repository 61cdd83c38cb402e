package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
)

// beforeLattices is the last commit in which jobs of tsp and knapsack carried in their arguments what they know of the
// best solution.
const beforeLattices = "0c500c5"

// searches are what is run of both.
var searches = []string{"tsp --random 95 --seed 2", "knapsack --generate strong 250 1000 50", "sat --waerden 3,11,114"}

// trees compares searches whose jobs share what they know with the same programs from before that, on two processes.
func trees(w *workshop, rounds int) (_ []table, err error) {
	ctx, cancel := context.WithTimeout(context.Background(),
		time.Duration(2*(rounds+1)*len(searches))*swarmPatience)
	defer cancel()
	t := table{title: "Searches that share what they know, beside those that carried it along"}
	now, err := swarm.Build(ctx, w.dir)
	if err != nil {
		return nil, err
	}
	old, err := w.buildOld(beforeLattices)
	if err != nil {
		t.figures = []figure{{name: "searches, now over then", remark: err.Error()}}
		return []table{t}, nil
	}
	var swarms [2]*swarm.Swarm // now, then
	defer func() {
		for _, s := range swarms {
			if s != nil {
				err = errors.Join(err, s.Close())
			}
		}
	}()
	for i, binary := range []string{now, old} {
		if swarms[i], err = newSwarm(ctx, binary, w, []int{1, 1}); err != nil {
			return nil, err
		}
	}
	order := []int{0, 1}
	for _, line := range searches {
		var found [2][]searched
		for round := range rounds + 1 {
			progress("trees: %s, round %d of %d", line, round, rounds)
			for _, i := range order {
				s, err := searchCounted(ctx, swarms[i], line)
				if err != nil {
					return nil, err
				}
				if round > 0 {
					found[i] = append(found[i], s)
				}
			}
			slices.Reverse(order)
		}
		t.figures = append(t.figures, compareSearches(line, found[0], found[1])...)
	}
	progress("")
	t.notes = []string{fmt.Sprintf("%d rounds, in turn, on two swarms of two processes with one worker each, on loopback: "+
		"the command as it is, and as it was in %s. Every answer is checked. A job of knapsack visits 20,000 nodes, so its jobs count those; what sat's jobs share is the same in both.",
		rounds, beforeLattices)}
	return []table{t}, nil
}

// buildOld builds the command of an earlier commit.
func (w *workshop) buildOld(commit string) (binary string, err error) {
	dir := filepath.Join(w.dir, commit)
	binary = filepath.Join(dir, "satin-peer")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	const unpack = `git -C ../.. archive --output="$1/sources.tar" "$2" && tar xf "$1/sources.tar" -C "$1"`
	if err := run("sh", "-c", unpack, "sh", dir, commit); err != nil {
		return "", fmt.Errorf("the sources of %s are not here: %w", commit, err)
	}
	return binary, run("go", "build", "-C", dir, "-o", binary, "./cmd/satin-peer")
}

// searched is what a run of a search took.
type searched struct {
	Answer  json.RawMessage `json:"answer"`
	Elapsed float64         `json:"elapsed_seconds"`
	Stats   struct {
		Restarted float64 `json:"restarted_jobs"`
	} `json:"swarm_stats"`
	Work swarmWork `json:"-"` // of trees only
}

// swarmWork is what the peers of a swarm have done since their start, by their own status: what a run's statistics
// count is what was heard of others when it ended, which the program of old did not wait for.
type swarmWork struct{ Executed, Busy, Taken, Vouching float64 }

func workOf(ctx context.Context, s *swarm.Swarm) (sum swarmWork, err error) {
	for _, p := range s.Peers {
		out, err := p.Command(ctx, "status", "--json")
		if err != nil {
			return sum, err
		}
		var status struct {
			Work struct {
				Executed float64 `json:"executed"`
				Busy     float64 `json:"busy_seconds"`
				Taken    float64 `json:"jobs_taken"`
				Vouching float64 `json:"vouching_seconds"`
			} `json:"work"`
		}
		if err := json.Unmarshal([]byte(out), &status); err != nil {
			return sum, err
		}
		sum.Executed, sum.Busy = sum.Executed+status.Work.Executed, sum.Busy+status.Work.Busy
		sum.Taken, sum.Vouching = sum.Taken+status.Work.Taken, sum.Vouching+status.Work.Vouching
	}
	return sum, nil
}

// searchWords are the words of the command that runs a search and tells of it.
func searchWords(line string) []string {
	return append(append([]string{"run"}, strings.Fields(line)...), "--json")
}

func search(ctx context.Context, s *swarm.Swarm, line string) (found searched, err error) {
	out, err := s.Peers[0].Command(ctx, append(searchWords(line), "--stats")...)
	if err != nil {
		return found, err
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil || found.Elapsed <= 0 {
		return found, fmt.Errorf("%s: no time in %q (%v)", line, out, err)
	}
	return found, nil
}

// searchCounted is a search, and all that the peers have done for it.
func searchCounted(ctx context.Context, s *swarm.Swarm, line string) (found searched, err error) {
	before, err := workOf(ctx, s)
	if err != nil {
		return found, err
	}
	if found, err = search(ctx, s, line); err != nil {
		return found, err
	}
	after, err := workOf(ctx, s)
	found.Work = swarmWork{Executed: after.Executed - before.Executed, Busy: after.Busy - before.Busy}
	if err == nil && found.Work.Executed <= 0 {
		err = fmt.Errorf("%s: no job was done", line)
	}
	return found, err
}

// compareSearches makes the lines of one search.
func compareSearches(line string, now, old []searched) []figure {
	each := func(value func(now, old *searched) float64) []float64 {
		list := make([]float64, len(now))
		for i := range list {
			list[i] = value(&now[i], &old[i])
		}
		return list
	}
	return []figure{
		{name: line, form: "%.2f s", values: each(func(n, _ *searched) float64 { return n.Elapsed })},
		{name: "  over the program of old", form: "%.3f", values: each(func(n, o *searched) float64 {
			return n.Elapsed / o.Elapsed
		})},
		{name: "  jobs, over those of old", form: "%.3f", values: each(func(n, o *searched) float64 {
			return n.Work.Executed / o.Work.Executed
		})},
		{name: "  time of workers in jobs, over that of old", form: "%.3f", values: each(func(n, o *searched) float64 {
			return n.Work.Busy / o.Work.Busy
		})},
	}
}
