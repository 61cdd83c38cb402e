package paper

import (
	"fmt"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/wan"
)

// The experiments of the Javelin 3 paper that are about the balance of large searches and the loss of hosts.

// tours is a search for a shortest tour whose jobs are not divided below some depth: Javelin's atomic tasks.
type tours struct {
	sim.Split
	depth int32
}

func (t *tours) leaf(n sim.Node) bool { return n.Form >= t.depth || n.Work <= int64(t.Grain) }

func (t *tours) Children(n sim.Node, buf []sim.Node) []sim.Node {
	if t.leaf(n) {
		return buf
	}
	return t.Split.Children(n, buf)
}

func (t *tours) Cost(n sim.Node) int64 {
	if t.leaf(n) {
		return n.Work
	}
	return 0
}

// leaves are how many there are, and how long they are on average and at most.
func (t *tours) leaves() (count int, mean, longest time.Duration) {
	var walk func(n sim.Node)
	walk = func(n sim.Node) {
		if t.leaf(n) {
			count++
			longest = max(longest, time.Duration(n.Work))
		}
		for _, c := range t.Children(n, nil) {
			walk(c)
		}
	}
	walk(t.Root())
	return count, t.Total / time.Duration(count), longest
}

// Graph 35k took 64 processors 13.31 h; its longest task 8.27 h. Hours are tens of seconds here.
const (
	toursScale = 360
	toursWork  = 64 * 13 * time.Hour / toursScale
	toursGrain = 200 * time.Millisecond
	undivided  = 60 // an atomic depth that nothing reaches
	hostTree   = "tree"
)

// newTours is a tree of which the work at atomic depth 2 is about as uneven as that graph's: the longest of some
// thousand tasks is about a hundredth of all.
func newTours(depth int32) *tours {
	return &tours{sim.Split{Name: "tours", Seed: 35, Total: toursWork, Grain: toursGrain, FanLow: 30, FanHigh: 34,
		Even: 0.001, Skew: 3, Arg: 200, Result: 60}, depth}
}

// newTasks is a job of tasks as those of the paper's experiment with killed hosts: 27 s on average.
func newTasks() *tours {
	return &tours{sim.Split{Name: "tasks", Seed: 10, Total: 360 * 27 * time.Second, Grain: time.Second, FanLow: 360,
		FanHigh: 360, Even: 0.5, Skew: 1, Arg: 200, Result: 200}, 1}
}

var (
	toursPeers = [...]int{64, 256, 512, 1024}
	toursRows  = [...]struct {
		depth  int32
		policy string
	}{{2, adaptive}, {3, adaptive}, {undivided, adaptive}, {2, hostTree}, {undivided, hostTree}}
)

// Hosts that are killed of ten, and by how much the paper's runs took longer than E_T(k), in percent; "Our results".
var killed = [...]struct {
	hosts     int
	published string
}{{2, "within 3"}, {4, "within 4"}, {6, "about 6"}, {8, "within 7.5"}}

const killedOf = 10

func makeJavelin(o Options) (*Document, error) {
	d := new(Document)
	d.para("# Javelin 3: large searches, and lost hosts")
	d.para("## E_T(k): k of %d hosts are killed", killedOf)
	d.para("If k of n hosts are lost in the middle of a computation, symmetrically, it should take as long as on n - k/2 of them: " +
		"E_T(k) = T(n - k/2). Hosts are killed in pairs, the first of each before the middle and the second as long after it; " +
		"never the owner. The formula has no loss in it but the hosts' time: Javelin's client has each task's result as soon as " +
		"it is done, so that a host takes one task with it. First as there, where the longest took 57 s: a job of equal tasks, of 27 s on average and 41 s at " +
		"most, which the owner gives away one by one. Then the trees of the raytracer and of tsp, as in [the recovery page](sim-recovery.md): " +
		"hosts steal large jobs and finish most of what is below them in place, of which those who wait for the jobs get copies every few seconds. " +
		"So what a killed host takes with it is what it was in the middle of, and the last of what it had finished: where whoever had its " +
		"copies was killed before it, they went to the next.")
	for _, t := range []recoveryTree{
		{"tasks", func(uint64) (sim.Tree, error) { return newTasks(), nil }},
		{"raytracer", func(uint64) (sim.Tree, error) { return embeddedTree("raytracer") }},
		{"tsp", func(uint64) (sim.Tree, error) { return embeddedTree("tsp") }},
	} {
		if err := lostHosts(d, o, t); err != nil {
			return nil, err
		}
	}
	if err := largeSearches(d, o); err != nil {
		return nil, err
	}
	if err := depthExpansion(d, o); err != nil {
		return nil, err
	}
	return d, nil
}

