package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/satin-peer/satin/internal/bench/ask"
)

// An instance is an application's input, of a quarter of a second to three on one core.
type instance struct {
	app     string
	args    string  // on the command line
	remark  string  // what is special about it, for the table
	slower  float64 // how much longer than its twin one worker may take; 0: no target
	speedup float64 // how much faster than the twin two workers should be
}

var instances = []instance{
	{app: "nqueens", args: "16", slower: 0.02, speedup: 1.9},
	{app: "uts", args: "T3", slower: 0.02, speedup: 1.9},
	{app: "uts", args: "--threshold 0 T1", remark: "a job for every node", speedup: 1.75},
	{app: "uts", args: "--threshold 0 T3", remark: "a job for every node", speedup: 1.75},
	{app: "tsp", args: "--random 70", slower: 0.02, speedup: 1.9},
	{app: "raytracer", args: "balls", slower: 0.02, speedup: 1.9},
	{app: "sat", args: "--waerden 3,10,97", slower: 0.02, speedup: 1.9},
	{app: "barneshut", args: "32768", speedup: 1.9},
	{app: "fib", args: "--threshold 20 42", speedup: 1.9},
	{app: "gene", args: "--generate 12,400,300", speedup: 1.9},
	{app: "grammar", args: "--generate 64 --words 3000 --depth 4", speedup: 1.9},
	{app: "integrate", args: "wave", remark: "the longest that is allowed", speedup: 1.9},
	{app: "knapsack", args: "--generate similar 90 1000 20", speedup: 1.9},
	{app: "othello", args: "--depth 16", speedup: 1.9},
	{app: "othello", args: "--perft 10", speedup: 1.9},
}

// wanted says whether an application is among those in the environment, as in APPS="uts sat", if there are any.
func wanted(app string) bool {
	only := strings.Fields(os.Getenv("APPS"))
	return len(only) == 0 || slices.Contains(only, app)
}

func (i instance) name() string {
	name := i.app + " " + i.args
	if i.remark != "" {
		name += " (" + i.remark + ")"
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(name, "../../apps/", "")), " ")
}

// golomb is the documents' example of a bound that all jobs share. Two at a time search another tree than the twin, as
// they prune by what the other has found: tried says how much larger it is.
var golomb = instance{app: "golomb", args: "11", remark: "a bound that all jobs share", slower: 0.03, speedup: 1.85}

// applications compares each application's sequential twin with its jobs on one and on two workers.
func applications(w *workshop, rounds int) ([]table, error) {
	chosen := slices.DeleteFunc(slices.Clone(instances), func(i instance) bool { return !wanted(i.app) })
	tables, err := besideTwins(w, rounds, "Applications beside their sequential twins", chosen...)
	if err == nil {
		tables[0].notes = append(tables[0].notes, bounds)
	}
	return tables, err
}

// bounds are what no measurement here can say.
const bounds = "What two cores can be at most, by recorded jobs (`satin-sim record`; each waits for what it waits for, and " +
	"nothing costs anything besides): barneshut 1.98 times as fast as the twin, fib 1.97, gene 1.99, grammar 1.94, integrate " +
	"2.00, knapsack 2.00, othello's counts 1.97. grammar's root computes 12 ms of 690 alone, in turns with five searches, and " +
	"its jobs repeat the merges that the twin has made; two workers take 8 to 11 jobs from each other and are idle for 1 to " +
	"2 % of their time. othello's search asks about positions that the twin never looks at."

// rulers does the same with the Golomb ruler.
func rulers(w *workshop, rounds int) ([]table, error) {
	tables, err := besideTwins(w, rounds, "The Golomb ruler beside its sequential twin", golomb)
	if err != nil {
		return nil, err
	}
	f := figure{name: "    distances that they try, over the twin", form: "%.1f %%"}
	for range counts {
		more, err := w.tried()
		if err != nil {
			return nil, err
		}
		f.values = append(f.values, 100*more)
	}
	t := &tables[0]
	t.figures = append(t.figures, f)
	t.notes = append(t.notes, fmt.Sprintf("The distances are counted in %d runs of two workers and the twin, by the compiler's "+
		"coverage, which makes them slow. One worker tries those of the twin.", counts))
	return tables, nil
}

// counts is how often the distances are counted that two workers try.
const counts = 3

// tried gives by how much two workers try more distances between marks than the twin. A test has both find the same
// ruler, and of each file what runs most often is the body of the loop over the distances.
func (w *workshop) tried() (float64, error) {
	progress("golomb: counting")
	profile := filepath.Join(w.dir, "golomb.cover")
	if err := run("go", "test", "-count=1", "-run=^TestOrderEleven$", "-covermode=atomic", "-coverprofile="+profile,
		"github.com/satin-peer/satin/examples/golomb"); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return 0, err
	}
	most := map[string]float64{}
	for line := range strings.Lines(string(text)) { // PACKAGE/FILE:FROM,TO STATEMENTS COUNT
		if at := strings.Fields(line); len(at) == 3 {
			file, _, _ := strings.Cut(path.Base(at[0]), ":")
			count, _ := strconv.ParseFloat(at[2], 64)
			most[file] = max(most[file], count)
		}
	}
	return most["golomb.go"]/most["twin.go"] - 1, nil
}

