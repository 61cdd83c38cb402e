package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/cputime"
	"github.com/satin-peer/satin/internal/swarm"
)

// A short run of many small jobs, of which the peers have to talk the most for what they compute.
const (
	costRun     = "uts T3 --threshold 100"
	costDaemons = 6
	costRuns    = 5 // in a round
)

// costs measures the CPU time that all processes of a swarm use for a short run, beside that of one process alone.
func costs(w *workshop, rounds int) (_ []table, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rounds+1)*swarmPatience)
	defer cancel()
	binary, err := swarm.Build(ctx, w.dir)
	if err != nil {
		return nil, err
	}
	var through, daemons, alone [2][]float64 // one daemon and six, and what these used themselves; twin and one process
	for i, n := range []int{1, costDaemons} {
		s, err := newSwarm(ctx, binary, w, slices.Repeat([]int{1}, n))
		if err != nil {
			return nil, err
		}
		for round := range rounds + 1 {
			progress("cost: %d daemons, round %d of %d", n, round, rounds)
			all, own, err := spentBy(ctx, s)
			if err != nil {
				return nil, errors.Join(err, s.Close())
			}
			if round > 0 {
				through[i], daemons[i] = append(through[i], all), append(daemons[i], own)
			}
		}
		if err := s.Close(); err != nil {
			return nil, err
		}
	}
	for round := range rounds + 1 {
		progress("cost: alone, round %d of %d", round, rounds)
		for i, how := range []string{"--sequential", "--local"} {
			spent, err := spentAlone(ctx, binary, w.dir, how)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				alone[i] = append(alone[i], spent)
			}
		}
	}
	progress("")
	return []table{{title: "What a short run costs, in CPU time of all processes", figures: []figure{
		{name: costRun + ", sequential", form: "%.2f s", values: alone[0]},
		{name: "  one worker of one process", form: "%.2f s", values: alone[1]},
		{name: "  through one daemon", form: "%.2f s", values: through[0]},
		{name: fmt.Sprintf("  through %d daemons", costDaemons), form: "%.2f s", values: through[1], atMost: 1.21},
		{name: "    of that the daemons, not their processes for jobs", form: "%.2f s", values: daemons[1]},
		{name: "    times that of one process", form: "%.2f", values: ratios(through[1], alone[1])},
	}, notes: []string{
		fmt.Sprintf("%d rounds of %d runs, one after the other, on swarms on loopback whose daemons have one worker each. The CPU time "+
			"is that of the daemons and of the processes in which they have computed, from before the first run until the last of these has ended; "+
			"not that of the command that asks for the run.", rounds, costRuns),
	}}}, nil
}

// spentBy gives the CPU time that a swarm uses for a run, and its daemons of that, in seconds: the mean of several
// runs.
func spentBy(ctx context.Context, s *swarm.Swarm) (all, daemons float64, err error) {
	before, own, children := swarmTime(s), daemonTime(s), childrenOf(s)
	for range costRuns {
		if _, err := s.Run(ctx, s.Peers[0], strings.Fields(costRun)...); err != nil {
			return 0, 0, err
		}
	}
	err = await(ctx, "all have left the run", func() (bool, error) { return childrenOf(s) <= children, nil })
	return (swarmTime(s) - before).Seconds() / costRuns, (daemonTime(s) - own).Seconds() / costRuns, err
}

func swarmTime(s *swarm.Swarm) (sum time.Duration) {
	for _, p := range s.Peers {
		sum += cputime.Of(p.PID())
	}
	return sum
}

// daemonTime is swarmTime without the processes that the daemons have started.
func daemonTime(s *swarm.Swarm) (sum time.Duration) {
	for _, p := range s.Peers {
		own, _ := cputime.Parts(p.PID())
		sum += own
	}
	return sum
}

// childrenOf counts the processes that the daemons of a swarm have started and not waited for.
func childrenOf(s *swarm.Swarm) (n int) {
	for _, p := range s.Peers {
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.PID())) // the pattern is right
		for _, list := range lists {
			text, _ := os.ReadFile(list) // the thread may have ended
			n += len(strings.Fields(string(text)))
		}
	}
	return n
}

// spentAlone gives the CPU time of a process that runs it by itself, in seconds.
func spentAlone(ctx context.Context, binary, dir, how string) (float64, error) {
	cmd := exec.CommandContext(ctx, binary, append([]string{"run", how}, strings.Fields(costRun)...)...)
	cmd.Env = []string{"HOME=" + dir, "SATIN_STATE_DIR=" + dir, "SATIN_RUNTIME_DIR=" + dir, "SATIN_WORKERS=1"}
	if _, err := swarm.Output(cmd); err != nil {
		return 0, err
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
}
