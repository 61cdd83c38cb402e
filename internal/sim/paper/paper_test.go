package paper

import (
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/sim"
)

// TestModelIsBelievable is the short form of Table I, of one application: where RS loses a third, CRS loses next to
// nothing, both within a few points of what is published.
func TestModelIsBelievable(t *testing.T) {
	const points = 5
	model := *raytracer
	model.shape.Grain *= 8 // fewer jobs, still hundreds for each peer
	columns := []int{0, 4, 4}
	for i, policy := range []string{"rs", "rs", "crs"} {
		at := &tableOneNetworks[columns[i]]
		c := (&Setup{App: &model, Network: at.network, Policy: policy, Overhead: model.Overhead}).Config(1)
		c.Core.StealGap = 10 * time.Millisecond // most of what happens is else that idle peers ask again
		r, err := sim.Run(c)
		if err != nil {
			t.Fatal(err)
		}
		want := tableOne[model.Name][policy][columns[i]]
		if got := efficiency(&model)(r); math.Abs(got-want) > points {
			t.Errorf("%s, %s, %s: %.1f %%, published %.1f %%", model.Name, policy, at.name, got, want)
		}
	}
}

// TestWorkIsWhatTablesDivideBy: a tree holds exactly the sequential time that efficiencies are computed from.
func TestWorkIsWhatTablesDivideBy(t *testing.T) {
	for _, a := range Apps() {
		total := sim.Sequential(a.Tree(1))
		if total.Work != a.Sequential {
			t.Errorf("%s: %v of work, want %v", a.Name, total.Work, a.Sequential)
		}
		if total.Jobs < 100_000 || total.Jobs > 5_000_000 {
			t.Errorf("%s: %d jobs", a.Name, total.Jobs)
		}
	}
}

// A few schedules with all policies and faults break no promise, and have jobs move and peers fail, or they would show
// nothing.
func TestExact(t *testing.T) {
	x, err := Exact(Options{Seeds: 1}, 5000, 10, sim.FaultKinds())
	if err != nil {
		t.Fatal(err)
	}
	if x.Failed > 0 {
		t.Errorf("%d violations, first %+v", x.Failed, x.Failures[0])
	}
	if x.Counts.Executed == 0 || x.Counts.Given == 0 || len(x.Policies) < 5 || len(x.Faults) < 10 {
		t.Errorf("the schedules do little: %+v", x)
	}
}

// TestRecoveryTrees: what the recovery experiments run is as long as they say, and can be divided among the peers.
func TestRecoveryTrees(t *testing.T) {
	for _, x := range recoveryTrees() {
		tree, err := x.tree(1)
		if err != nil {
			t.Fatal(err)
		}
		total := sim.Sequential(tree)
		if d := total.Work - recoveryWork; d.Abs() > recoveryWork/1000 || total.Jobs < 5_000 || total.Jobs > 50_000 {
			t.Errorf("%s: %d jobs, %v of work, want %v", x.name, total.Jobs, total.Work, recoveryWork)
		}
	}
}

// TestRecoveryPays is the short form of the recovery page: one tree, one seed.
func TestRecoveryPays(t *testing.T) {
	wanted := []string{planIdeal, "leave", "crash, master's", "crash, master's, naive"}
	plans := slices.DeleteFunc(slices.Clone(recoveryPlans),
		func(p plan) bool { return !slices.Contains(wanted, p.name) })
	coarse := recoveryTree{"gene-like", func(seed uint64) (sim.Tree, error) {
		tree, err := recoveryTrees()[0].tree(seed)
		if err == nil {
			tree.(*sim.Split).Grain *= 4 // fewer jobs, still dozens for each peer
		}
		return tree, err
	}}
	runs, err := measureRecovery(Options{Seeds: 1}, coarse, plans)
	if err != nil {
		t.Fatal(err)
	}
	if x := runs.compare("leave", planIdeal, overhead).median(); x > 3 {
		t.Errorf("half of the peers leave: %.1f %% over ideal", x)
	}
	if x := runs.compare("crash, master's", "crash, master's, naive", gain).median(); x < 20 {
		t.Errorf("the master's cluster crashes: %.1f %% better than naive", x)
	}
	if n, of := reused(runs["crash, master's"]); of == 0 || 100*n < leastReused*of {
		t.Errorf("%d of %d orphans are reused", n, of)
	}
}

