package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/satin-peer/satin/internal/bench/ask"
)

// A rival is another way to run one of the kernels with a task for every call.
type rival struct {
	name     string
	kernel   string  // satin's kernel that it is compared with
	run      string  // the entrant that is the rival
	twin     string  // the entrant that is the same program without tasks, in the same language
	least    float64 // how many times satin's overhead it should take at least; 0: no target
	entrants []entrant
}

// goRivals run in the same programs as satin, and have the same twins.
func goRivals(programs []*ask.Program) []rival {
	var list []rival
	for _, r := range []struct {
		name, kernel, contender string
		size                    int
		least                   float64
	}{
		{"goroutine + WaitGroup", "fib", "fib.goroutines", slowSize, 80},
		{"golang.org/x/sync/errgroup", "fib", "fib.errgroup", slowSize, 0},
		{"sourcegraph/conc", "fib", "fib.conc", slowSize, 0},
		{"panjf2000/ants without bound", "fib", "fib.ants", slowSize, 0},
		{"alitto/pond without bound", "fib", "fib.pond", slowSize, 0},
		{"queens, goroutine + WaitGroup", "queens", "queens.goroutines", queensSize - 1, 0},
		{"uts, goroutine + WaitGroup", "uts", "uts.goroutines", utsSeed, 0},
	} {
		e := entrant{r.contender, programs, []any{r.contender, r.size, 1, 1}}
		list = append(list, rival{r.name, r.kernel, r.contender, r.kernel + ".sequential", r.least, []entrant{e}})
	}
	return list
}

// foreignRivals are those of other languages that are installed; for the rest it says that they are not.
func foreignRivals(w *workshop) (list []rival, absent []figure) {
	for _, r := range []struct {
		name, contender string
		size            int
		start           func() (*ask.Program, error)
		least           float64
	}{
		{"Java ForkJoinPool", "fib.forkjoinpool", 34, w.java, 3},
		{"oneTBB task_group", "fib.onetbb", 28, w.oneTBB, 10},
	} {
		p, err := r.start()
		if err != nil {
			remark := err.Error()
			if !errors.Is(err, errNotInstalled) {
				remark = "does not work here: " + remark
			}
			absent = append(absent, figure{name: r.name + ", times satin's", form: "%.1f x", least: r.least,
				remark: remark})
			continue
		}
		twin, run := r.contender+" twin", []*ask.Program{p}
		list = append(list, rival{r.name, "fib", r.contender, twin, r.least, []entrant{
			{twin, run, []any{"fib.sequential", r.size + 5, 1, 2}},
			{r.contender, run, []any{r.contender, r.size, 1, 2}},
		}})
	}
	return list, absent
}

// rivalTable compares satin with each rival: what both add to their sequential twins, and whole times.
func rivalTable(res *results, rivals []rival, more []figure) table {
	t := table{title: "Spawn and get beside others: a task for every call, 1 worker", notes: []string{
		fmt.Sprintf("fib unless another kernel is named; the rivals in Go run fib(%d) with GOMAXPROCS=1, the same minute as "+
			"the table above. errgroup and conc start a goroutine for each task.", slowSize),
		"\"Over its twin\" is what a task adds to the sequential program in the rival's own language; \"times satin's\" divides " +
			"that by what satin adds to its own. Whole times include the work itself, where C++ and Java have the " +
			"better compilers."}}
	for _, r := range rivals {
		satin, over := res.over(r.kernel, ""), res.each(func(round int) float64 {
			return res.perJob(r.run, round) - res.perJob(r.twin, round)
		})
		t.figures = append(t.figures,
			figure{name: r.name + ", over its twin", form: "%.1f ns", values: over},
			figure{name: "  times satin's", form: "%.1f x", least: r.least, values: res.each(func(round int) float64 {
				return over[round] / satin[round]
			})},
			figure{name: "  whole time, times satin's", form: "%.1f x", values: res.each(func(round int) float64 {
				return res.perJob(r.run, round) / res.perJob(r.kernel+".satin", round)
			})})
	}
	t.figures = append(t.figures, more...)
	return t
}

// boundedPools tries whether the pools of goroutines can nest when they have a bound, each in a program of its own.
func boundedPools(program string) []figure {
	const size, within = 8, 3 * time.Second
	var list []figure
	for _, r := range []struct{ name, contender string }{
		{"panjf2000/ants", "fib.ants.bounded"}, {"alitto/pond", "fib.pond.bounded"},
	} {
		f := figure{name: fmt.Sprintf("%s with %d goroutines", r.name, size), remark: "nested tasks work"}
		progress("%s, bounded", r.name)
		p, err := ask.Start(r.name, []string{program})
		if err == nil {
			_, err = p.Ask(within, r.contender, 20, size, 1)
			p.Close()
		}
		switch {
		case errors.Is(err, ask.ErrSilent):
			f.remark = fmt.Sprintf("nested tasks deadlock (silent for %v)", within)
		case err != nil:
			f.remark = err.Error()
		}
		list = append(list, f)
	}
	return list
}
