package paper

import (
	"fmt"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/wan"
)

// The experiments of the programming-model paper, 5.3 and 5.4: applications that share data, on one cluster and on
// the five of DAS-3.

// What runs, on 256 cores for so long, about: the paper does not say how long its runs took.
const (
	objectsCores = 256
	objectsTime  = 20 * time.Second
	coresOfOne   = 4 // of a machine
)

// The links of DAS-3: Myrinet, and light paths between the universities.
var (
	objectsLocal = wan.Conditions{Bandwidth: 500e6, Latency: 30 * time.Microsecond}
	objectsWide  = wan.Conditions{Bandwidth: 100e6, Latency: time.Millisecond}
	// machines are those of the clusters, of four cores each (Table II has machines of two as well).
	machines = []int{64, 12, 32, 24, 12}
)

// Steps and stars of Barnes-Hut. The paper says neither; seven steps are the original's default.
const (
	starSteps = 7
	stars     = 40_000
	// writeBytes are a step's writes: three numbers of four bytes for each star, and what stands before those of a
	// chunk.
	writeBytes  = stars*3*4 + starChunks*14
	starChunks  = 336
	starRegions = 28 // objects
	// firstStep is the phase of the root in which its jobs first read what others have written: before it, stars are
	// drawn.
	firstStep = 1
	// arrivalShare is what it takes a core to make the boxes of a step's writes, as a share of what the sequential
	// program takes for a step: BenchmarkArrival of apps/barneshut prints it, 0.065 to 0.07 %. Caches have what forces
	// need then; if they had this, it would be half.
	arrivalShare = 0.00068
)

// recoverable is the share by which jobs of a recorded program take longer than they were recorded, on a core that
// nobody stole from: what is kept so that a run can be recovered costs uts as much ("in a process of its own" in
// docs/results). EngineOverhead has what a spawn costs in it too, which such a recording has already.
const recoverable = 0.014

// program is one of the papers' applications.
type program struct {
	name, from string // with what arguments it was recorded
	policy     string
	tree       sim.Tree
	overhead   float64       // see sim.Config
	work       time.Duration // of the sequential program
	alone      time.Duration // of that, what nobody can help the root with
	spawns     int
	syncs      int
	writes     int   // of shared data,
	bytes      int64 // each of so many bytes
	one, five  publishedRow
	goals      [2]float64 // percent of 256 cores, and of 576 in five clusters; 0: none
	larger     *program   // what runs on five clusters, if it is another
}

// publishedRow is a line of Table IV, or of Tables V and VI.
type publishedRow struct{ spawns, syncs, stolen, messages, data, efficiency string }

// shape is how a recording is made a program of.
type shape func(*sim.Recorded) (*sim.Recorded, error)

// load makes a program of a recording: it is scaled so that the sequential program would take that long. Jobs may
// take more together.
func (p program) load(file string, work time.Duration, shapes ...shape) (*program, error) {
	r, err := recorded(file)
	if err != nil {
		return nil, err
	}
	if r.Twin == 0 {
		return nil, fmt.Errorf("%s: it does not say what the sequential program took", file)
	}
	times := float64(r.Work()) / float64(r.Twin)
	for _, s := range shapes {
		if r, err = s(r); err != nil {
			return nil, err
		}
	}
	p.spawns, p.syncs = r.Counts()
	p.work, p.from, p.overhead = work, r.Name, recoverable
	p.alone = time.Duration(float64(work) * float64(r.Cost(r.Root())) / float64(r.Work()) * times)
	if p.tree, err = r.Scaled(time.Duration(float64(work) * times)); err != nil {
		return nil, err
	}
	return &p, nil
}

// gene makes a program of drawn sequences.
func (p program) gene(queries, subjects int, leaf int64, flat bool, work time.Duration) *program {
	t := newPairs(queries, subjects, leaf, work)
	t.flat = flat
	p.tree, p.work, p.overhead = t, work, EngineOverhead
	p.spawns, p.syncs = t.counts()
	p.writes, p.bytes = 1, t.bytes()
	p.from = fmt.Sprintf("gene --generate %d,%d,%d --threshold %d", queries, subjects, geneLetters, leaf)
	return &p
}

