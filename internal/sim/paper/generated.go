package paper

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/wan"
)

// Swarms that no policy was tuned on: drawn at random, and the published one of Table VIII.

// rivals are the policies that ours is compared with; nearestRivals come nearest, and chance says who is ahead in one
// run: they get nearestSeeds times as many.
var (
	rivals        = []string{"rs", "chs", "crs", "cmrs", "acrs", "load", "push"}
	nearestRivals = []string{"crs", "cmrs", "acrs"}
	otherRivals   = []string{"rs", "chs", "load", "push"}
)

const nearestSeeds = 3

// generatedRanges are what scenarios are drawn from, all of them ours but for the cluster sizes of the published
// experiments, which are within: from a volunteer alone at home to the largest cluster of the DAS-2.
type generatedRanges struct {
	clusters     [2]int // of which only as many are taken as make no more than peers in all
	size         [2]float64
	peers        int
	latency      [2]float64 // one way, in seconds
	rate         [2]float64 // bytes a second
	each         time.Duration
	slows, times int // links that get slower for a while, volunteers that go and come
}

// usual are those of the page's first table.
var usual = generatedRanges{[2]int{3, 12}, [2]float64{1, 64}, 96, [2]float64{1e-3, 0.1}, [2]float64{20e3, 10e6},
	40 * time.Second, 3, 4}

// draw makes a scenario, whose application is one of the four with as much work as its peers do in a while.
func (g *generatedRanges) draw(seed uint64) (a *App, c sim.Config) {
	r := rand.New(rand.NewPCG(seed, 0x67656e))
	draw := func(of [2]float64) float64 { return of[0] * math.Pow(of[1]/of[0], r.Float64()) }
	model := *Apps()[seed%4]
	a = &model
	var sizes []int
	peers := 0
	for n := g.clusters[0] + r.IntN(g.clusters[1]-g.clusters[0]+1); n > 0; n-- {
		size := min(int(draw([2]float64{g.size[0], g.size[1] + 1})), g.peers-peers)
		if size > 0 {
			sizes, peers = append(sizes, size), peers+size
		}
	}
	uplinks := make([]wan.Conditions, len(sizes)) // a volunteer's line bounds all its links
	for i := range uplinks {
		uplinks[i] = wan.Conditions{Bandwidth: draw(g.rate),
			Latency: time.Duration(draw(g.latency) / 2 * float64(time.Second))}
	}
	network := byLines(sizes, local, uplinks)
	a.Sequential = time.Duration(peers) * g.each
	c = (&Setup{App: a, Network: func(uint64) *wan.Model { return network }, Overhead: a.Overhead}).Config(seed)
	within := func() time.Duration { return time.Duration(r.Float64() * float64(g.each)) }
	for range g.slows {
		if i, j := r.IntN(len(sizes)), r.IntN(len(sizes)); i != j {
			c.Faults = append(c.Faults, sim.Fault{Kind: sim.LinkSlow, At: within(), For: within(), Cluster: i, Other: j,
				Amount: 2 + 8*r.Float64()})
		}
	}
	for range g.times {
		c.Faults = append(c.Faults, sim.Fault{Kind: sim.Leave, At: within(), Peer: 1 + r.IntN(peers-1)},
			sim.Fault{Kind: sim.Join, At: within(), Cluster: r.IntN(len(sizes))})
	}
	return a, c
}

// byLines is a network of clusters that have a line each: what goes from one to another crosses both.
func byLines(sizes []int, within wan.Conditions, lines []wan.Conditions) *wan.Model {
	network := wan.NewModel(sizes, within)
	for i, x := range lines {
		for j, y := range lines {
			if i != j {
				network.Links().Set(i, j, wan.Conditions{Bandwidth: min(x.Bandwidth, y.Bandwidth),
					Latency: x.Latency + y.Latency})
			}
		}
	}
	return network
}

// europe is Table VIII: the sites, each kind of machine with its clock in MHz, which stands for its speed.
var europe = []struct {
	site          string
	cpus          int
	mhz           float64
	another, slow int // machines of a second kind, and their clock
}{
	{"Amsterdam", 8, 1000, 2, 750}, {"Lecce", 4, 667, 0, 0}, {"Cardiff", 2, 1000, 0, 0}, {"Brno", 8, 2400, 0, 0},
	{"Berlin", 16, 500, 0, 0},
}

// europeLinks are the extremes of what is published as factors: latencies 200 times apart and bandwidths 1,200 times.
// A site's line is as slow as its place in this list says; ours.
var (
	europeLocal = wan.Conditions{Bandwidth: 12e6, Latency: 100 * time.Microsecond}
	europeLines = []wan.Conditions{
		{Bandwidth: 1e6, Latency: 3 * time.Millisecond}, {Bandwidth: 10e3, Latency: 12 * time.Millisecond},
		{Bandwidth: 300e3, Latency: 5 * time.Millisecond}, {Bandwidth: 100e3, Latency: 8 * time.Millisecond},
		{Bandwidth: 500e3, Latency: 5 * time.Millisecond},
	}
)

