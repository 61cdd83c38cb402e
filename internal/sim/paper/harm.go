package paper

import (
	"fmt"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/steal"
)

// The experiments of the programming-model paper's 5.5 with its own applications: 32 nodes in two clusters, of which
// one goes in the middle of the run; migration to a third one; and Barnes-Hut, which goes on in steps.

// harmTrees are the applications of the paper, each so long on 32 nodes.
func harmTrees() ([]recoveryTree, error) {
	list, err := objectsPrograms(recoveryWork)
	if err != nil {
		return nil, err
	}
	gene := program{name: "gene"}.gene(128, 256, 1, false, recoveryWork)
	var trees []recoveryTree
	for _, p := range []*program{gene, named(list, "grammar, dc"), named(list, "barneshut, objects")} {
		trees = append(trees, recoveryTree{p.name, func(uint64) (sim.Tree, error) { return p.tree, nil }})
	}
	return trees, nil
}

func named(list []*program, name string) *program {
	return list[slices.IndexFunc(list, func(p *program) bool { return p.name == name })]
}

// harmColumn is a column of Table VII.
type harmColumn struct {
	name string
	plan func(cluster int) plan
}

func harmColumns() []harmColumn {
	crash := func(every time.Duration) func(int) plan {
		return func(cluster int) plan {
			if every == 0 {
				return plan{sizes: twoClusters, faults: crashOf(cluster)}
			}
			return plan{sizes: twoClusters, faults: crashAndCarry(cluster), checkpoint: every}
		}
	}
	columns := []harmColumn{{name: "naive", plan: func(cluster int) plan {
		return plan{sizes: twoClusters, recovery: steal.Naive, faults: crashOf(cluster)}
	}}, {name: "basic", plan: crash(0)}}
	for _, every := range []time.Duration{5 * time.Minute, 2 * time.Minute, time.Minute} {
		columns = append(columns, harmColumn{fmt.Sprintf("ckpt %.0f min", every.Minutes()), crash(every)})
	}
	return append(columns, harmColumn{name: "graceful", plan: func(cluster int) plan {
		return plan{sizes: twoClusters, faults: leaveOf(cluster)}
	}})
}

// masters says whether the cluster that goes has the master.
var masters = [...]struct {
	name    string
	cluster int
}{{"master lives", othersCluster}, {"master dies", mastersCluster}}

// moveAway has a third cluster join, and a moment later one of the two leave.
func moveAway(cluster int) func(time.Duration) []sim.Fault {
	return func(middle time.Duration) []sim.Fault {
		faults := migrate(halves)(middle)
		faults[len(faults)-1].Cluster = cluster
		return faults
	}
}

// harmPlans are all runs of a tree.
func harmPlans() []plan {
	plans := []plan{{name: planPlain, sizes: twoClusters}, {name: planIdeal, sizes: []int{16, 8}}}
	for _, m := range masters {
		for _, c := range harmColumns() {
			p := c.plan(m.cluster)
			p.name = c.name + ", " + m.name
			plans = append(plans, p)
		}
		for _, every := range []time.Duration{0, time.Minute} {
			plans = append(plans, plan{name: migration(m.name, every), sizes: halves, faults: moveAway(m.cluster),
				checkpoint: every, whole: planPlain})
		}
	}
	return plans
}

func migration(master string, every time.Duration) string {
	if every > 0 {
		master += ", with checkpoints"
	}
	return "migration, " + master
}

