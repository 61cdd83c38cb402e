package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/satin-peer/satin/internal/bench/wide/model"
)

// recoveryApps are the applications whose trees are run: package model has the trees, and the sleeping jobs
// are those of section wide.
var recoveryApps = []string{"raytracer", "nqueens", "tsp"}

const (
	recoveryRoundShare = 3 // one in so many of the rounds that are asked for: each takes a minute for each application
	// recoveryMid is when half of the peers go: in the middle of a run that takes model.Work and a little.
	recoveryMid = model.Work / 2
	half        = model.Peers / 2
)

// A fate is what befalls a swarm in the midst of its run.
type fate struct {
	name     string
	recovery string
	befall   func(s *sleepers) error
	owner    bool // it befalls the half that the owner is in: the run's end is seen by the others
}

// fates are compared; their swarms run at the same time.
var fates = []fate{
	{"nothing", "salvage", func(*sleepers) error { return nil }, false},
	{"crash", "salvage", (*sleepers).crash, false},
	{"crash, naive", "naive", (*sleepers).crash, false},
	{"leave", "salvage", (*sleepers).leave, false},
	{"crash of the owner's half", "salvage", nil, true},
	{"crash of the owner's half, naive", "naive", nil, true},
}

// recoveries measures what the loss of half of the peers costs, and what checkpoints cost.
func recoveries(w *workshop, rounds int) ([]table, error) {
	rounds = max(1, rounds/recoveryRoundShare)
	files, err := w.build("wide", "off", 1)
	if err != nil {
		return nil, err
	}
	var tables []table
	for _, part := range []func(*workshop, string, int) (table, error){halves, checkpoints} {
		t, err := part(w, files[0], rounds)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// halves has half of the peers go in the midst of runs.
func halves(w *workshop, binary string, rounds int) (table, error) {
	t := table{title: "Half of 8 processes go in the middle of a run", notes: []string{
		fmt.Sprintf("%d rounds. Jobs sleep for what they would cost (section wide), %v for each of 8 processes with one worker, in two clusters of "+
			"four without an emulated network. After %v the second cluster is killed (SIGKILL), or leaves; or the owner's is killed, and a deputy goes on. The swarms of a round run at the same time, "+
			"the same tree. Every result that the owner gets is checked.", rounds, model.Work, recoveryMid),
		"Ideal is the time of the swarm that nothing happens to, with what is left of it when half of the peers go taking twice as long.",
	}}
	for _, app := range recoveryApps {
		var crashed, gain, left, again, used, news, orphaned, saved []float64
		for round := range rounds {
			progress("recovery: %s, round %d of %d", app, round+1, rounds)
			tree, err := model.NewTree(app, round+1)
			if err != nil {
				return t, err
			}
			ran, err := tryFates(w, binary, tree)
			if err != nil {
				return t, fmt.Errorf("%s: %w", app, err)
			}
			whole, crash, naive, leave, master, masterNaive := ran[0], ran[1], ran[2], ran[3], ran[4], ran[5]
			ideal := recoveryMid + 2*(whole.took-recoveryMid)
			over := func(r sleeperRun) float64 { return 100 * (float64(r.took)/float64(ideal) - 1) }
			crashed, left = append(crashed, over(crash)), append(left, over(leave))
			gain = append(gain, 100*(1-float64(crash.took)/float64(naive.took)))
			orphaned = append(orphaned, over(master))
			saved = append(saved, 100*(1-float64(master.took)/float64(masterNaive.took)))
			again, news = append(again, crash.restarted), append(news, crash.news)
			used = append(used, crash.adopted+crash.reused)
		}
		t.figures = append(t.figures,
			figure{name: app + ": crash, less time than naive", form: "%.1f %%", values: gain, least: 25},
			figure{name: "  crash, over ideal", form: "%.1f %%", values: crashed},
			figure{name: "  jobs queued again", form: "%.0f", values: again},
			figure{name: "  orphans adopted or used again", form: "%.0f", values: used},
			figure{name: "  broadcasts", form: "%.0f", values: news},
			figure{name: "  crash of the owner's half, less time than naive", form: "%.1f %%", values: saved,
				least: 25},
			figure{name: "  the same, over ideal", form: "%.1f %%", values: orphaned},
			figure{name: "  leave, over ideal", form: "%.1f %%", values: left, atMost: 3})
	}
	progress("")
	return t, nil
}

// tryFates runs a tree in a swarm for each fate, all at the same time.
func tryFates(w *workshop, binary string, tree model.Tree) ([]sleeperRun, error) {
	swarms, err := newSleepers(w, binary, make([]float64, len(fates)))
	defer closeSleepers(swarms)
	if err != nil {
		return nil, err
	}
	return atOnce(len(fates), func(i int) (r sleeperRun, err error) {
		f := &fates[i]
		if f.owner {
			r, err = swarms[i].orphaned(tree, f.recovery)
		} else {
			r, err = swarms[i].run(tree, f.recovery, f.befall)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", f.name, err)
		}
		return r, err
	})
}

// atOnce does several things at the same time, so that what happens to the machine happens to all.
func atOnce[T any](n int, do func(i int) (T, error)) ([]T, error) {
	of, fails := make([]T, n), make([]error, n)
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { of[i], fails[i] = do(i) })
	}
	wait.Wait()
	return of, errors.Join(fails...)
}

