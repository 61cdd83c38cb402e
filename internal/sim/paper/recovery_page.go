package paper

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/satin-peer/satin/internal/sim"
)

// compare makes a figure of a plan's runs and another's, seed by seed.
func (r recoveryRuns) compare(plan, other string, figure func(ours, others *sim.Report) float64) sample {
	s := make(sample, len(r[plan]))
	for i := range s {
		s[i] = figure(r[plan][i], r[other][i])
	}
	return s
}

// overhead is by how many percent ours took longer.
func overhead(ours, others *sim.Report) float64 {
	return 100 * (float64(ours.Elapsed)/float64(others.Elapsed) - 1)
}

// gain is by how many percent ours took less time.
func gain(ours, others *sim.Report) float64 {
	return 100 * (1 - float64(ours.Elapsed)/float64(others.Elapsed))
}

// reused says of how many jobs in orphan tables, of all seeds, how many were not run again.
func reused(list []*sim.Report) (n, of uint64) {
	for _, r := range list {
		n, of = n+r.Counts.Orphans-r.Counts.OrphansAgain, of+r.Counts.Orphans
	}
	return n, of
}

// recoveryRow is one line for each tree: a plan, what it is measured by, and what it is better than.
type recoveryRow struct {
	plan, ideal, naive, published string
}

var recoveryRows = []recoveryRow{
	{planPlain, planPlainNaive, "", "difference negligible"},
	{"crash, naive", planIdeal, "", ""},
	{"crash", planIdeal, "crash, naive", "25 % (raytracer), 9 % (mean of three)"},
	{planBare, planIdeal, "crash, naive", "25 % (raytracer), 9 % (mean of three)"},
	{"crash with checkpoints", planIdeal, "crash, naive", "35 % (9 % and another 26 %)"},
	{"leave", planIdeal, "crash, naive", "under 8 % over ideal; up to 69 % better"},
	{"crash, master's, naive", planIdeal, "", ""},
	{"crash, master's", planIdeal, "crash, master's, naive", "9 % (mean of three)"},
	{"crash with checkpoints, master's", planIdeal, "crash, master's, naive", "35 %"},
	{"leave, master's", planIdeal, "crash, master's, naive", ""},
	{planMasterNaive, planPlain, "", ""},
	{planMaster, planPlain, planMasterNaive, ""},
	{planCheckpoint, planPlain, "", ""},
	{planMigrate, planStay, "", "under 2 % over ideal"},
	{planMigrateHalf, planPlain, "", "under 9 % over ideal"},
}

// recoveryPage is the page, and what its last tables will have.
type recoveryPage struct {
	Document
	o                    Options
	deviations, verdicts [][]string
}

func makeRecovery(o Options) (*Document, error) {
	p := &recoveryPage{o: o}
	p.introduce()
	var das []recoveryRuns
	trees := recoveryTrees()
	ray := slices.IndexFunc(trees, func(t recoveryTree) bool { return t.name == "raytracer" })
	for i, t := range trees {
		p.para("## %s", t.name)
		all, err := p.section(t, recoveryPlans, recoveryRows)
		if err != nil {
			return nil, err
		}
		p.deviate(t.name, all)
		p.judge(t.name, all[0])
		if i == ray {
			das = all
		}
	}
	if err := p.testBed(trees[ray], das); err != nil {
		return nil, err
	}
	p.conclude()
	return &p.Document, nil
}