func makeHarm(o Options) (*Document, error) {
	trees, err := harmTrees()
	if err != nil {
		return nil, err
	}
	all := make([]recoveryRuns, len(trees))
	for i, t := range trees {
		o.say("  %s", t.name)
		if all[i], err = measureRecovery(o, t, harmPlans()); err != nil {
			return nil, err
		}
	}
	o.say("  a crash in each step")
	steps, err := crashInSteps(o, trees[len(trees)-1])
	if err != nil {
		return nil, err
	}
	d := new(Document)
	d.para("# Programs that share data, when peers go")
	d.para("The programming-model paper's 5.5 with its applications: 32 peers of one core in two clusters of 16, on the links of DAS-2 as in "+
		"[the recovery page](sim-recovery.md), %.0f s long without faults. One cluster goes in the middle of the run, which is half the time "+
		"that 1.5 clusters take, and of a checkpoint's interval; the disks of those that crash are read %.0f s later. Programs are those of [the page on "+
		"shared data](sim-objects.md), with fewer sequences. %s: medians and "+
		"half the range where there are several. How shared data comes to peers is not simulated here.",
		recoveryTime.Seconds(), carryAfter.Seconds(), o.seeds())
	figureSix(d, trees, all)
	tableSeven(d, trees, all)
	figureSeven(d, trees, all)
	steps.print(d)
	return d, nil
}

func figureSix(d *Document, trees []recoveryTree, all []recoveryRuns) {
	d.para("## Figure 6: run times when a cluster goes")
	d.para("Relative to the run in which it does not crash, but is of half its size from the beginning (1.5 clusters). As published: the basic algorithm is 9 %% " +
		"better than the naive one on average, checkpoints another 26 %%, graceful departure up to 69 %%; the figure survives only as a picture.")
	head := []string{""}
	for _, c := range harmColumns() {
		head = append(head, c.name)
	}
	rows := [][]string{head}
	ratio := func(ours, ideal *sim.Report) float64 { return float64(ours.Elapsed) / float64(ideal.Elapsed) }
	for i, t := range trees {
		for _, m := range masters {
			row := []string{t.name + ", " + m.name}
			for _, c := range harmColumns() {
				row = append(row, all[i].compare(c.name+", "+m.name, planIdeal, ratio).middle(2))
			}
			rows = append(rows, row)
		}
	}
	d.table(rows)
	rows = [][]string{{"better than naive, %", "basic", "best checkpoints", "graceful"}}
	for i, t := range trees {
		for _, m := range masters {
			over := func(name string) sample { return all[i].compare(name+", "+m.name, "naive, "+m.name, gain) }
			best := over("ckpt 1 min")
			for _, name := range []string{"ckpt 2 min", "ckpt 5 min"} {
				if s := over(name); s.median() > best.median() {
					best = s
				}
			}
			rows = append(rows, []string{t.name + ", " + m.name, over("basic").middle(1), best.middle(1),
				over("graceful").middle(1)})
		}
	}
	d.table(rows)
}

// publishedSeven is Table VII: jobs in orphan tables, share of them that was reused, broadcast messages, in the order
// of trees, masters, and columns from graceful to basic.
func publishedSeven() [][]string {
	return [][]string{
		{"253, 99.6 %, 29", "1542, 23.6 %, 42", "845, 35.0 %, 19", "392, 70.7 %, 23", "138, 97.8 %, 26"},
		{"526, 100 %, 118", "1723, 29.3 %, 101", "1127, 42.6 %, 106", "608, 82.1 %, 88", "302, 100 %, 69"},
		{"61, 100 %, 14", "1019, 5.5 %, 2", "585, 0.0 %, 2", "168, 0.0 %, 2", "0, 0.0 %, 0"},
		{"165, 100 %, 54", "1057, 15.1 %, 47", "699, 34.2 %, 49", "261, 63.2 %, 40", "79, 100 %, 34"},
		{"270, 88.5 %, 10", "1216, 22.0 %, 11", "971, 36.9 %, 13", "442, 20.4 %, 11", "66, 100 %, 8"},
		{"601, 99.3 %, 31", "1683, 68.0 %, 25", "1069, 85.5 %, 28", "670, 100 %, 34", "297, 98.0 %, 31"},
	}
}