func largeSearches(d *Document, o Options) error {
	reports := make([]*sim.Report, len(toursRows)*len(toursPeers))
	err := o.each(len(reports), func(k int) (err error) {
		row, peers := toursRows[k/len(toursPeers)], toursPeers[k%len(toursPeers)]
		tree := newTours(row.depth)
		reports[k], err = sim.Run(sim.Config{Tree: tree, Seed: 1, Want: wanted(tree), Core: Core(),
			Network: wan.NewModel([]int{peers}, local), SpawnOverhead: EngineOverhead, MessageCost: messageCost,
			ByteCost: byteCost, Policy: PolicyNamed(row.policy)})
		return err
	})
	if err != nil {
		return err
	}
	d.para("## Speedups over T64 (Figure 12, Table I)")
	d.para("A modelled search of %.1f CPU hours for 64 to 1,024 peers of one core under our policy. At an atomic depth jobs are not divided any more: at "+
		"depth 2 the longest is about a hundredth of the whole, as in Table I (35k: 222 s on average, 8.27 h at most, T64 13.31 h, of which hours are tens of seconds here). Javelin splits such a task deeper when it is scheduled again, "+
		"by its dynamic depth increment (below). Here a job spawns what it has to do as it goes, down to %v, and idle peers steal from it (depth none): most "+
		"of what the increment is for needs no second try. Policy tree is Javelin's tree of hosts, over our members. One seed.",
		toursWork.Hours(), toursGrain)
	head := []string{"policy", "atomic depth", "leaves", "mean leaf", "longest leaf"}
	for _, p := range toursPeers {
		head = append(head, fmt.Sprintf("T%d", p))
	}
	rows := [][]string{head}
	for i, x := range toursRows {
		count, mean, longest := newTours(x.depth).leaves()
		name := fmt.Sprint(x.depth)
		if x.depth == undivided {
			name = "none"
		}
		row := []string{x.policy, name, fmt.Sprint(count), fmt.Sprintf("%.2f s", mean.Seconds()),
			fmt.Sprintf("%.0f s", longest.Seconds())}
		first := reports[i*len(toursPeers)].Elapsed
		for k := range toursPeers {
			r := reports[i*len(toursPeers)+k]
			row = append(row, fmt.Sprintf("%.0f s (%.1f)", r.Elapsed.Seconds(), float64(first)/float64(r.Elapsed)))
		}
		rows = append(rows, row)
	}
	d.table(rows)
	d.para("In brackets the speedup over the same search on 64 peers; 1,024 could be 16.")
	return nil
}

// Figure 11: a search that is dominated by one large task, on 4 to 64 peers. Three hours on four are minutes here.
var (
	expansionPeers = [...]int{4, 8, 16, 32, 64}
	increments     = [...]int32{0, 1, 2, 3, 4, 5}
)

// expanded is a search whose tasks are divided by some levels more each time that they are scheduled again.
type expanded struct {
	*tours
	increment int32
}

// Deeper is sim.Deepening's.
func (t expanded) Deeper(steps uint8) sim.Tree {
	deeper := *t.tours
	deeper.depth += int32(steps) * t.increment
	return expanded{&deeper, t.increment}
}

func newExpanded(increment int32) expanded {
	return expanded{&tours{sim.Split{Name: "tours", Seed: 32, Total: 4 * 3 * time.Hour / expansionScale,
		Grain: toursGrain, FanLow: 26, FanHigh: 30, Even: 0.0005, Skew: 6, Arg: 200, Result: 60}, 2}, increment}
}

const (
	expansionScale = 60
	// A task is scheduled again once others have had it for so long; of a hundred, so many may be.
	expansionAfter   = 2 * time.Second
	expansionPercent = 20
)

