package paper

import (
	"fmt"
	"time"

	"github.com/satin-peer/satin/internal/sim"
)

func makeObjects(o Options) (*Document, error) {
	one, five := objectsPoints()
	list, err := objectsPrograms(objectsCores * objectsTime)
	if err != nil {
		return nil, err
	}
	x, err := measureObjects(o, list, one, five)
	if err != nil {
		return nil, err
	}
	return x.page(o), nil
}

func (x *objectsRuns) page(o Options) *Document {
	d := new(Document)
	x.introduction(d, o)
	x.onOneCluster(d)
	x.whereTimeGoes(d)
	x.onFiveClusters(d)
	x.curves(d)
	return d
}

func (x *objectsRuns) introduction(d *Document, o Options) {
	d.para("# Programs that share data")
	d.para("Our applications on the clusters of DAS-3, as the programming-model paper (5.3 and 5.4) has them: 64, 12, 32, 24 and 12 "+
		"machines of four cores, %v and %.0f MB/s within them, %v and %.0f MB/s between them. Every job of a real run was "+
		"recorded (`satin-sim record`), with what its frame does before and between its phases; costs are then multiplied so that the "+
		"sequential program takes %.0f s on 256 cores, since the paper does not say how long its runs took. %s; "+
		"where there are several, medians and half the range.",
		objectsLocal.Latency, objectsLocal.Bandwidth/1e6, objectsWide.Latency, objectsWide.Bandwidth/1e6,
		objectsTime.Seconds(), o.seeds())
	d.para("Nor does the paper say how many stars, sequences and words it had. %d stars, in seven steps, grammar's "+
		"depth and width, and the numbers of sequences, are chosen for about as many jobs. Trees of gene are computed from "+
		"drawn lengths of sequences, with sizes as recorded. The angle of Barnes-Hut, 0.3, makes its forces as good as 0.05 %% on average; what the paper has, forces "+
		"between multipoles, cost more than ours as well.", stars)
	rows := [][]string{{"program", "recorded, or computed as", "policy", "sequential program", "of it at the root alone",
		"longest chain of jobs"}}
	for _, p := range x.list {
		rows = append(rows, []string{p.name, "`" + p.from + "`", p.policy, fmt.Sprintf("%.0f s", p.work.Seconds()),
			fmt.Sprintf("%.2f %%", 100*float64(p.alone)/float64(p.work)),
			fmt.Sprintf("%.2f s", chain(p.tree).Seconds())})
	}
	d.table(rows)
	d.para("The longest chain is what a run takes at least on any number of machines: of all jobs that wait for each other, the root's own part with them.")
	d.para("**Barnes-Hut** has its stars in %d chunks of neighbours, and these in %d regions. Each is a shared object, of which a job writes a new version in each step, when "+
		"others have moved the stars and made their boxes; no thread computes something about all stars. Each machine makes the boxes of every region that comes: in all "+
		"%.3f %% of a step, as `go test ./apps/barneshut -run xxx -bench Arrival` measures it. Cores without a job do that, as in a swarm (a write waits for one, at most a second), or else the first jobs that read it; the next step waits for the last region's. The 16th step would put stars into other chunks, which the root does alone: in seven steps it does not.",
		starChunks, starRegions, 100*arrivalShare)
	most := x.points[len(x.points)-1].cores
	share, longest := x.list[0].work/time.Duration(most), chain(x.list[0].tree)
	d.para("**What bounds the largest runs.** Grammar on %d cores: its searches to depth 0, 1, 2 ... follow each other, the first have few jobs, and each begins with one, while all "+
		"others wait; that is its longest chain. Barnes-Hut there: its work takes %.1f s of each core, and its longest chain %.1f s: a step waits for its last forces, then for "+
		"the region that is moved last. Whoever always finds a job if there is one takes at most the sum, which is %.0f %%. The rest is what a job costs beside its work, the boxes that "+
		"machines make while their cores have jobs, and the beginning of each step.", most,
		share.Seconds(), longest.Seconds(), 100*share.Seconds()/(share+longest).Seconds())
	d.para("**Shared data** is counted, and not simulated message by message: each write goes to every machine once, over the " +
		"wide-area links once for each cluster, as `sharedobj` sends it (package internal/sim/objects has that protocol itself), and a step waits until it has reached all: twice its " +
		"transmission, over a tree in which each machine passes it on to two. Tree computes more than objects: it makes a tree for every job. " +
		"Its jobs of more than 192 KiB stay at home; in the swarm their arguments are fetched. Master with workers (mw): the root does what inner jobs do in dc, phase by phase, and spawns the leaves.")
}