func (p *recoveryPage) introduce() {
	p.para("# Crashes, departures, migration, checkpoints")
	p.para("32 peers in two clusters of 16, of which one goes in the middle of the computation (fault tolerance paper, 4.2 and 4.3; "+
		"programming-model paper, 5.5); local links 0.1 ms and 100 MB/s, the wide one 2 ms and 10 MB/s, which are ours (the paper has 100 Mbit/s, "+
		"and 2 ms and 415 to 592 Mbit/s from one DAS-2 cluster to another); the LAN profile of package "+
		"steal. The middle is half the time that 1.5 clusters take (the paper's is half that of two), so that a cluster that goes there has done exactly what half "+
		"of its peers would have done in all: the ideal is the run time of 1.5 clusters, as in the paper. Trees: one made to be as irregular as gene "+
		"sequencing, and recordings of nqueens 17, the raytracer, tsp of 70 cities, sat (van der Waerden 3, 11, 114) and knapsack (100 "+
		"similar weights), their costs stretched to %.0f s on 32 peers. "+
		"Medians and half the range over %s. Rows with \"master's\" lose the cluster that holds the root, the others the other one.",
		recoveryTime.Seconds(), p.o.seeds())
	p.para("Every row is under our policy, adaptive, and, with the same seeds and the middle of its own 1.5 clusters, under the papers' CRS; all else is the same. " +
		"So two columns differ by what the policy does. What the mechanism does is between rows: salvaging here has finished parts of stolen jobs go home early, which the " +
		"published one does not; where nothing is copied it does not either, which under CRS is the nearest to what is published.")
	p.para("\"Better than naive\" is the share of the naive run's time that is saved. Jobs in orphan tables are those that were told of, each once, "+
		"in all seeds together; reused are those of them that were not run again. What is told of here is more than in the papers: every job that took a peer %v or more "+
		"and has no stored ancestor, running ones too. Leaves that run twice although those who ran them first are still there are what "+
		"salvaging could have saved and did not; the others were lost with their peers. With checkpoints every %.0f s, the crash falls into the middle "+
		"between two of them, what came after the last is lost, and the disks of the peers that crash are read by the others %.0f s later. Of "+
		"what migrates, 8 peers are one cluster of four (the fault tolerance paper, 4.3, has one of three), 16 are one of two, as published.",
		keepAfter, checkpointEvery.Seconds(), carryAfter.Seconds())
}

// section runs plans under all policies, and has a table of times and one of what was done twice.
func (p *recoveryPage) section(t recoveryTree, plans []plan, rows []recoveryRow) ([]recoveryRuns, error) {
	p.o.say("  %s", t.name)
	all, err := measurePolicies(p.o, t, plans)
	if err != nil {
		return nil, err
	}
	for i, policy := range recoveryPolicies {
		p.para("Without faults all peers take %s s under %s, and %s s without half of the cluster that goes.",
			collect(all[i][planPlain], elapsed).middle(1), policy, collect(all[i][planIdeal], elapsed).middle(1))
	}
	times := byPolicies(all, rows, recoveryRuns.times, "run time, s", "over ideal, %", "better than naive, %")
	times[0] = append(times[0], "published")
	for i, x := range rows {
		times[i+1] = append(times[i+1], cmp.Or(x.published, "–"))
	}
	p.table(times)
	p.table(byPolicies(all, rows, recoveryRuns.twice, "reused, of jobs in orphan tables", "broadcasts",
		"leaves run twice", "of them first run by survivors"))
	return all, nil
}

// byPolicies is a table that has the same columns for each policy.
func byPolicies(all []recoveryRuns, rows []recoveryRow, cells func(recoveryRuns, recoveryRow) []string,
	columns ...string) [][]string {
	table := [][]string{{"run"}}
	for _, policy := range recoveryPolicies {
		for _, c := range columns {
			table[0] = append(table[0], policy+": "+c)
		}
	}
	for _, x := range rows {
		line := []string{x.plan}
		for _, runs := range all {
			line = append(line, cells(runs, x)...)
		}
		table = append(table, line)
	}
	return table
}

func (r recoveryRuns) times(x recoveryRow) []string {
	better := "–"
	if x.naive != "" {
		better = r.compare(x.plan, x.naive, gain).middle(1)
	}
	return []string{collect(r[x.plan], elapsed).middle(1), r.compare(x.plan, x.ideal, overhead).middle(1), better}
}