// spread is how long a write takes to all machines of a cluster: over a tree in which each passes it on to two, in
// segments, so that the last has it a little after the first.
func spread(bytes int) time.Duration { return 2 * objectsLocal.Transmission(bytes) }

func objectsPrograms(work time.Duration) ([]*program, error) {
	arrival := time.Duration(arrivalShare * float64(work) / starSteps / starRegions) // of a region
	objects := func(r *sim.Recorded) (*sim.Recorded, error) {
		wait := time.Duration(float64(spread(writeBytes)+arrival) * float64(r.Work()) / float64(work))
		return r.Between(func(phase int, own time.Duration) time.Duration {
			if phase < firstStep || phase >= firstStep+starSteps {
				return own
			}
			return own + wait
		})
	}
	bodies := program{policy: adaptive, writes: starSteps, bytes: writeBytes, goals: [2]float64{85, 85},
		one:  publishedRow{"118,420", "14,816", "16,425", "3,514,010", "428.0 MB", "73.5 %"},
		five: publishedRow{"118,420", "14,816", "25,270 + 11,858", "17,511,522 + 227,901", "588 + 140 MB", "74 %"}}
	var list []*program
	var failed error
	add := func(p *program, err error) {
		list = append(list, p)
		if err != nil {
			failed = err
		}
	}
	bodies.name = "barneshut, objects"
	moving, err := bodies.load("barneshut-objects", work, objects)
	if err != nil {
		return nil, err
	}
	moving.tree = newSky(moving.tree.(*sim.Recorded), arrival)
	add(moving, nil)
	add(program{name: "barneshut, tree", policy: adaptive, one: publishedRow{"118,420", "14,816", "14,787",
		"2,740,089", "84.1 GB", "60.0 %"}}.load("barneshut-tree", work))
	gene := program{name: "gene, dc", policy: adaptive, goals: [2]float64{95, 90},
		one: publishedRow{"1,049,087", "524,800", "5,462", "653,554", "2.4 GB", "91.3 %"},
		five: publishedRow{"6,117,236", "3,062,437", "8,489 + 5,515", "22,792,842 + 313,706", "1,200 + 624 MB",
			"82 %"}}
	dc := gene.gene(512, 1024, 1, false, work)
	dc.larger = gene.gene(1750, 1750, 1, false, time.Duration(float64(work)*1750*1750/512/1024))
	add(dc, nil)
	mw := program{name: "gene, mw", policy: "master", one: publishedRow{"8,978", "1", "8,978", "30,676", "667.4 MB",
		"72.0 %"}}
	add(mw.gene(512, 1024, 20_000_000, true, work), nil)
	sample := program{name: "grammar, dc", policy: adaptive, writes: 1, bytes: grammarSample,
		goals: [2]float64{92, 80},
		one:   publishedRow{"224,026", "96,008", "21,209", "5,947,901", "128.5 MB", "87.1 %"},
		five: publishedRow{"224,026", "96,008", "30,020 + 17,236", "135,095,129 + 798,586", "2,300 + 36 MB",
			"72 %"}}
	add(sample.load("grammar-dc", work))
	add(program{name: "grammar, mw", policy: "master", writes: 1, bytes: grammarSample, one: publishedRow{"128,025",
		"7", "128,021", "386,032", "79.6 MB", "7.6 %"}}.load("grammar-dc", work, (*sim.Recorded).Flat))
	return list, failed
}

// sky is Barnes-Hut's tree. A job that has made or moved a region writes it, and every other machine makes its boxes.
type sky struct {
	*sim.Recorded
	begins  []int32 // the numbers of the first jobs of each step; to draw the stars counts as one
	writes  map[sim.Node]bool
	arrival time.Duration
}