// european is the raytracer on those 40 processors, and the sum of their speeds.
func european(seed uint64) (c sim.Config, speeds float64) {
	var sizes []int
	var of []float64
	for _, s := range europe {
		sizes = append(sizes, s.cpus+s.another)
		for range s.cpus {
			of = append(of, s.mhz/1000)
		}
		for range s.another {
			of = append(of, float64(s.slow)/1000)
		}
	}
	network := byLines(sizes, europeLocal, europeLines)
	c = (&Setup{App: raytracer, Network: func(uint64) *wan.Model { return network },
		Overhead: raytracer.Overhead}).Config(seed)
	c.Speed = func(peer int) float64 { return of[peer] }
	for _, x := range of {
		speeds += x
	}
	return c, speeds
}

// byPolicy runs scenarios under policies, and gives what a figure says of each by policy and scenario.
func byPolicy(o Options, policies []string, begin func(k int) sim.Config, figure func(k int, r *sim.Report) float64) (
	map[string]sample, error,
) {
	of := map[string]sample{}
	for _, p := range policies {
		of[p] = make(sample, o.Seeds)
	}
	return of, o.each(len(policies)*o.Seeds, func(n int) error {
		k, p := n/len(policies), policies[n%len(policies)]
		c := begin(k)
		c.Policy = PolicyNamed(p)
		c.Want = wanted(c.Tree)
		r, err := sim.Run(c)
		if err != nil {
			return fmt.Errorf("seed %d under %s: %w", k+1, p, err)
		}
		of[p][k] = figure(k, r)
		return nil
	})
}

// lead is how much more one sample is than another on average, seed by seed as far as both go, and the half of its 95 %
// interval, which one seed does not have.
func lead(ours, theirs sample) (mean, half float64) {
	d := make(sample, min(len(ours), len(theirs)))
	for i := range d {
		d[i] = ours[i] - theirs[i]
	}
	if mean = d.mean(); len(d) < 2 {
		return mean, math.Inf(1)
	}
	return mean, StudentT(len(d)-1) * d.deviation() / math.Sqrt(float64(len(d)))
}

// StudentT is the quantile of Student's distribution that 2.5 % are above, by its degrees of freedom.
func StudentT(freedom int) float64 {
	few := [...]float64{12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23}
	if freedom <= len(few) {
		return few[freedom-1]
	}
	return 1.96 + 2.5/float64(freedom)
}

// mostBehind is by how much ours may be behind, in speedup on 64 peers.
const mostBehind = 0.3

// reaches gives the 95 % interval of ours less theirs, and says whether all of it is above what ours may be behind.
func reaches(ours, theirs sample) (interval, says string) {
	mean, half := lead(ours, theirs)
	switch {
	case math.IsInf(half, 1):
		return "–", "–"
	case mean-half >= -mostBehind:
		says = "yes"
	default:
		says = "no"
	}
	return fmt.Sprintf("%+.1f to %+.1f", mean-half, mean+half), says
}

// leads adds a table of ours less every other policy.
func leads(d *Document, of map[string]sample, unit string) {
	rows := [][]string{{"policy", unit, "ours less this one", "95 % interval", "reaches -0.3"}}
	rows = append(rows, []string{adaptive, of[adaptive].String(), "–", "–", "–"})
	for _, p := range rivals {
		mean, _ := lead(of[adaptive], of[p])
		interval, far := reaches(of[adaptive], of[p])
		rows = append(rows, []string{p, of[p].String(), fmt.Sprintf("%+.1f", mean), interval, far})
	}
	d.table(rows)
}