// chain is how long a tree takes with a core for every job.
func chain(t sim.Tree) time.Duration {
	phased, _ := t.(sim.Phased)
	var longest func(n sim.Node) int64
	longest = func(n sim.Node) int64 {
		sum := t.Cost(n)
		children := t.Children(n, nil)
		for phase := 1; len(children) > 0; phase++ {
			most := int64(0)
			for _, c := range children {
				most = max(most, longest(c))
			}
			sum += most
			if phased == nil {
				break
			}
			children = phased.Next(n, phase, children[:0])
		}
		return sum
	}
	return time.Duration(longest(t.Root()))
}

// percent is the efficiency of each seed.
func percent(p *program, reports []*sim.Report) sample {
	return collect(reports, func(r *sim.Report) float64 { return 100 * r.Efficiency(p.work) })
}

func numbers(reports []*sim.Report, n func(*sim.Report) uint64) string {
	return collect(reports, func(r *sim.Report) float64 { return float64(n(r)) }).middle(0)
}

// megabytes adds what is sent of shared data.
func megabytes(reports []*sim.Report, shared int64, bytes func(*sim.Counts) uint64) string {
	return collect(reports, func(r *sim.Report) float64 {
		return (float64(bytes(&r.Counts)) + float64(shared)) / 1e6
	}).middle(1) + " MB"
}

// sent is what goes of shared data within clusters, and between them.
func (p *program) sent(at *objectsPoint) (local, wide int64) {
	wide = int64(p.writes) * p.bytes * int64(at.clusters-1)
	return int64(p.writes)*p.bytes*int64(at.machines-1) - wide, wide
}

func stolenLocal(r *sim.Report) uint64   { return r.Steals.JobsGivenLocal }
func stolenWide(r *sim.Report) uint64    { return r.Steals.JobsGivenWide }
func messagesLocal(r *sim.Report) uint64 { return r.Counts.MessagesLocal }
func messagesWide(r *sim.Report) uint64  { return r.Counts.MessagesWide }
func bytesLocal(c *sim.Counts) uint64    { return c.BytesLocal }
func bytesWide(c *sim.Counts) uint64     { return c.BytesWide }

// goal says whether it was reached.
func goal(s sample, least float64) string {
	if least == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %%: %s", least, s.judged(s.median(), least, true))
}

func (x *objectsRuns) onOneCluster(d *Document) {
	at := &x.points[x.whole]
	d.para("## Table IV: %s cores of one cluster", at.label)
	rows := [][]string{{"", "spawns", "syncs", "jobs stolen", "messages", "data", "of it shared", "efficiency", "goal"}}
	for i, p := range x.list {
		r := x.reports[i][x.whole]
		shared, _ := p.sent(at)
		rows = append(rows, []string{p.name, fmt.Sprint(p.spawns), fmt.Sprint(p.syncs), numbers(r, stolenLocal),
			numbers(r, messagesLocal), megabytes(r, shared, bytesLocal), fmt.Sprintf("%.1f MB", float64(shared)/1e6),
			percent(p, r).middle(1) + " %", goal(percent(p, r), p.goals[0])},
			[]string{"published", p.one.spawns, p.one.syncs, p.one.stolen, p.one.messages, p.one.data, "–",
				p.one.efficiency, ""})
	}
	d.table(rows)
	stars := x.reports[0][x.whole]
	shared, _ := x.list[0].sent(at)
	sent := collect(stars, func(r *sim.Report) float64 {
		return (float64(r.Counts.BytesLocal) + float64(shared)) / 1e6
	})
	d.para("Barnes-Hut's bytes with objects, %s MB; goal: fewer than the published %d: %s. A step's writes are %.2f MB, four bytes for a number; "+
		"the rest is jobs, which name the versions of all regions, results with potentials, and %s s of heartbeats.", sent.middle(0), publishedBytes,
		verdict(sent.median() < publishedBytes), float64(x.list[0].bytes)/1e6, collect(stars, elapsed).middle(0))
}

