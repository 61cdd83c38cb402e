package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/swarm"
)

// swarmInstances are two runs of several seconds on one core and two of little more than one, of which the hundredths
// of a second that it costs a swarm to start a run are a larger part.
var swarmInstances = []string{"nqueens 17", "tsp --random 95 --seed 2", "uts T1L", "raytracer balls --samples 2"}

// formations are the swarms that are compared, each of processes with so many workers.
var formations = []struct {
	name    string
	workers []int
}{
	{"1 process, 1 worker", []int{1}},
	{"2 processes, 1 worker each", []int{1, 1}},
	{"1 process, 2 workers", []int{2}},
}

const (
	swarmPatience = 2 * time.Minute
	joins         = 5  // how often a newcomer joins, in all
	crowd         = 50 // processes on this machine
)

// swarms measures real processes of the command on loopback.
func swarms(w *workshop, rounds int) ([]table, error) {
	binary, err := swarm.Build(context.Background(), w.dir)
	if err != nil {
		return nil, err
	}
	var tables []table
	for _, part := range []func(string, *workshop, int) (table, error){processes, arrivals, crowds} {
		t, err := part(binary, w, rounds)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

func newSwarm(ctx context.Context, binary string, w *workshop, workers []int, settings ...string) (*swarm.Swarm,
	error) {
	s := &swarm.Swarm{Binary: binary, Dir: w.dir, Settings: append([]string{"SATIN_CLUSTER=here",
		"SATIN_PRIORITY=normal"}, settings...)}
	for _, n := range workers {
		if _, err := s.Start(ctx, fmt.Sprintf("SATIN_WORKERS=%d", n)); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// elapsed runs an application through the first process and gives the run's own time, in seconds.
func elapsed(ctx context.Context, s *swarm.Swarm, line string) (float64, error) {
	out, err := s.Run(ctx, s.Peers[0], append(strings.Fields(line), "--json")...)
	if err != nil {
		return 0, err
	}
	seconds, err := ownTime([]byte(out))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", line, err)
	}
	return seconds, nil
}

// processes compares two processes with one, and with two workers of one.
func processes(binary string, w *workshop, rounds int) (_ table, err error) {
	ctx, cancel := context.WithTimeout(context.Background(),
		time.Duration(rounds+1)*swarmPatience*time.Duration(len(swarmInstances)))
	defer cancel()
	running := make([]*swarm.Swarm, len(formations))
	defer func() {
		for _, s := range running {
			if s != nil {
				err = errors.Join(err, s.Close())
			}
		}
	}()
	for i, f := range formations {
		if running[i], err = newSwarm(ctx, binary, w, f.workers); err != nil {
			return table{}, err
		}
	}
	times := make([][][]float64, len(swarmInstances)) // by instance, formation, round
	order := []int{0, 1, 2}
	for i, line := range swarmInstances {
		times[i] = make([][]float64, len(formations))
		for round := range rounds + 1 {
			progress("swarm: %s, round %d of %d", line, round, rounds)
			for _, f := range order {
				t, err := elapsed(ctx, running[f], line)
				if err != nil {
					return table{}, err
				}
				if round > 0 {
					times[i][f] = append(times[i][f], t)
				}
			}
			slices.Reverse(order)
		}
	}
	progress("")
	t := table{title: "Processes beside workers", notes: []string{
		fmt.Sprintf("%d rounds. Real processes of the command in one swarm on loopback, with all that it does: announcing the run, stealing, "+
			"keeping the answer. The time is from the submission to the kept answer. Every answer is checked.", rounds),
	}}
	for i, line := range swarmInstances {
		t.figures = append(t.figures,
			figure{name: line + ": " + formations[0].name, form: "%.2f s", values: times[i][0]},
			figure{name: "  " + formations[1].name + ", times as fast", form: "%.2f x", least: 1.9,
				values: ratios(times[i][0], times[i][1])},
			figure{name: "  " + formations[1].name + ", over two workers of one process", form: "%.1f %%",
				atMost: 3, values: moreThan(times[i][1], times[i][2])})
	}
	return t, nil
}

// arrivals measures how soon a newcomer works.
func arrivals(binary string, w *workshop, _ int) (table, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	come, err := newcomers(ctx, binary, w)
	return table{title: "Coming", notes: []string{
		fmt.Sprintf("%d newcomers to a swarm of one process that runs nqueens 18, from starting the program to its first stolen job.",
			joins),
	}, figures: []figure{{name: "start to first stolen job", form: "%.2f s", values: come, atMost: 2}}}, err
}

// await polls a condition; the wait between two looks is small beside what is measured.
func await(ctx context.Context, what string, true func() (bool, error)) error {
	for {
		ok, err := true()
		if err != nil || ok {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, ctx.Err())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func newcomers(ctx context.Context, binary string, w *workshop) (times []float64, err error) {
	s, err := newSwarm(ctx, binary, w, []int{1})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, err := s.Run(ctx, s.Peers[0], "nqueens", "18", "--detach"); err != nil {
		return nil, err
	}
	for range joins {
		progress("swarm: newcomer %d of %d", len(times)+1, joins)
		began := time.Now()
		p, err := s.Start(ctx)
		if err != nil {
			return nil, err
		}
		if err := await(ctx, "a newcomer steals", func() (bool, error) {
			st, err := p.Client().Status(ctx)
			return st.Work.Taken > 0, err
		}); err != nil {
			return nil, err
		}
		times = append(times, time.Since(began).Seconds())
		if err := p.Kill(); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// crowds starts many processes and has them finish a run.
func crowds(binary string, w *workshop, _ int) (_ table, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	progress("swarm: %d processes", crowd)
	s, err := newSwarm(ctx, binary, w, slices.Repeat([]int{1}, crowd))
	if err != nil {
		return table{}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	took, err := elapsed(ctx, s, "nqueens 17")
	if err != nil {
		return table{}, err
	}
	worked := 0.0
	for _, p := range s.Peers {
		st, err := p.Client().Status(ctx)
		if err != nil {
			return table{}, err
		}
		if st.Work.Executed > 0 {
			worked++
		}
	}
	progress("")
	return table{title: "A crowd", notes: []string{fmt.Sprintf("%d processes with one worker each on this machine.",
		crowd)}, figures: []figure{
		{name: "processes that worked on nqueens 17", form: "%.0f", values: []float64{worked}, least: crowd},
		{name: "the run took", form: "%.1f s", values: []float64{took}},
	}}, nil
}