func tableSeven(d *Document, trees []recoveryTree, all []recoveryRuns) {
	d.para("## Table VII: orphans")
	d.para("Jobs that the swarm was told of, how many of them were not run again, broadcasts with such news; of all seeds together, the broadcasts " +
		"of the median. What is told of is more than in the paper: every job that took a peer 20 ms or more and has no stored ancestor.")
	columns := harmColumns()[1:]
	slices.Reverse(columns)
	head := []string{""}
	for _, c := range columns {
		head = append(head, c.name)
	}
	rows := [][]string{head}
	for i, t := range trees {
		for k, m := range masters {
			row := []string{t.name + ", " + m.name}
			for _, c := range columns {
				runs := all[i][c.name+", "+m.name]
				n, of := reused(runs)
				share := "–"
				if of > 0 {
					share = fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
				}
				row = append(row, fmt.Sprintf("%d, %s, %s", of, share,
					numbers(runs, func(r *sim.Report) uint64 { return r.Counts.News })))
			}
			rows = append(rows, row, append([]string{"published"}, publishedSeven()[i*len(masters)+k]...))
		}
	}
	d.table(rows)
}

func figureSeven(d *Document, trees []recoveryTree, all []recoveryRuns) {
	d.para("## Figure 7: migration")
	d.para("A third cluster of 16 comes in the middle, and 2 s later one of the two leaves. By how many percent the run takes longer than one in which " +
		"nobody goes. As published: less than 9 %%, but for Barnes-Hut when the master dies.")
	rows := [][]string{{"", "without checkpoints", "with checkpoints every minute"}}
	for i, t := range trees {
		for _, m := range masters {
			rows = append(rows, []string{t.name + ", " + m.name,
				all[i].compare(migration(m.name, 0), planPlain, overhead).middle(1),
				all[i].compare(migration(m.name, time.Minute), planPlain, overhead).middle(1)})
		}
	}
	d.table(rows)
}

// stepCrashes are runs of Barnes-Hut of which half the peers crash in the middle of a step.
type stepCrashes struct {
	step    time.Duration   // work of one
	reports [][]*sim.Report // by master and step
}

func crashInSteps(o Options, t recoveryTree) (*stepCrashes, error) {
	plain, err := recoveryConfig(t, plan{name: planPlain, sizes: twoClusters}, 1, noMiddle)
	if err != nil {
		return nil, err
	}
	whole, err := sim.Run(plain)
	if err != nil {
		return nil, err
	}
	x := &stepCrashes{step: recoveryWork / starSteps, reports: grid[*sim.Report](len(masters), starSteps)}
	return x, o.each(len(masters)*starSteps, func(k int) (err error) {
		m, step := k/starSteps, k%starSteps
		c, err := recoveryConfig(t, plan{sizes: twoClusters, faults: crashOf(masters[m].cluster)}, 1,
			whole.Elapsed*time.Duration(2*step+1)/(2*starSteps))
		if err != nil {
			return err
		}
		if x.reports[m][step], err = sim.Run(c); err != nil {
			return fmt.Errorf("%s, crash in step %d: %w", t.name, step+1, err)
		}
		return nil
	})
}

func (x *stepCrashes) print(d *Document) {
	d.para("## A crash in step k of Barnes-Hut")
	d.para("Half the peers crash in the middle of step k of %d: what was computed once more, in shares of what a step makes one half of the peers compute. "+
		"The versions of the bodies are values, so whoever restarts the root derives the same names again, and finds what others have kept of all steps: "+
		"of what came home to the root, the other cluster has copies, for which an eighth of a link is used at most. The paper's program recomputes "+
		"all steps when the master is lost. Here outcomes are all that it takes. In the swarm an outcome that names a version "+
		"of a shared object is used only where that version can be had: whoever keeps the one retains the other, within a quarter of its memory for objects "+
		"(TestSiteOfMasterIsLost simulates that). Goal: at most 1.",
		starSteps)
	rows := [][]string{{"k"}, {"master lives"}, {"master dies"}}
	most := 0.0
	for step := range starSteps {
		rows[0] = append(rows[0], fmt.Sprint(step+1))
		for m := range masters {
			share := float64(x.reports[m][step].Counts.AgainWork) / (float64(x.step) / 2)
			rows[m+1] = append(rows[m+1], fmt.Sprintf("%.2f", share))
			most = max(most, share)
		}
	}
	d.table(rows)
	d.para("Most of all: %s.", verdict(most <= 1))
}