// publishedBytes is what Barnes-Hut sent on 256 cores, in MB.
const publishedBytes = 428

// whereTimeGoes divides the time of all cores.
func (x *objectsRuns) whereTimeGoes(d *Document) {
	at := &x.points[x.whole]
	d.para("### Where the time of %s cores goes", at.label)
	d.para("In percent of all cores' time. Overhead is what jobs cost more than their work: that a run can be recovered "+
		"(%.1f %%, and what spawns cost, where programs were recorded; together %.0f %% in gene), messages and encoding. Alone is the time in which the root computes what "+
		"nobody can help it with, and all others wait: a barrier. The rest is looking for work.", 100*recoverable, 100*EngineOverhead)
	rows := [][]string{{"program", "application", "overhead", "alone", "looking for work"}}
	for i, p := range x.list {
		share := func(of func(*sim.Report) float64) sample {
			return collect(x.reports[i][x.whole], func(r *sim.Report) float64 {
				return 100 * of(r) / (float64(r.Elapsed) * float64(at.cores))
			})
		}
		busy := share(func(r *sim.Report) float64 { return float64(r.Busy) })
		work := share(func(r *sim.Report) float64 { return float64(r.Work) })
		alone := share(func(*sim.Report) float64 { return float64(p.alone) * float64(at.cores-1) })
		rows = append(rows, []string{p.name, work.middle(1), fmt.Sprintf("%.1f", busy.median()-work.median()),
			alone.middle(1), fmt.Sprintf("%.1f", 100-busy.median()-alone.median())})
	}
	d.table(rows)
}

func (x *objectsRuns) onFiveClusters(d *Document) {
	last := len(x.points) - 1
	at := &x.points[last]
	d.para("## Tables V and VI: %d cores in five clusters", at.cores)
	d.para("Local and wide-area, of the programs that the paper has there.")
	rows := [][]string{{"", "spawns", "syncs", "jobs stolen", "messages", "data", "efficiency", "goal"}}
	for i := range x.list {
		p := x.at(i, last)
		if !p.runs(at) {
			continue
		}
		r := x.reports[i][last]
		local, wide := p.sent(at)
		rows = append(rows, []string{p.name, fmt.Sprint(p.spawns), fmt.Sprint(p.syncs),
			numbers(r, stolenLocal) + " + " + numbers(r, stolenWide),
			numbers(r, messagesLocal) + " + " + numbers(r, messagesWide),
			megabytes(r, local, bytesLocal) + " + " + megabytes(r, wide, bytesWide), percent(p, r).middle(1) + " %",
			goal(percent(p, r), p.goals[1])},
			[]string{"published", p.five.spawns, p.five.syncs, p.five.stolen, p.five.messages, p.five.data,
				p.five.efficiency, ""})
	}
	d.table(rows)
}

func (x *objectsRuns) curves(d *Document) {
	d.para("## Figures 4 and 5: from one core to 576, one cluster to five")
	d.para("Local and wide-area, where there are several clusters. The published curves survive only as pictures. The last line of gene, dc is the " +
		"larger problem that the paper has there.")
	for i, p := range x.list {
		d.para("### %s", p.name)
		rows := [][]string{{"cores", "run time, s", "speedup", "efficiency, %", "jobs stolen", "messages", "data"}}
		for k := range x.points {
			at, r, p := &x.points[k], x.reports[i][k], x.at(i, k)
			if !p.runs(at) {
				continue
			}
			local, wide := p.sent(at)
			both := func(local, wide string) string {
				if at.clusters == 1 {
					return local
				}
				return local + " + " + wide
			}
			rows = append(rows, []string{at.label, collect(r, elapsed).middle(1),
				collect(r, func(r *sim.Report) float64 { return r.Speedup(p.work) }).middle(1), percent(p, r).middle(1),
				both(numbers(r, stolenLocal), numbers(r, stolenWide)),
				both(numbers(r, messagesLocal), numbers(r, messagesWide)),
				both(megabytes(r, local, bytesLocal), megabytes(r, wide, bytesWide))})
		}
		d.table(rows)
	}
}