func makeGenerated(o Options) (*Document, error) {
	g, d := usual, new(Document)
	d.para("# Swarms that the policy was not tuned on")
	d.para("%s, of ours and the policies that come nearest three times as many in the first table. What a swarm is "+
		"drawn from, evenly by the logarithm where it says so. Ranges that are ours are as wide as "+
		"we could think of, and swept below; no policy was tuned on what is drawn.", o.seeds())
	ours := "ours, swept"
	d.table([][]string{
		{"parameter", "value", "from"},
		{"application", "integrate, nqueens, tsp and raytracer in turn", "CRS paper, 3.1"},
		{"work", fmt.Sprintf("%v for every peer there at the start", g.each), ours},
		{"spawn overhead", "Manta's", "CRS paper, Table I"},
		{"clusters", fmt.Sprintf("%d to %d", g.clusters[0], g.clusters[1]), ours},
		{"peers of a cluster", fmt.Sprintf("%.0f to %.0f, by logarithm", g.size[0], g.size[1]),
			"ours, swept; published are 1 to 64 (CRS paper, Figure 3 and Table I)"},
		{"peers in all", fmt.Sprintf("at most %d", g.peers), "ours, swept; for the time it takes"},
		{"a cluster's line; a way has the lesser of two",
			fmt.Sprintf("%.0f KB/s to %.0f MB/s, by logarithm", g.rate[0]/1e3, g.rate[1]/1e6), ours},
		{"one way between two clusters", fmt.Sprintf("%.0f to %.0f ms, by logarithm", g.latency[0]*1e3,
			g.latency[1]*1e3), ours},
		{"ways that get 2 to 10 times slower for a while", fmt.Sprintf("up to %d", g.slows), ours},
		{"peers that leave, and that come", fmt.Sprintf("%d and %d", g.times, g.times), ours},
	})
	of, err := g.byPolicy(o, otherRivals)
	if err != nil {
		return nil, err
	}
	many := o
	many.Seeds *= nearestSeeds
	nearest, err := g.byPolicy(many, append([]string{adaptive}, nearestRivals...))
	if err != nil {
		return nil, err
	}
	maps.Copy(of, nearest)
	d.para("Speedup on as many peers as were there at the start, scaled to 64; paired by seed.")
	leads(d, of, "speedup on 64")
	d.para("Where ours is behind, as far as it was traced, it is by where the largest job is when nobody knows yet what " +
		"the lines are: a raytracer waits at its end for pieces of the picture, of up to 260 KB, that follow from cluster to " +
		"cluster as their jobs went, some over a line of 34 KB/s twice, for whoever gives a job does not know how large its " +
		"result will be; and a search ends in a cluster behind 24 KB/s that has most of what is left, which the other " +
		"peers get in jobs of 3 KB. To send large results in pieces by several ways would not pay: where those of over 16 KB " +
		"crossed in a third of the time, the raytracer was at -2.8, 0.0, +0.5, +0.2, -3.6 and +0.2 in six of these swarms, for " +
		"another order of events put its largest job elsewhere, and at +0.1, 0.0, +0.3 and 0.0 in scenarios 4, 5, 8 and 9 " +
		"of the CRS paper (four seeds each).")
	return d, sweepGenerated(o, d)
}

// byPolicy runs what is drawn, and gives the speedup on 64 peers.
func (g *generatedRanges) byPolicy(o Options, policies []string) (map[string]sample, error) {
	return byPolicy(o, policies, func(k int) sim.Config {
		_, c := g.draw(uint64(k + 1))
		return c
	}, func(k int, r *sim.Report) float64 {
		a, c := g.draw(uint64(k + 1))
		peers := 0
		for _, n := range c.Network.Sizes() {
			peers += n
		}
		return 64 * speedup(a)(r) / float64(peers)
	})
}

func makeHeterogeneous(o Options) (*Document, error) {
	d := new(Document)
	d.para("# Table VIII: forty processors of six kinds in five countries")
	d.para("The raytracer on the machines of the programming-model paper's 5.7, where 80 %% is published (not said "+
		"under which policy). Speeds are the clocks, 500 to 2400 MHz; latencies are published as 200 times apart and "+
		"bandwidths as 1,200 times: here 0.1 to 20 ms, and 12 MB/s within a site to 10 KB/s from Lecce; which line "+
		"is whose is ours. Efficiency is weighted by speed: the sequential time, over the run time and the sum of "+
		"all speeds. %s, Manta's spawn overhead.", o.seeds())
	_, speeds := european(1)
	of, err := byPolicy(o, append([]string{adaptive}, rivals...), func(k int) sim.Config {
		c, _ := european(uint64(k + 1))
		return c
	}, func(_ int, r *sim.Report) float64 { return 100 * speedup(raytracer)(r) / speeds })
	if err != nil {
		return nil, err
	}
	leads(d, of, "efficiency, %")
	d.para("Under ours all are busy until the last quarter of a minute or two, and then wait for pieces of the picture that " +
		"come home over the 10 KB/s of Lecce, some twice: a job near the top was stolen there when nobody knew how fast " +
		"the links were nor how large its result would be. Whoever crosses clusters less often, as load, is hit by that " +
		"less often.")
	d.para("Random pushing gives jobs to whoever is drawn, idle or not, and slow peers' queues are the last to be empty. " +
		"How long a peer pauses between two gifts is ours, chosen on the first of these seeds, and decides most: with " +
		"1 ms instead of 500 ms it is 11 there, with 4 s 21.")
	return d, nil
}