func (r recoveryRuns) twice(x recoveryRow) []string {
	runs := r[x.plan]
	return []string{
		ofCount(reused(runs)),
		numbers(runs, func(r *sim.Report) uint64 { return r.Counts.News }),
		numbers(runs, func(r *sim.Report) uint64 { return r.Counts.Again }),
		numbers(runs, func(r *sim.Report) uint64 { return r.Counts.AgainInVain }),
	}
}

// deviate says how far the run times of crashes lie apart.
func (p *recoveryPage) deviate(name string, all []recoveryRuns) {
	for _, crash := range []string{"crash", "crash, master's"} {
		line := []string{name, crash}
		for _, runs := range all {
			if runs[crash] != nil {
				line = append(line, deviations(runs[crash+", naive"], runs[crash])...)
			}
		}
		if len(line) > 2 {
			p.deviations = append(p.deviations, line)
		}
	}
}

// deviations are the standard deviations of naive and of salvaged runs, in minutes and as shares of the mean, and how
// many times the one is the other.
func deviations(naive, salvaged []*sim.Report) []string {
	if len(naive) < 2 {
		return []string{"–", "–", "–"}
	}
	times := []sample{collect(naive, elapsed), collect(salvaged, elapsed)}
	var line []string
	for _, s := range times {
		line = append(line, fmt.Sprintf("%.2f (%.1f %%)", s.deviation()/60, 100*s.deviation()/s.mean()))
	}
	return append(line, fmt.Sprintf("%.1f", times[0].deviation()/times[1].deviation()))
}

// judge compares a tree's runs with the targets.
func (p *recoveryPage) judge(name string, runs recoveryRuns) {
	for _, x := range recoveryTargets {
		ours, says := x.judge(runs)
		most := "–"
		if x.bound != "" {
			most = runs.compare(x.bound, x.other, gain).middle(1)
		}
		p.verdicts = append(p.verdicts, []string{name, x.what, ours, most, x.published, x.target, says})
	}
}

func (p *recoveryPage) conclude() {
	p.para("## Deviation of run times")
	p.para("Standard deviations over the seeds, in minutes, in parentheses as shares of the mean, and how many times the naive one is the salvaged one. "+
		"Published (fault tolerance paper, 4.2: the raytracer, four runs) are %.2f and %.2f without a unit, so that only their ratio can be compared.",
		deviationNaive, deviationSalvaged)
	head := []string{"tree", "run"}
	for _, policy := range recoveryPolicies {
		head = append(head, policy+": naive", policy+": salvaged", policy+": times")
	}
	said := []string{"published", "crash", "–", "–", "–", fmt.Sprint(deviationNaive), fmt.Sprint(deviationSalvaged),
		fmt.Sprintf("%.1f", deviationNaive/deviationSalvaged)}
	p.table(append([][]string{head, said}, p.deviations...))
	slices.SortStableFunc(p.verdicts, func(a, b []string) int { return targetOrder(a[1]) - targetOrder(b[1]) })
	p.para("## Targets")
	p.para("Under our policy.")
	p.table(append([][]string{{"tree", "what", "ours, %, or reused of so many", "at most, %", "published, %", "target, %",
		"verdict"}}, p.verdicts...))
	p.para("There is no verdict where the target is within the spread of the seeds, and none about orphans where there were fewer "+
		"than %d: of so few, %d %% cannot be told from all.", leastOrphans, leastReused)
	p.para("Better than naive: salvaging saves what survivors have done, and what the lost peers had sent home early of the jobs that they were " +
		"working on: copies of finished parts, to whoever waits for the job. Where the leaves of a row without checkpoints that survivors ran first are about 0, " +
		"those run twice are those that the lost peers had run and sent nothing of. No more can be saved than a cluster saves " +
		"that leaves (at most): where naive recovery is less than 25 %% slower than that, because little was lost at that moment, the target cannot be reached.")
	p.para("## Table VII as published")
	p.para("Jobs in orphan tables, share of them that was reused, broadcast messages (programming-model paper, Table VII), without checkpoints.")
	p.table([][]string{
		{"application", "leave", "basic", "leave, master dies", "basic, master dies"},
		{"gene sequencing", "253, 99.6 %, 29", "138, 97.8 %, 26", "526, 100 %, 118", "302, 100 %, 69"},
		{"grammar", "61, 100 %, 14", "0, 0 %, 0", "165, 100 %, 54", "79, 100 %, 34"},
		{"Barnes-Hut", "270, 88.5 %, 10", "66, 100 %, 8", "601, 99.3 %, 31", "297, 98.0 %, 31"},
	})
}

