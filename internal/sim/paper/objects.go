package paper

import (
	"fmt"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/wan"
)

// The experiments of the programming-model paper, 5.3 and 5.4: applications that share data, on one cluster and on the
// five of DAS-3.

// What runs, on 256 cores for so long, about.
const (
	objectsCores = 256
	objectsTime  = 20 * time.Second
	objectsPiece = 200 * time.Millisecond
	coresOfOne   = 4 // of a machine
)

// The links of DAS-3: Myrinet, and light paths between the universities.
var (
	objectsLocal = wan.Conditions{Bandwidth: 500e6, Latency: 30 * time.Microsecond}
	objectsWide  = wan.Conditions{Bandwidth: 100e6, Latency: time.Millisecond}
	// machines are those of the clusters, of four cores each (Table II has machines of two as well).
	machines = []int{64, 12, 32, 24, 12}
)

// objectsTree is one of the papers' applications, as it was recorded here.
type objectsTree struct {
	name, file string
	recorded   string // with what arguments
	policy     string
	one, five  publishedRow // Tables IV and VI; zero: none
}

// publishedRow is a line of Table IV, or of Tables V and VI.
type publishedRow struct{ spawns, syncs, stolen, messages, data, efficiency string }

func objectsTrees() []objectsTree {
	return []objectsTree{
		{"barneshut, objects", "barneshut-objects", "30000 --steps 1 --theta 0.5 --threshold 20", adaptive,
			publishedRow{"118,420", "14,816", "16,425", "3,514,010", "428.0 MB", "73.5 %"},
			publishedRow{"118,420", "14,816", "25,270 + 11,858", "17,511,522 + 227,901", "588 + 140 MB", "74 %"}},
		{"barneshut, tree", "barneshut-tree", "the same with --variant tree", adaptive,
			publishedRow{"118,420", "14,816", "14,787", "2,740,089", "84.1 GB", "60.0 %"}, publishedRow{}},
		{"gene, dc", "gene-dc", "--generate 32,400,200 --threshold 60000", adaptive,
			publishedRow{"1,049,087", "524,800", "5,462", "653,554", "2.4 GB", "91.3 %"},
			publishedRow{"6,117,236", "3,062,437", "8,489 + 5,515", "22,792,842 + 313,706", "1,200 + 624 MB", "82 %"}},
		{"gene, mw", "gene-mw", "the same with --variant mw", "master",
			publishedRow{"8,978", "1", "8,978", "30,676", "667.4 MB", "72.0 %"}, publishedRow{}},
		{"grammar, dc", "grammar-dc", "--generate 24 --words 600 --depth 5", adaptive,
			publishedRow{"224,026", "96,008", "21,209", "5,947,901", "128.5 MB", "87.1 %"},
			publishedRow{"224,026", "96,008", "30,020 + 17,236", "135,095,129 + 798,586", "2,300 + 36 MB", "72 %"}},
		{"grammar, mw", "grammar-mw", "the same with --variant mw", "master",
			publishedRow{"128,025", "7", "128,021", "386,032", "79.6 MB", "7.6 %"}, publishedRow{}},
		{"othello, no aborts", "othello", "--depth 14 --threshold 7 --abort=false", adaptive,
			publishedRow{"6,973,693", "849,450", "4,144,009", "394,054,014", "10.5 GB", "5.9 %"}, publishedRow{}},
	}
}

// objectsNetwork is so many of the clusters, the first of so many machines.
func objectsNetwork(clusters, first int) *wan.Model {
	sizes := append([]int{first}, machines[1:clusters]...)
	return wan.Uniform(sizes, objectsLocal, objectsWide)
}

// objectsPoint is one place of Figure 4 or 5.
type objectsPoint struct {
	label   string
	network func() *wan.Model
}

func objectsPoints() (one, five []objectsPoint) {
	for _, m := range []int{1, 4, 16, 64} {
		one = append(one, objectsPoint{fmt.Sprint(m * coresOfOne),
			func() *wan.Model { return objectsNetwork(1, m) }})
	}
	cores := 0
	for i, m := range machines {
		cores += m * coresOfOne
		five = append(five, objectsPoint{fmt.Sprintf("%d in %d", cores, i+1),
			func() *wan.Model { return objectsNetwork(i+1, machines[0]) }})
	}
	return one, five
}