// TestVerdicts: there is none where the figures do not allow it.
func TestVerdicts(t *testing.T) {
	orphans := func(again uint64) recoveryRuns {
		r := &sim.Report{}
		r.Counts.Orphans, r.Counts.OrphansAgain = 30, again
		return recoveryRuns{"x": {r, r}}
	}
	of := func(least, most float64, figures ...float64) (*recoveryTarget, recoveryRuns) {
		runs, next := recoveryRuns{"a": make([]*sim.Report, len(figures)), "b": make([]*sim.Report, len(figures))}, 0
		return &recoveryTarget{least: least, most: most, plan: "a", other: "b", by: func(_, _ *sim.Report) float64 {
			next++
			return figures[next-1]
		}}, runs
	}
	see := func(x *recoveryTarget, runs recoveryRuns, want string) {
		t.Helper()
		if ours, says := x.judge(runs); ours+": "+says != want {
			t.Errorf("%s: %s, want %s", ours, says, want)
		}
	}
	see(&recoveryTarget{orphansOf: "x"}, recoveryRuns{"x": {{}}}, "0 of 0: too few")
	see(&recoveryTarget{orphansOf: "x"}, orphans(0), "60 of 60: reached")
	see(&recoveryTarget{orphansOf: "x"}, orphans(1), "58 of 60: **missed**")
	for _, c := range []struct {
		least, most float64
		figures     []float64
		want        string
	}{
		{10, 0, sample{8, 11, 13}, "11.0 ±2.5: within the spread"}, {10, 0, sample{12, 13, 14}, "13.0 ±1.0: reached"},
		{10, 0, sample{5, 6}, "5.5 ±0.5: **missed**"}, {0, 10, sample{5, 6}, "5.5 ±0.5: reached"},
		{0, 10, sample{12, 13, 14}, "13.0 ±1.0: **missed**"}, {0, 10, sample{10}, "10.0: within the spread"},
	} {
		x, runs := of(c.least, c.most, c.figures...)
		see(x, runs, c.want)
	}
}

// Guards that a run that may be given up leaves a page with the others, and that no other run is given up.
func TestGivenUp(t *testing.T) {
	s := Setup{App: raytracer, Network: single(4), Policy: adaptive, Most: time.Second}
	reports, err := measure(Options{Seeds: 1}, []Setup{s})
	if err != nil || reports[0][0] != nil || collect(reports[0], elapsed).String() != "no result" {
		t.Errorf("a second for minutes of work: %v, %v", reports, err)
	}
	s.Most = time.Hour
	if reports, err = measure(Options{Seeds: 1}, []Setup{s}); err != nil || reports[0][0] == nil {
		t.Errorf("an hour: %v, %v", reports, err)
	}
}

// Guards that faults that pass, and lose nothing, cost a run little more than what was done twice while they lasted.
// Each of these once had half of the swarm do what the other half did, long after all was well again.
func TestPassingFaults(t *testing.T) {
	for _, x := range []struct {
		tree, fault string
		seed        uint64
		most        time.Duration
	}{
		{"raytracer", "line between the clusters down", 1, 40 * time.Second},
		{"tsp", "the master stands still", 4, 10 * time.Second},
		{"tsp", "all messages 1 s late", 6, 50 * time.Second},
	} {
		tree := slices.IndexFunc(recoveryTrees(), func(r recoveryTree) bool { return r.name == x.tree })
		fault := slices.IndexFunc(passingFaults(), func(p passing) bool { return p.name == x.fault })
		if tree < 0 || fault < 0 {
			t.Fatalf("no tree %q, or no fault %q", x.tree, x.fault)
		}
		c, err := recoveryConfig(recoveryTrees()[tree], passingFaults()[fault].plan(), x.seed, recoveryTime/2)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if longer := r.Elapsed - recoveryTime - 10*time.Second; longer > x.most {
			t.Errorf("%s, %s: %v longer, want %v at most", x.tree, x.fault, longer, x.most)
		}
	}
}