// What the fault tolerance paper (4.2) gives as the deviations of run times.
const (
	deviationNaive    = 0.51
	deviationSalvaged = 0.02
)

// ofCount is "n of m".
func ofCount(n, of uint64) string { return fmt.Sprintf("%d of %d", n, of) }

// recoveryTarget is something to reach.
type recoveryTarget struct {
	what, published, target string
	least, most             float64 // one of them, in percent
	plan, other             string  // what is compared with what,
	by                      func(ours, others *sim.Report) float64
	orphansOf               string // or the plan whose orphans are counted
	bound                   string // the plan that shows how much can be gained
}

const (
	leastReused  = 98 // percent, of orphans
	leastOrphans = 100 / (100 - leastReused)
)

// judge gives the figure and the verdict, or why there is none.
func (x *recoveryTarget) judge(runs recoveryRuns) (ours, says string) {
	if x.orphansOf != "" {
		n, of := reused(runs[x.orphansOf])
		if of < leastOrphans {
			return ofCount(n, of), "too few"
		}
		return ofCount(n, of), verdict(100*n >= leastReused*of)
	}
	s := runs.compare(x.plan, x.other, x.by)
	return s.middle(1), s.judged(s.median(), max(x.least, x.most), x.least > 0)
}

var recoveryTargets = []recoveryTarget{
	{what: "no faults: cost over naive", published: "negligible", target: "at most 1", most: 1,
		plan: planPlain, other: planPlainNaive, by: overhead},
	{what: "crash of half: better than naive", published: "25 (raytracer), 9 (mean)", target: "at least 25", least: 25,
		plan: "crash", other: "crash, naive", by: gain, bound: "leave"},
	{what: "crash of half, the master's: better than naive", published: "9 (mean)", target: "at least 25", least: 25,
		plan: "crash, master's", other: "crash, master's, naive", by: gain, bound: "leave, master's"},
	{what: "crash of half: orphans reused", published: "97.8 to 100", target: "at least 98", orphansOf: "crash"},
	{what: "crash of half, the master's: orphans reused", published: "98.0 to 100", target: "at least 98",
		orphansOf: "crash, master's"},
	{what: "half leave: over ideal", published: "under 8", target: "under 3", most: 3,
		plan: "leave", other: planIdeal, by: overhead},
	{what: "half leave, the master's: over ideal", published: "–", target: "under 3", most: 3,
		plan: "leave, master's", other: planIdeal, by: overhead},
	{what: "migration: over staying", published: "under 2", target: "under 1", most: 1,
		plan: planMigrate, other: planStay, by: overhead},
	{what: "migration of half: over staying", published: "under 9", target: "under 1", most: 1,
		plan: planMigrateHalf, other: planPlain, by: overhead},
	{what: "checkpoints: cost", published: "–", target: "under 2", most: 2,
		plan: planCheckpoint, other: planPlain, by: overhead},
	{what: "crash of half: better with checkpoints than without", published: "26", target: "at least 10", least: 10,
		plan: "crash with checkpoints", other: "crash", by: gain, bound: "leave"},
}

func targetOrder(what string) int {
	return slices.IndexFunc(recoveryTargets, func(x recoveryTarget) bool { return x.what == what })
}