// objectsRuns are the reports by tree, point and seed.
type objectsRuns struct {
	work    time.Duration // of each tree
	list    []objectsTree
	trees   []*sim.Recorded
	points  []objectsPoint
	whole   int // the point that is all of the first cluster
	reports [][][]*sim.Report
}

func makeObjects(o Options) (*Document, error) {
	one, five := objectsPoints()
	// five begins with the last of one
	runs, err := measureObjects(o, objectsCores*objectsTime, objectsPiece, one, five[1:])
	if err != nil {
		return nil, err
	}
	return runs.page(o), nil
}

func (x *objectsRuns) page(o Options) *Document {
	d := new(Document)
	x.introduction(d, o)
	x.onOneCluster(d)
	x.curves(d)
	x.onFiveClusters(d)
	return d
}

// measureObjects runs all trees, stretched to so much work in leaves of at most a piece, on some of the first cluster
// and on several clusters.
func measureObjects(o Options, work, piece time.Duration, one, several []objectsPoint) (*objectsRuns, error) {
	list := objectsTrees()
	points := slices.Concat(one, several)
	trees := make([]*sim.Recorded, len(list))
	reports := make([][][]*sim.Report, len(list)) // by tree, point and seed
	for i, t := range list {
		r, err := recorded(t.file)
		if err != nil {
			return nil, err
		}
		if trees[i], err = r.Stretched(work, piece); err != nil {
			return nil, err
		}
		reports[i] = make([][]*sim.Report, len(points))
		for p := range points {
			reports[i][p] = make([]*sim.Report, o.Seeds)
		}
	}
	err := o.each(len(list)*len(points)*o.Seeds, func(k int) (err error) {
		i, p, seed := k/o.Seeds/len(points), k/o.Seeds%len(points), k%o.Seeds
		total := sim.Sequential(trees[i])
		reports[i][p][seed], err = sim.Run(sim.Config{Tree: trees[i], Seed: uint64(seed + 1), Want: &total.Result,
			Network: points[p].network(), Core: Core(), Workers: coresOfOne, SpawnOverhead: EngineOverhead,
			MessageCost: messageCost, ByteCost: byteCost, Policy: policyNamed(list[i].policy)})
		if err != nil {
			return fmt.Errorf("%s on %s cores, seed %d: %w", list[i].name, points[p].label, seed+1, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &objectsRuns{work, list, trees, points, len(one) - 1, reports}, nil
}

func (x *objectsRuns) introduction(d *Document, o Options) {
	d.para("# Programs that share data")
	d.para("Trees of our applications, recorded (`satin-sim record`) and stretched to %.0f core hours, on the clusters of DAS-3 as the "+
		"programming-model paper (5.3 and 5.4) has them: 64, 12, 32, 24 and 12 machines of four cores, %v and %.0f MB/s within them, "+
		"%v and %.0f MB/s between them. dc and trees without a note steal by our policy, mw by policy master. %s; "+
		"where there are several, medians and half the range.",
		x.work.Hours(), objectsLocal.Latency, objectsLocal.Bandwidth/1e6, objectsWide.Latency,
		objectsWide.Bandwidth/1e6, o.seeds())
	d.para("**What is not modelled yet.** How shared data gets to where it is read: jobs name it, and its bytes are not in " +
		"these " +
		"columns, so ours are a lower bound where jobs share (objects, gene, grammar). Phases: one step of Barnes-Hut is one tree, without the " +
		"time in which the master moves the bodies and nobody else works. Aborts, and what a table of positions saves on " +
		"several cores: Othello is recorded without aborts and on one core, where it spawns no more than it must, so its line is how a tree of " +
		"that shape balances, and not to be held against the published one. What a job computes itself before it spawns becomes leaves: the " +
		"master of grammar's mw is no bottleneck here, which it was in the paper. Our inputs are smaller than the papers'; what is " +
		"comparable is the shape.")
	rows := [][]string{{"tree", "recorded with", "policy"}}
	for _, t := range x.list {
		rows = append(rows, []string{t.name, "`" + t.recorded + "`", t.policy})
	}
	d.table(rows)
}

// percent is the efficiency of each seed.
func (x *objectsRuns) percent(reports []*sim.Report) string {
	return collect(reports, func(r *sim.Report) float64 { return 100 * r.Efficiency(x.work) }).middle(1) + " %"
}

func megabytes(reports []*sim.Report, bytes func(*sim.Counts) uint64) string {
	return collect(reports, func(r *sim.Report) float64 { return float64(bytes(&r.Counts)) / 1e6 }).middle(1) + " MB"
}

func numbers(reports []*sim.Report, n func(*sim.Report) uint64) string {
	return collect(reports, func(r *sim.Report) float64 { return float64(n(r)) }).middle(0)
}

func (x *objectsRuns) onOneCluster(d *Document) {
	d.para("## Table IV: %s cores of one cluster", x.points[x.whole].label)
	rows := [][]string{{"", "spawns", "syncs", "jobs stolen", "messages", "data", "efficiency"}}
	for i, t := range x.list {
		r := x.reports[i][x.whole]
		rows = append(rows, []string{t.name,
			numbers(r, func(r *sim.Report) uint64 { return r.Counts.Spawned }), fmt.Sprint(inner(x.trees[i])),
			numbers(r, func(r *sim.Report) uint64 { return r.Counts.Given }),
			numbers(r, func(r *sim.Report) uint64 { return r.Counts.MessagesLocal }),
			megabytes(r, func(c *sim.Counts) uint64 { return c.BytesLocal }), x.percent(r)},
			[]string{"published", t.one.spawns, t.one.syncs, t.one.stolen, t.one.messages, t.one.data,
				t.one.efficiency})
	}
	d.table(rows)
}

// inner is how many jobs of a tree wait for others.
func inner(t *sim.Recorded) (n int) {
	var walk func(sim.Node)
	walk = func(node sim.Node) {
		children := t.Children(node, nil)
		if len(children) > 0 {
			n++
		}
		for _, c := range children {
			walk(c)
		}
	}
	walk(t.Root())
	return n
}

func (x *objectsRuns) curves(d *Document) {
	d.para("## Figures 4 and 5: speedups by cores and clusters")
	head := []string{"cores"}
	for _, t := range x.list {
		head = append(head, t.name)
	}
	rows := [][]string{head}
	for p := range x.points {
		row := []string{x.points[p].label}
		for i := range x.list {
			row = append(row, collect(x.reports[i][p], speedupOver(x.work)).middle(1))
		}
		rows = append(rows, row)
	}
	d.table(rows)
}

// speedupOver compares with that much sequential work.
func speedupOver(work time.Duration) func(*sim.Report) float64 {
	return func(r *sim.Report) float64 { return r.Speedup(work) }
}

func (x *objectsRuns) onFiveClusters(d *Document) {
	d.para("## Tables V and VI: 576 cores in five clusters")
	d.para("Local and wide-area, of those trees that the paper has there.")
	rows := [][]string{{"", "jobs stolen", "messages", "data", "efficiency"}}
	for i, t := range x.list {
		if t.five == (publishedRow{}) {
			continue
		}
		r := x.reports[i][len(x.points)-1]
		rows = append(rows, []string{t.name,
			numbers(r, func(r *sim.Report) uint64 { return r.Steals.JobsGivenLocal }) + " + " +
				numbers(r, func(r *sim.Report) uint64 { return r.Steals.JobsGivenWide }),
			numbers(r, func(r *sim.Report) uint64 { return r.Counts.MessagesLocal }) + " + " +
				numbers(r, func(r *sim.Report) uint64 { return r.Counts.MessagesWide }),
			megabytes(r, func(c *sim.Counts) uint64 { return c.BytesLocal }) + " + " +
				megabytes(r, func(c *sim.Counts) uint64 { return c.BytesWide }), x.percent(r)},
			[]string{"published", t.five.stolen, t.five.messages, t.five.data, t.five.efficiency})
	}
	d.table(rows)
}