// The mean and the spread of a figure over its seeds are right, and one seed has no spread.
func TestSample(t *testing.T) {
	s := sample{1, 4, 7}
	if s.mean() != 4 || s.spread() != 3 || s.String() != "4.0 ±3.0" || (sample{2}).String() != "2.0" {
		t.Errorf("mean %v, spread %v, %q", s.mean(), s.spread(), s)
	}
}

// Guards that a page calls nothing reached that the seeds do not agree on, whatever its target, and says when it was
// made.
func TestPagesClaimNothingOnNoise(t *testing.T) {
	for want, s := range map[string]sample{"95 %: within the spread": {94, 95, 97}, "95 %: reached": {96, 97},
		"95 %: **missed**": {94}} {
		if got := goal(s, 95); got != want {
			t.Errorf("%v: %s, want %s", s, got, want)
		}
	}
	var d Document
	d.Made("satin-sim table %s", "x")
	if text := d.String(); !strings.HasPrefix(text, "Made by `satin-sim table x`, ") ||
		!strings.Contains(text, time.Now().Format("2006")) {
		t.Errorf("%q", d.String())
	}
}

// Every table is found by its name; what is no table or application is answered with the names, and no table is made
// of no runs.
func TestNames(t *testing.T) {
	for _, table := range Tables() {
		if got, err := TableNamed(table.Name); err != nil || got.About != table.About {
			t.Errorf("table %s is found as %q, %v", table.Name, got.About, err)
		}
	}
	if _, err := TableNamed("table9"); err == nil || !strings.Contains(err.Error(), "there are table1 figure2") {
		t.Errorf("error %v", err)
	}
	if _, err := AppNamed("fib"); err == nil || !strings.Contains(err.Error(),
		"there are integrate, nqueens, tsp, raytracer") {
		t.Errorf("error %v", err)
	}
	if _, err := (Table{}).Make(Options{}); err == nil {
		t.Error("a table of no seeds was made")
	}
}