// Periods of checkpoints that are compared, in seconds; 0 is none. A run of twenty seconds sees none of a
// minute's, but everything that is done for it is.
var checkpointPeriods = []float64{0, 60, 5}

// checkpoints compares runs with checkpoints and without.
func checkpoints(w *workshop, binary string, rounds int) (table, error) {
	t := table{title: "Checkpoints", notes: []string{
		fmt.Sprintf("%d rounds. As above, without faults. CPU time is that of all 8 processes; the jobs sleep, so it is what the runtime itself "+
			"uses, and little.", rounds),
	}}
	times := make([][]float64, len(checkpointPeriods)) // seconds
	// share of the run's time on one core, in percent of what 8 cores would do
	cpu := make([][]float64, len(checkpointPeriods))
	for round := range rounds {
		progress("recovery: checkpoints, round %d of %d", round+1, rounds)
		tree, err := model.NewTree("raytracer", round+1)
		if err != nil {
			return t, err
		}
		ran, err := tryPeriods(w, binary, tree)
		if err != nil {
			return t, err
		}
		for i, r := range ran {
			times[i] = append(times[i], r.took.Seconds())
			cpu[i] = append(cpu[i], 100*float64(r.cpu)/float64(r.took)/model.Peers)
		}
	}
	progress("")
	for i, every := range checkpointPeriods[1:] {
		var more []float64
		for round := range rounds {
			more = append(more, cpu[i+1][round]-cpu[0][round])
		}
		name, target := fmt.Sprintf("every %.0f s", every), 0.0
		if every == 60 {
			target = 2
		}
		t.figures = append(t.figures,
			figure{name: name + ", longer than without", form: "%.1f %%", values: moreThan(times[i+1], times[0]),
				atMost: target},
			figure{name: "  more CPU time, of 8 cores", form: "%.2f %%", values: more})
	}
	return t, nil
}

func tryPeriods(w *workshop, binary string, tree model.Tree) ([]sleeperRun, error) {
	swarms, err := newSleepers(w, binary, checkpointPeriods)
	defer closeSleepers(swarms)
	if err != nil {
		return nil, err
	}
	return atOnce(len(swarms), func(i int) (sleeperRun, error) { return swarms[i].run(tree, "salvage", nil) })
}

// newSleepers starts a swarm for each period of checkpoints.
func newSleepers(w *workshop, binary string, every []float64) (list []*sleepers, err error) {
	for i, period := range every {
		s, err := startSleepers(w, binary, i, period)
		list = append(list, s)
		if err != nil {
			return list, err
		}
	}
	for _, s := range list {
		if err := s.gather(); err != nil {
			return list, err
		}
	}
	return list, nil
}

func closeSleepers(list []*sleepers) {
	for _, s := range slices.Backward(list) {
		s.close()
	}
}
