package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
)

// apartInstances are runs of some ten seconds, with many small jobs and few large ones, and with what jobs share:
// beside them the start of a process counts little. APPS chooses among them.
var apartInstances = []string{"nqueens 17", "uts T1L", "tsp --random 115 --seed 3", "raytracer balls --samples 12",
	"sat --waerden 3,12,135"}

// apart compares one process that does all with a daemon that has a process of its own compute: what it costs that no
// job can harm more than that, and what it costs besides that work outlives its peer. The difference is smaller than
// what other machines' load does to a single run, which only ever makes it longer: so there are many rounds, and the
// least of each way is compared, too.
//
// In a naive run nothing is kept, as in the one process; so the difference between these two is the process.
func apart(w *workshop, rounds int) (_ []table, err error) {
	rounds *= 3
	ctx, cancel := context.WithTimeout(context.Background(),
		time.Duration(2*(rounds+1)*len(apartInstances))*swarmPatience)
	defer cancel()
	binary, err := swarm.Build(ctx, w.dir)
	if err != nil {
		return nil, err
	}
	t := table{title: "Applications in a process of their own", notes: []string{
		fmt.Sprintf("%d rounds: run --local, and runs through a daemon that is alone, with as many workers: a naive one, of which "+
			"nothing is kept, as of the local one, and one that could be recovered. The time is the run's own. "+
			"The CPU time is that of the daemon and of the process in which it has computed, and of the one process; not that of "+
			"the command that asks the daemon. Every answer is checked.", rounds),
	}}
	for _, line := range apartInstances {
		if !wanted(strings.Fields(line)[0]) {
			continue
		}
		p := &apartPair{line: line, workers: runtime.NumCPU(), binary: binary, w: w}
		if err := p.measure(ctx, rounds); err != nil {
			return nil, err
		}
		t.figures = append(t.figures, p.figures()...)
	}
	return []table{t}, nil
}

// Ways to run an application.
const (
	oneProcess = iota
	apartNaive
	apartKept
	apartWays
)

// An apartPair is an application with so many workers, in each of the ways.
type apartPair struct {
	line      string
	workers   int
	binary    string
	w         *workshop
	wall, cpu [apartWays][]float64 // s
}

func (p *apartPair) measure(ctx context.Context, rounds int) (err error) {
	s, err := newSwarm(ctx, p.binary, p.w, []int{p.workers})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	ways := [apartWays]func(context.Context, *swarm.Swarm) (wall, cpu float64, err error){
		oneProcess: p.together,
		apartNaive: func(ctx context.Context, s *swarm.Swarm) (wall, cpu float64, err error) {
			return p.apart(ctx, s, " --recovery naive")
		},
		apartKept: func(ctx context.Context, s *swarm.Swarm) (wall, cpu float64, err error) {
			return p.apart(ctx, s, "")
		},
	}
	for round := range rounds + 1 {
		progress("apart: %s, %d workers, round %d of %d", p.line, p.workers, round, rounds)
		for i := range ways {
			way := (i + round) % len(ways)
			wall, cpu, err := ways[way](ctx, s)
			if err != nil {
				return err
			}
			if round > 0 {
				p.wall[way], p.cpu[way] = append(p.wall[way], wall), append(p.cpu[way], cpu)
			}
		}
	}
	progress("")
	return nil
}

// together runs it in one process.
func (p *apartPair) together(ctx context.Context, _ *swarm.Swarm) (wall, cpu float64, err error) {
	words := []string{"run", "--local", "--json", fmt.Sprintf("--workers=%d", p.workers)}
	words = append(words, strings.Fields(p.line)...)
	cmd := exec.CommandContext(ctx, p.binary, words...)
	cmd.Env = []string{"HOME=" + p.w.dir, "SATIN_STATE_DIR=" + p.w.dir, "SATIN_RUNTIME_DIR=" + p.w.dir,
		"SATIN_PRIORITY=normal"}
	out, err := swarm.Output(cmd)
	if err != nil {
		return 0, 0, err
	}
	wall, err = ownTime(out)
	return wall, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), err
}

// apart runs it through the daemon. Its process counts when it has ended.
func (p *apartPair) apart(ctx context.Context, s *swarm.Swarm, flags string) (wall, cpu float64, err error) {
	before, children := swarmTime(s), childrenOf(s)
	if wall, err = elapsed(ctx, s, p.line+flags); err != nil {
		return 0, 0, err
	}
	err = await(ctx, "the process has ended", func() (bool, error) { return childrenOf(s) <= children, nil })
	return wall, (swarmTime(s) - before).Seconds(), err
}

func (p *apartPair) figures() []figure {
	list := []figure{{name: fmt.Sprintf("%s, %d workers: one process", p.line, p.workers), form: "%.2f s",
		values: p.wall[oneProcess]}}
	for way, name := range [apartWays]string{apartNaive: "apart, nothing kept", apartKept: "apart, and kept"} {
		if name == "" {
			continue
		}
		goal := 0.0
		if way == apartNaive {
			goal = 1
		}
		for _, of := range []struct {
			what  string
			times *[apartWays][]float64
		}{{"longer", &p.wall}, {"more CPU time", &p.cpu}} {
			least := 100 * (slices.Min(of.times[way])/slices.Min(of.times[oneProcess]) - 1)
			list = append(list,
				figure{name: "  " + name + ": " + of.what + " by", form: "%.1f %%",
					values: moreThan(of.times[way], of.times[oneProcess])},
				figure{name: "  the least of each: " + of.what + " by", form: "%.1f %%", values: []float64{least},
					atMost: goal})
		}
	}
	return list
}

// ownTime is how long a run says that it took, in seconds.
func ownTime(report []byte) (float64, error) {
	var r struct {
		Elapsed float64 `json:"elapsed_seconds"`
	}
	if err := json.Unmarshal(report, &r); err != nil || r.Elapsed <= 0 {
		return 0, fmt.Errorf("no time in %q (%v)", report, err)
	}
	return r.Elapsed, nil
}
