package main

import (
	"fmt"
	"path/filepath"

	"github.com/satin-peer/satin/internal/bench/ask"
)

// Sizes of the kernels: some 50 to 100 ms a run for satin and its twins, so that clocks and start-up do not count.
const (
	fibSize    = 34
	queensSize = 12
	utsSeed    = 1
	slowSize   = 25 // fib for the rivals in Go, which take 100 times as long
)

// profileSeconds is how long the profile for -pgo is gathered.
const profileSeconds = 3

// forkJoin measures what a spawn and its get cost, with a job for every call and one worker.
func forkJoin(w *workshop, rounds int) ([]table, error) {
	plain, err := w.build("forkjoin", "off", layouts)
	if err != nil {
		return nil, err
	}
	normal, err := w.start(plain)
	if err != nil {
		return nil, err
	}
	progress("gathering a profile for %d s", profileSeconds)
	profile := filepath.Join(w.dir, "satin.pgo")
	if _, err := normal[0].Ask(patience, "profile", profile, profileSeconds); err != nil {
		return nil, err
	}
	guided, err := w.build("forkjoin", profile, layouts)
	if err != nil {
		return nil, err
	}
	pgo, err := w.start(guided)
	if err != nil {
		return nil, err
	}
	rivals := goRivals(normal)
	foreign, more := foreignRivals(w)
	rivals = append(rivals, foreign...)
	all := append(kernels(normal, ""), kernels(pgo, " with PGO")...)
	for _, r := range rivals {
		all = append(all, r.entrants...)
	}
	res, err := interleave("fork-join", rounds, all)
	if err != nil {
		return nil, err
	}
	more = append(more, boundedPools(plain[0])...)
	return []table{spawnTable(res), rivalTable(res, rivals, more)}, nil
}

// kernels are satin and its twins; each question is asked of the least of so many runs.
func kernels(programs []*ask.Program, suffix string) []entrant {
	var list []entrant
	for _, k := range []struct {
		kernel string
		size   int
		times  int
	}{{"fib", fibSize, 3}, {"queens", queensSize, 5}, {"uts", utsSeed, 10}} {
		for _, side := range []string{".sequential", ".satin"} {
			question := []any{k.kernel + side, k.size, 1, k.times}
			list = append(list, entrant{k.kernel + side + suffix, programs, question})
		}
		if k.kernel == "fib" {
			list = append(list, entrant{"fib.loop" + suffix, programs, []any{"fib.loop", k.size, 1, k.times}})
		}
	}
	return list
}

// perJob is what an entrant's run took for each job that the kernel spawns, in ns.
func (r *results) perJob(name string, round int) float64 {
	return r.cost(name, round) / r.value(name, "jobs", round)
}

// over is what spawning adds to the sequential twin in the same build, in ns a job.
func (r *results) over(kernel, suffix string) []float64 {
	return r.each(func(round int) float64 {
		return r.perJob(kernel+".satin"+suffix, round) - r.perJob(kernel+".sequential"+suffix, round)
	})
}

func spawnTable(res *results) table {
	const ns = "%.1f ns"
	whole := func(name string) []float64 {
		return res.each(func(round int) float64 { return res.perJob(name, round) })
	}
	bytes := res.each(func(round int) float64 {
		return res.value("fib.satin", "bytes", round) / res.value("fib.satin", "jobs", round)
	})
	twins := res.each(func(round int) float64 {
		return res.perJob("fib.satin", round) / res.perJob("fib.sequential", round)
	})
	loops := res.each(func(round int) float64 {
		return res.perJob("fib.loop", round) / res.perJob("fib.satin", round)
	})
	t := table{
		title: "Spawn and get: a job for every call, 1 worker",
		figures: []figure{
			{name: "fib, over the sequential twin", values: res.over("fib", ""), form: ns, atMost: 4.5},
			{name: "fib, over the twin, built with a profile (PGO)", values: res.over("fib", " with PGO"), form: ns},
			{name: "memory allocated for a job (fib)", values: bytes, form: "%.3f B", atMost: 0.01},
			{name: "the sequential twin of fib, for each spawn", values: whole("fib.sequential"), form: ns},
			{name: "fib as a multiple of its twin", values: twins, form: "%.2f x"},
			{name: "fib, its one child in a Results loop", values: whole("fib.loop"), form: ns},
			{name: "fib, its one child by Spawn and Get", values: whole("fib.satin"), form: ns},
			{name: "the loop as a multiple of Spawn and Get (the paper's Table III: 384 / 315 = 1.22)", values: loops,
				form: "%.2f x", atMost: 1.22},
			{name: "queens, over its twin", values: res.over("queens", ""), form: ns},
			{name: "queens, over its twin, with PGO", values: res.over("queens", " with PGO"), form: ns},
			{name: "uts, over its twin", values: res.over("uts", ""), form: ns},
			{name: "uts, over its twin, with PGO", values: res.over("uts", " with PGO"), form: ns},
		},
	}
	t.notes = []string{
		res.note(),
		fmt.Sprintf("fib(%d), %d queens without symmetry, and an unbalanced tree with a cheap node. Least of 3 to 10 runs in a "+
			"round, wall clock or CPU time of the process, whichever is less. Job IDs, abort and counters are on: there is no "+
			"way to have them off.", fibSize, queensSize),
		fmt.Sprintf("The programs are built %d times with their functions in another order in memory "+
			"(-ldflags=-randlayout); rounds take turns.", layouts),
		"What a run allocates (its root's record, a stack that grows) divided by its jobs; no spawn allocates: 0 B/op.",
		fmt.Sprintf("PGO: the bench records %d s of CPU profile from the same program and builds it again with -pgo. To have "+
			"that in your own program: let it run under runtime/pprof.StartCPUProfile, save the profile as default.pgo "+
			"beside your main.go, and build as always.", profileSeconds),
	}
	return t
}