// TestObjectsPage makes the page of programs that share data, of small ones: every program has its lines and columns.
func TestObjectsPage(t *testing.T) {
	list, err := objectsPrograms(objectsCores * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if list[2].spawns != 1_048_574 || list[2].syncs != 524_287 { // the paper has 1,049,087 and 524,800
		t.Errorf("gene spawns %d jobs and waits %d times", list[2].spawns, list[2].syncs)
	}
	// What the longest chain is bounds every run: what the root does alone is in it.
	if c := chain(list[0].tree); c <= 0 || c > list[0].work/100 || c < list[0].alone {
		t.Errorf("the longest chain is %v", c)
	}
	bodies := list[0].tree.(*sky)
	if n := len(bodies.writes); n != starSteps*starRegions {
		t.Errorf("%d regions are written in %d steps", n, starSteps)
	}
	for n := range bodies.writes {
		if step := bodies.Step(n); step < 1 || step > starSteps || bodies.Step(bodies.Children(n, nil)[0]) != step {
			t.Errorf("a region is written in step %d of %d", step, starSteps)
		}
	}
	small := list[2].gene(16, 32, 1, false, objectsCores*time.Second)
	small.larger = list[2].gene(32, 32, 1, false, 2*objectsCores*time.Second)
	flat := list[3].gene(16, 32, 1, true, objectsCores*time.Second)
	one, five := objectsPoints()
	x, err := measureObjects(Options{Seeds: 1}, []*program{list[0], small, flat}, one[1:3], five[:1])
	if err != nil {
		t.Fatal(err)
	}
	page := x.page(Options{Seeds: 1}).String()
	if strings.Contains(page, "%!") {
		t.Error("a format does not fit its words")
	}
	for i, p := range x.list {
		if n := strings.Count(page, "| "+p.name+" |"); n < 3 { // introduction, Table IV, where time goes
			t.Errorf("%s is there %d times", p.name, n)
		}
		four, sixteen := x.reports[i][0][0], x.reports[i][1][0]
		if four.Peers != 1 || four.Counts.Given != 0 || sixteen.Peers != 4 || sixteen.Elapsed >= four.Elapsed {
			t.Errorf("%s: %v on %d machines, with %d jobs given; %v on %d", p.name, four.Elapsed, four.Peers,
				four.Counts.Given, sixteen.Elapsed, sixteen.Peers)
		}
		last := x.reports[i][2][0]
		if p.runs(&x.points[2]) != (last != nil) || last != nil && last.Peers*coresOfOne != five[0].cores {
			t.Errorf("%s on two clusters: %v", p.name, last)
		}
	}
	if own, larger := x.reports[1][1][0], x.reports[1][2][0]; larger.Counts.Executed <= own.Counts.Executed {
		t.Errorf("on two clusters %d jobs, on one %d: the larger problem is not there", larger.Counts.Executed,
			own.Counts.Executed)
	}
}

// TestPairs: the parts of a problem are disjoint and all of it, and cost what they should.
func TestPairs(t *testing.T) {
	for _, flat := range []bool{false, true} {
		p := newPairs(13, 29, 400_000, time.Second)
		p.flat = flat
		total := sim.Sequential(p)
		spawns, syncs := p.counts()
		if uint64(spawns)+1 != total.Jobs || (syncs == 1) != flat {
			t.Errorf("%d spawns, %d syncs, and the tree has %d jobs", spawns, syncs, total.Jobs)
		}
		if off := total.Work - time.Second; off < -time.Microsecond || off > time.Microsecond {
			t.Errorf("%v of work", total.Work)
		}
		for _, n := range p.leaves(p.Root(), nil) {
			q0, q1 := ends(n.Size)
			s0, s1 := ends(n.Form)
			if p.letters(n) > p.leaf && (q1-q0 > 1 || s1-s0 > 1) {
				t.Errorf("a leaf has queries %d to %d, subjects %d to %d", q0, q1, s0, s1)
			}
		}
	}
}

// TestGame: on one core the search is nearly the sequential one; on several it takes less time, looks at more, finds
// the same value (sim.Run sees to that), and the table and aborts save some.
func TestGame(t *testing.T) {
	const depth, leaf, work = 12, 6, 1000 * time.Second
	points, _ := objectsPoints()
	runs, positions, err := measureGame(Options{Seeds: 1}, depth, leaf, work, []objectsPoint{points[0], points[2]},
		true)
	if err != nil {
		t.Fatal(err)
	}
	one, some, all := &runs[0], &runs[1], &runs[2]
	if e := one.reports[0].Efficiency(work); e < 0.8 || e > 1.1 {
		t.Errorf("one core is %.2f of the sequential program", e)
	}
	if some.reports[0].Elapsed >= one.reports[0].Elapsed || some.seen[0].positions <= positions {
		t.Errorf("16 cores take %v and look at %d positions, one takes %v for %d", some.reports[0].Elapsed,
			some.seen[0].positions, one.reports[0].Elapsed, positions)
	}
	aborted := [2]uint64{some.reports[0].Counts.Aborted, all.reports[0].Counts.Aborted}
	if all.seen[0].jobs <= some.seen[0].jobs || aborted[0] == 0 || aborted[1] > 0 {
		t.Errorf("with aborts %d jobs, without %d; %d are aborted", some.seen[0].jobs, all.seen[0].jobs, aborted)
	}
	for i, r := range runs {
		if r.seen[0].answered == 0 || r.seen[0].facts == 0 || r.seen[0].tells > r.seen[0].facts {
			t.Errorf("run %d: the table was of no use: %+v", i, r.seen[0])
		}
	}
	page := gamePage(Options{Seeds: 1}, depth, leaf, work, positions, runs).String()
	if strings.Contains(page, "%!") || !strings.Contains(page, " % on 16.") {
		t.Error(page)
	}
}

// Guards that runs that are kept are taken for themselves only: no two runs of a page have one name.
func TestRunsOfAPageHaveNames(t *testing.T) {
	for _, name := range []string{"table1", "figure2", "figure3", "scenarios", "close", "bounds"} {
		table, err := TableNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		asked := map[string]bool{}
		once := func(run string, _ func() (*sim.Report, error)) (*sim.Report, error) {
			mu.Lock()
			defer mu.Unlock()
			if asked[run] {
				t.Errorf("%s has two runs %s", name, run)
			}
			asked[run] = true
			return &sim.Report{Elapsed: time.Second, Peers: 1, Workers: 1}, nil
		}
		if _, err = table.Make(Options{Seeds: 2, Once: once}); err != nil || len(asked) == 0 {
			t.Errorf("%s has %d runs: %v", name, len(asked), err)
		}
	}
}