func besideTwins(w *workshop, rounds int, title string, instances ...instance) ([]table, error) {
	files, err := w.build("subject", "off", 1)
	if err != nil {
		return nil, err
	}
	// Three processes of the same program: one whose pool is idle, and one for each number of workers. The twin and
	// the leaves of the jobs are the same code at the same addresses in all of them.
	var programs [3]*ask.Program
	for workers := range programs {
		if programs[workers], err = w.startOne("subject", files); err != nil {
			return nil, err
		}
	}
	res, err := interleave(title, rounds, contestants(instances, programs[:]))
	if err != nil {
		return nil, err
	}
	t := table{title: title, notes: []string{res.note(),
		"A round runs the twin, one worker and two workers, the better of two runs of each, in a process of its own; one worker " +
			"and the twin count wall clock or the process's CPU time, whichever is less, two workers the wall clock.",
		"Default thresholds but where one is named. All answers are checked. The twin's process has an idle pool, so that it " +
			"enjoys the same garbage collection as the jobs. Each run has a pool of its own, in which no job knows what an " +
			"earlier run has found.",
		"CPU time over the twin's is what two workers do besides; what else they lack is waiting.",
	}}
	for _, i := range instances {
		one, two, twin := i.name()+"1", i.name()+"2", i.name()+"0"
		t.figures = append(t.figures,
			figure{name: i.name() + ": twin", form: "%.0f ms", values: res.each(func(round int) float64 {
				return res.cost(twin, round) / 1e6
			})},
			figure{name: "  1 worker, over the twin", form: "%.1f %%", atMost: 100 * i.slower, values: res.each(
				func(round int) float64 { return 100 * (res.cost(one, round)/res.cost(twin, round) - 1) })},
			figure{name: "  2 workers, times as fast as the twin", form: "%.2f x", least: i.speedup, values: res.each(
				func(round int) float64 { return res.cost(twin, round) / res.value(two, "wall", round) })},
			figure{name: "    their CPU time, over the twin", form: "%.1f %%", values: res.each(
				func(round int) float64 { return 100 * (res.value(two, "cpu", round)/res.cost(twin, round) - 1) })})
	}
	return []table{t}, nil
}

// contestants are the twin and the jobs of each instance, the latter by their number of workers. Two workers need all
// cores, which other programs may want: so the better of two runs counts, and of the twin and of one worker alike, for
// the better of two is faster than one.
func contestants(instances []instance, programs []*ask.Program) (list []entrant) {
	const runs = 2
	for _, i := range instances {
		for workers, p := range programs {
			question := append([]any{"solve", workers, runs, i.app}, words(i.args)...)
			list = append(list, entrant{fmt.Sprint(i.name(), workers), []*ask.Program{p}, question})
		}
	}
	return list
}

func words(line string) (list []any) {
	for _, word := range strings.Fields(line) {
		list = append(list, word)
	}
	return list
}

// leafSize is the board that leaf counts: some 0.8 s.
const leafSize = 16

// leaf compares the program that does nqueens' work at the bottom of the tree with the same in C.
func leaf(w *workshop, rounds int) ([]table, error) {
	t := table{title: "nqueens' leaf beside gcc"}
	f := figure{name: fmt.Sprintf("%d queens, Go over gcc -O3", leafSize), form: "%.1f %%", atMost: 10}
	if !found("gcc") {
		f.remark = "gcc: not installed"
		t.figures = []figure{f}
		return []table{t}, nil
	}
	binary := filepath.Join(w.dir, "nqueens")
	if err := run("gcc", "-O3", "-o", binary, "c/nqueens.c"); err != nil {
		return nil, err
	}
	files, err := w.build("subject", "off", 1)
	if err != nil {
		return nil, err
	}
	programs, err := w.start(files)
	if err != nil {
		return nil, err
	}
	res, err := interleave("leaf", rounds, []entrant{
		{"go", programs, []any{"solve", 0, 1, "nqueens", leafSize}},
		{"gcc", programs, []any{"foreign", binary, leafSize}},
	})
	if err != nil {
		return nil, err
	}
	f.values = res.each(func(round int) float64 { return 100 * (res.cost("go", round)/res.cost("gcc", round) - 1) })
	t.figures = []figure{f, {name: "gcc", form: "%.0f ms", values: res.each(func(round int) float64 {
		return res.cost("gcc", round) / 1e6
	})}}
	t.notes = []string{res.note(),
		"The sequential program of apps/nqueens, which is also the leaf of its jobs, and the same " +
			"algorithm in c/nqueens.c. Wall clock or CPU time of the process, whichever is less."}
	return []table{t}, nil
}