func depthExpansion(d *Document, o Options) error {
	reports := make([]*sim.Report, len(increments)*len(expansionPeers))
	err := o.each(len(reports), func(k int) (err error) {
		tree, peers := newExpanded(increments[k/len(expansionPeers)]), expansionPeers[k%len(expansionPeers)]
		core := Core()
		core.EagerAfter, core.EagerPercent = expansionAfter, expansionPercent
		reports[k], err = sim.Run(sim.Config{Tree: tree, Seed: 1, Want: wanted(tree), Core: core,
			Network: wan.NewModel([]int{peers}, local), SpawnOverhead: EngineOverhead, MessageCost: messageCost,
			ByteCost: byteCost, Policy: PolicyNamed(adaptive)})
		return err
	})
	if err != nil {
		return err
	}
	tree := newExpanded(0)
	count, mean, longest := tree.leaves()
	d.para("## Dynamic depth expansion (Figure 11)")
	d.para("A modelled search of %.0f s in %d tasks at depth %d, of %.2f s on average and %.0f s at most. A peer that finds nothing to steal gets a copy of the task that "+
		"another has had for the longest, from %v on, and divides it by so many levels more (`Frame.Deeper`); the others steal from it. The paper's "+
		"curves survive only as a picture; it says that increment 0 is mediocre, 1 better, 2 to 4 best, and 5 about like 1: there, all subtasks pass through the client, "+
		"here they stay where they are spawned until somebody steals them. One seed.",
		tree.Total.Seconds(), count, tree.depth, mean.Seconds(), longest.Seconds(), expansionAfter)
	head := []string{"increment"}
	for _, p := range expansionPeers {
		head = append(head, fmt.Sprintf("T%d", p))
	}
	rows := [][]string{append(head, "copies at T64, first with the result")}
	for i, increment := range increments {
		row := []string{fmt.Sprint(increment)}
		at := reports[i*len(expansionPeers):][:len(expansionPeers)]
		for _, r := range at {
			speedup := float64(reports[0].Elapsed) / float64(r.Elapsed)
			row = append(row, fmt.Sprintf("%.0f s (%.1f)", r.Elapsed.Seconds(), speedup))
		}
		last := at[len(at)-1].Steals
		rows = append(rows, append(row, fmt.Sprintf("%d, %d", last.EagerCopies, last.EagerWon)))
	}
	d.table(rows)
	d.para("In brackets the speedup over increment 0 on 4 peers; 64 could be 16.")
	return nil
}

func lostHosts(d *Document, o Options, t recoveryTree) error {
	run := func(peers, kill int, middle time.Duration, seed uint64) (*sim.Report, error) {
		p := plan{sizes: []int{peers}}
		if kill > 0 {
			p.faults = func(time.Duration) []sim.Fault { return kills(kill, middle) }
		}
		c, err := recoveryConfig(t, p, seed, middle)
		if err != nil {
			return nil, err
		}
		return sim.Run(c)
	}
	less := func(kill int) int { return killedOf - kill/2 }
	whole := make([]*sim.Report, o.Seeds)
	if err := o.each(o.Seeds, func(i int) (err error) {
		whole[i], err = run(killedOf, 0, noMiddle, uint64(i+1))
		return err
	}); err != nil {
		return err
	}
	fewer, lost := grid[*sim.Report](len(killed), o.Seeds), grid[*sim.Report](len(killed), o.Seeds)
	if err := o.each(len(killed)*o.Seeds, func(k int) (err error) {
		i, seed := k/o.Seeds, k%o.Seeds
		if fewer[i][seed], err = run(less(killed[i].hosts), 0, noMiddle, uint64(seed+1)); err != nil {
			return err
		}
		// The middle is that of the run with as many hosts as all of them have done the work of.
		lost[i][seed], err = run(killedOf, killed[i].hosts, fewer[i][seed].Elapsed/2, uint64(seed+1))
		return err
	}); err != nil {
		return err
	}
	d.para("%s, %s s on ten peers; %s:", t.name, collect(whole, elapsed).middle(1), o.seeds())
	rows := [][]string{{"killed of 10", "E_T(k), s", "ours, s", "longer by, %", "published, %",
		"done again, %"}}
	for i, x := range killed {
		over, again := make(sample, o.Seeds), make(sample, o.Seeds)
		for s := range over {
			over[s] = overhead(lost[i][s], fewer[i][s])
			again[s] = 100 * float64(lost[i][s].Counts.AgainWork) / float64(lost[i][s].Work-lost[i][s].Counts.AgainWork)
		}
		rows = append(rows, []string{fmt.Sprint(x.hosts),
			fmt.Sprintf("T%d = %s", less(x.hosts), collect(fewer[i], elapsed).middle(1)),
			collect(lost[i], elapsed).middle(1), over.middle(1), x.published, again.middle(1)})
	}
	d.table(rows)
	return nil
}

// kills are crashes of so many peers, all but the first, symmetric to the middle: a tenth of it further from it for
// each pair.
func kills(hosts int, middle time.Duration) (faults []sim.Fault) {
	for i := range hosts {
		away := middle / killedOf * time.Duration(i/2+1)
		if i%2 == 0 {
			away = -away
		}
		faults = append(faults, sim.Fault{Kind: sim.Crash, At: middle + away, Peer: i + 1})
	}
	return faults
}
