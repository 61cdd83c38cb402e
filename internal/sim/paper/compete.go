package paper

import (
	"time"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
)

// Several runs that compete for a swarm: 40 machines in four clusters, which are alike.

// competeCores are the cores of the machines of a cluster.
var competeCores = []int{4, 1, 1, 1, 1, 2, 2, 2, 4, 8}

const (
	competeClusters = 4
	// competeTotal is how many cores all have together.
	competeTotal = 104
	// competeTime is how long these would take for a run that keeps all of them busy.
	competeTime = 180 * time.Second
	// competeEvery is the time over which the cores that a run uses are averaged.
	competeEvery = time.Second
)

var competeWide = wan.Conditions{Bandwidth: 10e6, Latency: 20 * time.Millisecond}

// A rival is one of the runs, from its beginning on.
type rival struct {
	name, owner string
	tree        func(seed uint64) sim.Tree
	begin       time.Duration
}

// wide has jobs for all cores, and work for so many times competeTime.
func wide(times float64) func(uint64) sim.Tree {
	return func(seed uint64) sim.Tree {
		return &sim.Split{Seed: seed, Total: time.Duration(times * float64(competeTotal*competeTime)),
			Grain: 400 * time.Millisecond, FanLow: 2, FanHigh: 5, Even: 0.3, Skew: 2, Arg: 100, Result: 100}
	}
}

// serial has steps of which one core begins each, for 3 s, and all could share the rest for as long.
func serial(steps int) func(uint64) sim.Tree {
	const alone = 3 * time.Second
	return func(seed uint64) sim.Tree {
		return &sim.Steps{Count: steps, Serial: alone, Body: sim.Split{Seed: seed, Total: competeTotal * alone,
			Grain: 400 * time.Millisecond, FanLow: 8, FanHigh: 8, Even: 0.5, Skew: 2, Arg: 100, Result: 100}}
	}
}

// few has twelve jobs, each as long as competeTime.
func few(seed uint64) sim.Tree {
	return &sim.Split{Seed: seed, Total: 12 * competeTime, Grain: competeTime * 3 / 2, FanLow: 12, FanHigh: 12,
		Even: 10, Skew: 1, Arg: 100, Result: 100}
}

// A bout is some runs in one swarm, with what became of them.
type bout struct {
	runs    []rival
	work    time.Duration // of the sequential programs
	reports []*sim.Report
}

// compete has runs begin in a swarm. Each has a seed of its own, from the one given on, and an owner's machine.
func compete(rivals []rival, rule sim.Rule, seed uint64) (*bout, error) {
	var machines, sizes []int
	for range competeClusters {
		machines, sizes = append(machines, competeCores...), append(sizes, len(competeCores))
	}
	network := wan.Uniform(sizes, adaptLocal, competeWide)
	b := &bout{runs: rivals}
	var runs []sim.Competitor
	for i, r := range rivals {
		tree := r.tree(seed + uint64(i))
		total := sim.Sequential(tree)
		b.work += total.Work
		c := sim.Config{
			Tree: tree, Want: &total.Result, Seed: seed + uint64(i), Begin: r.begin, Network: network,
			Core: steal.WAN(), SpawnOverhead: EngineOverhead, MessageCost: messageCost, ByteCost: byteCost,
			Policy: PolicyNamed(adaptive), Gossip: sim.Gossip{Delay: 100 * time.Millisecond}, Bucket: competeEvery,
			Adapt: &sim.Adapt{Config: adapt.Default(adapt.Volunteers), Start: comesAfter, Benchmark: speedShare,
				Yardstick: yardstick, Error: speedError},
		}
		c.Core.StealGap, c.Core.MaxCopied = 20*time.Millisecond, 0 // as on the page of adapting
		runs = append(runs, sim.Competitor{Config: c, Owner: r.owner, Home: 2 * i})
	}
	var err error
	b.reports, err = sim.Compete(machines, rule, runs)
	return b, err
}

// took is how long a run took.
func (b *bout) took(i int) time.Duration { return b.reports[i].Elapsed - b.runs[i].begin }

// makespan is when the last run has ended.
func (b *bout) makespan() (last time.Duration) {
	for _, r := range b.reports {
		last = max(last, r.Elapsed)
	}
	return last
}

// efficiency is the part of all cores' time that the sequential programs would have taken.
func (b *bout) efficiency() float64 { return float64(b.work) / (float64(b.makespan()) * competeTotal) }

// busy is how many cores a run used from one moment to another, on average.
func (b *bout) busy(i int, from, to time.Duration) float64 {
	sum := 0.0
	first, last := int(from/competeEvery), int(to/competeEvery)
	for _, peer := range b.reports[i].Timeline {
		for k := first; k < min(last, len(peer)); k++ {
			sum += peer[k]
		}
	}
	return sum / float64(last-first)
}

// together is when all runs were there.
func (b *bout) together() (from, to time.Duration) {
	to = b.makespan()
	for i, r := range b.runs {
		from, to = max(from, r.begin), min(to, b.reports[i].Elapsed)
	}
	return from, to
}

// used is the part of all cores that were busy while all runs were there.
func (b *bout) used() (part float64) {
	from, to := b.together()
	for i := range b.runs {
		part += b.busy(i, from, to) / competeTotal
	}
	return part
}

// without is the longest time for which one of the runs had no core at all.
func (b *bout) without() (longest time.Duration) {
	for i, r := range b.runs {
		lasts := time.Duration(0)
		for at := r.begin; at+competeEvery <= b.reports[i].Elapsed; at += competeEvery {
			if lasts += competeEvery; b.busy(i, at, at+competeEvery) > 0 {
				lasts = 0
			}
			longest = max(longest, lasts)
		}
	}
	return longest
}

// A competeRule divides the cores of each machine.
type competeRule struct {
	name string
	rule sim.Rule
}

const equalName = "equal shares"

// competeRules are the rows of each experiment.
var competeRules = []competeRule{
	{"by need", sim.Rule{Divide: adapt.Divide}},
	{"as before", sim.Rule{Divide: keepOne, Untold: true}},
	{equalName, sim.Rule{Divide: equalShares}},
	{"first come", sim.Rule{Divide: firstCome}},
}

// keepOne is by need, but that a run without work keeps a core to hear of some by.
func keepOne(cores int, runs []adapt.Contender, turn int) []int {
	for i := range runs {
		if runs[i].Dry {
			runs[i].Dry, runs[i].Most = false, 1
		}
	}
	return adapt.Divide(cores, runs, turn)
}

// equalShares gives all runs the same, whatever they have to do.
func equalShares(cores int, runs []adapt.Contender, turn int) []int {
	got := make([]int, len(runs))
	for i := range cores {
		got[(i+turn)%len(runs)]++
	}
	return got
}

// firstCome gives the run that began first all for which it has work.
func firstCome(cores int, runs []adapt.Contender, _ int) []int {
	got := make([]int, len(runs))
	for _, dry := range []bool{false, true} {
		for i := range runs {
			if runs[i].Dry == dry {
				got[i] = min(cores, runs[i].Most)
				cores -= got[i]
			}
		}
	}
	return got
}