func newSky(r *sim.Recorded, arrival time.Duration) *sky {
	s := &sky{Recorded: r, writes: map[sim.Node]bool{}, arrival: arrival}
	var last []sim.Node
	for phase := 0; ; phase++ {
		jobs := r.Children(r.Root(), nil)
		if phase > 0 {
			jobs = r.Next(r.Root(), phase, nil)
		}
		if len(jobs) == 0 {
			return s
		}
		if len(jobs) < starRegions { // what the root does itself
			continue
		}
		for _, n := range last { // all but the last step's write
			s.writes[n] = true
		}
		s.begins, last = append(s.begins, jobs[0].Form), jobs
	}
}

// Step is 0 for the root, and for those who draw the stars 1.
func (s *sky) Step(n sim.Node) int {
	at, _ := slices.BinarySearch(s.begins, n.Form+1)
	return at
}

// Writes is the time for a region's boxes.
func (s *sky) Writes(n sim.Node) time.Duration {
	if s.writes[n] {
		return s.arrival
	}
	return 0
}

// grammarSample is the size of the words that the recorded run learned from.
const grammarSample = 7_000

// objectsNetwork is so many of the clusters, the first of so many machines.
func objectsNetwork(clusters, first int) *wan.Model {
	sizes := append([]int{first}, machines[1:clusters]...)
	return wan.Uniform(sizes, objectsLocal, objectsWide)
}

// objectsPoint is one place of Figure 4 or 5.
type objectsPoint struct {
	label           string
	cores, machines int // in all
	clusters        int
	network         func() *wan.Model
}

func objectsPoints() (one, five []objectsPoint) {
	for _, cores := range []int{1, 4, 16, 64, 128, 256} {
		m := max(1, cores/coresOfOne)
		one = append(one, objectsPoint{fmt.Sprint(cores), cores, m, 1,
			func() *wan.Model { return objectsNetwork(1, m) }})
	}
	all := 0
	for i, m := range machines {
		all += m
		five = append(five, objectsPoint{fmt.Sprintf("%d in %d", all*coresOfOne, i+1), all * coresOfOne, all, i + 1,
			func() *wan.Model { return objectsNetwork(i+1, machines[0]) }})
	}
	return one, five[1:] // one ends with the first of five
}

// objectsRuns are the reports by program, point and seed.
type objectsRuns struct {
	list    []*program
	points  []objectsPoint
	whole   int // the point that is all of the first cluster
	reports [][][]*sim.Report
}

// at is what runs at a point.
func (x *objectsRuns) at(i, point int) *program {
	if p := x.list[i]; p.larger != nil && point == len(x.points)-1 {
		return p.larger
	}
	return x.list[i]
}

// runs says whether the paper has the program on so many clusters.
func (p *program) runs(at *objectsPoint) bool { return at.clusters == 1 || p.five != (publishedRow{}) }

// measureObjects runs all programs on some of the first cluster and on several clusters.
func measureObjects(o Options, list []*program, one, several []objectsPoint) (*objectsRuns, error) {
	x := &objectsRuns{list: list, points: slices.Concat(one, several), whole: len(one) - 1}
	x.reports = make([][][]*sim.Report, len(list))
	for i := range list {
		x.reports[i] = grid[*sim.Report](len(x.points), o.Seeds)
	}
	n := len(list) * len(x.points) * o.Seeds
	return x, o.each(n, func(k int) (err error) {
		k = n - 1 - k // the longest begin first
		p, i, seed := k/o.Seeds/len(list), k/o.Seeds%len(list), k%o.Seeds
		what, where := x.at(i, p), &x.points[p]
		if !what.runs(where) {
			return nil
		}
		x.reports[i][p][seed], err = sim.Run(sim.Config{Tree: what.tree, Seed: uint64(seed + 1),
			Want: wanted(what.tree), Network: where.network(), Core: Core(), Workers: where.cores / where.machines,
			SpawnOverhead: what.overhead, MessageCost: messageCost, ByteCost: byteCost,
			Policy: PolicyNamed(what.policy)})
		if err != nil {
			return fmt.Errorf("%s on %s cores, seed %d: %w", what.name, where.label, seed+1, err)
		}
		return nil
	})
}
