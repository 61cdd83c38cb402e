package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/internal/bench/wide/model"
	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/sim/paper"
	"github.com/satin-peer/satin/internal/wan"
)

// The programming-model paper's scenarios (5.6) on real processes, beside the simulator with the same program,
// network, machines and constants. The paper's 36 nodes in three clusters, and 12 in a fourth, are 6 processes and 2.

const (
	adaptEvery = 4 * time.Second // about three steps
	// adaptRoundShare is one in so many of the rounds that are asked for.
	adaptRoundShare = 3
	slowCluster     = 1
	linkCluster     = 2
)

// An adaptCase is one scenario.
type adaptCase struct {
	name, about      string
	start            [model.Clusters]int // processes of each cluster; the others are in reserve
	bad              bool                // the uplink of linkCluster
	slow             float64             // what is left of the speed of slowCluster; 0: all
	crash            []int               // clusters
	at               time.Duration       // of either
	published, least float64             // percent saved
}

var wholeStart = [model.Clusters]int{2, 2, 2, 0}

var adaptCases = []adaptCase{
	{name: "0", about: "nothing happens, nothing is changed", start: wholeStart},
	{name: "1", about: "expanding to more nodes", start: [model.Clusters]int{2}, published: 50, least: 55},
	{name: "2", about: "overloaded processors", start: wholeStart, slow: 0.1, at: 8 * time.Second, published: 14,
		least: 20},
	{name: "3", about: "overloaded network link", start: wholeStart, bad: true, published: 60, least: 60},
	{name: "5", about: "crashing nodes", start: wholeStart, crash: []int{1, 2}, at: 20 * time.Second, published: 13,
		least: 20},
}

// An adaptWay is how a scenario is run: whether all machines are there from the start, and how the run adapts. The
// ways come in pairs: the second is compared with the first.
type adaptWay struct {
	name  string
	all   bool
	mode  adapt.Mode
	every time.Duration // 0: nothing is even measured
	least int           // peers that stay whatever is measured; 0: any number
}

var adaptWays = []adaptWay{
	{"not adaptive", false, adapt.Off, 0, 0}, {"paper", false, adapt.Paper, adaptEvery, 0},
	{"not adaptive, all machines", true, adapt.Off, 0, 0},
	{"volunteers, all machines", true, adapt.Volunteers, adaptEvery, 0},
}

// overheadWays are those of scenario 0.
var overheadWays = []adaptWay{adaptWays[0], {"measured, nothing changed", false, adapt.Volunteers, adaptEvery,
	6}}

func (c *adaptCase) ways() []adaptWay {
	if c.name == "0" {
		return overheadWays
	}
	return adaptWays
}

// scenario is the network for the emulator, and network for the simulator.
func (c *adaptCase) scenario() string {
	text := scenarioFile(adaptWide)
	for other := range model.Clusters {
		if c.bad && other != linkCluster {
			text += fmt.Sprintf("set_sym one %d %d %g %g\n", linkCluster+1, other+1, adaptUplink.Bandwidth,
				adaptUplink.Latency.Seconds())
		}
	}
	return text
}

// Between clusters as in the simulator's page; the bad uplink's 100 KB/s are divided between the ways to two others.
var (
	adaptWide   = wan.Conditions{Bandwidth: 10e6, Latency: time.Millisecond}
	adaptUplink = wan.Conditions{Bandwidth: 50e3, Latency: time.Millisecond}
)

// simulate gives the time of a run in the simulator, in seconds.
func (c *adaptCase) simulate(way adaptWay, seed uint64) (float64, error) {
	start := c.start
	if way.all {
		start = [model.Clusters]int{2, 2, 2, 2}
	}
	network := wan.Uniform(start[:], model.Local, adaptWide)
	for other := range model.Clusters {
		if c.bad && other != linkCluster {
			network.Links().Set(linkCluster, other, adaptUplink)
			network.Links().Set(other, linkCluster, adaptUplink)
		}
	}
	x := sim.Config{Tree: model.Bodies(int(seed)).Steps(), Seed: seed, Network: network, Core: model.StepsCore(),
		FrameBytes: wideFrameBytes, KeepAfter: time.Second, Gossip: sim.Gossip{Delay: 100 * time.Millisecond},
		Policy: paper.PolicyNamed("adaptive")}
	for _, k := range c.crash {
		x.Faults = append(x.Faults, sim.Fault{Kind: sim.ClusterCrash, At: c.at, Cluster: k})
	}
	for k := range model.PerCluster {
		if c.slow > 0 {
			x.Faults = append(x.Faults, sim.Fault{Kind: sim.Slow, At: c.at, Amount: c.slow,
				Peer: slowCluster*model.PerCluster + k})
		}
	}
	if way.every > 0 {
		cfg := adapt.Default(way.mode)
		cfg.Period, cfg.Min = way.every, max(way.least, 1)
		x.Adapt = &sim.Adapt{Config: cfg, Start: time.Second, Benchmark: 0.005, Yardstick: 100 * time.Millisecond}
		for _, n := range start {
			x.Adapt.Reserve = append(x.Adapt.Reserve, model.PerCluster-n)
		}
		if len(c.crash) > 0 && !way.all {
			x.Adapt.Reserve[0] = 0
		}
	}
	r, err := sim.Run(x)
	if err != nil {
		return 0, err
	}
	return r.Elapsed.Seconds(), nil
}

// adapting measures all scenarios.
func adapting(w *workshop, rounds int) ([]table, error) {
	cases, err := chooseScenarios(*wideCells)
	if err != nil {
		return nil, err
	}
	files, err := w.build("wide", "off", 1)
	if err != nil {
		return nil, err
	}
	rounds = max(1, rounds/adaptRoundShare)
	t := table{title: "Scenarios 0 to 5 of the programming-model paper on real processes", notes: []string{
		fmt.Sprintf("%d rounds. The time that adapting saves, in percent; of scenario 0 what it costs. 8 processes in 4 emulated clusters of "+
			"2, of which 6 in 3 are there at the start, and 2 in scenario 1; one that is asked for joins within a second. A program in 45 "+
			"steps of 0.6 s on one process and 4 s divided among all; its jobs sleep, and compute for %d %% of their cost. Every result "+
			"is checked. A decision every %v.", rounds, 2, adaptEvery),
		"Under volunteers all 8 are there at the start, and in the run that it is compared with.",
		"Simulated is the same program, network and constants. A processor's speed is what a leaf of the program takes that is run " +
			"again, scaled by its threads' CPU time in between.",
	}}
	for i := range cases {
		if err := cases[i].measure(w, files[0], rounds, &t); err != nil {
			return nil, fmt.Errorf("scenario %s: %w", cases[i].name, err)
		}
	}
	progress("")
	return []table{t}, nil
}

// chooseScenarios finds those that are named; all if none is.
func chooseScenarios(names string) (cases []adaptCase, err error) {
	if names == "" {
		return adaptCases, nil
	}
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(adaptCases, func(c adaptCase) bool { return c.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-cells: no scenario %q; there are 0, 1, 2, 3 and 5", name)
		}
		cases = append(cases, adaptCases[i])
	}
	return cases, nil
}

// measure runs one scenario in all ways at the same time, round after round.
func (c *adaptCase) measure(w *workshop, binary string, rounds int, t *table) error {
	ways := c.ways()
	real, simulated := make([][]float64, len(ways)), make([][]float64, len(ways))
	told := make([]string, len(ways))
	for round := range rounds {
		progress("adaptive: scenario %s, round %d of %d", c.name, round+1, rounds)
		took, fails := make([]float64, len(ways)), make([]error, len(ways))
		var wait sync.WaitGroup
		for i, way := range ways {
			s, err := c.simulate(way, uint64(round+1))
			if err != nil {
				return fmt.Errorf("simulated, %s: %w", way.name, err)
			}
			simulated[i] = append(simulated[i], s)
			wait.Go(func() { took[i], told[i], fails[i] = c.run(w, binary, way, round+1) })
		}
		wait.Wait()
		if err := errors.Join(fails...); err != nil {
			return err
		}
		for i := range ways {
			real[i] = append(real[i], took[i])
		}
	}
	for i := 1; i < len(ways); i += 2 {
		c.compare(ways[i-1:i+1], simulated[i-1:i+1], real[i-1:i+1], t)
		if told[i] != "" {
			t.notes = append(t.notes, fmt.Sprintf("Scenario %s, %s, decided last: %s", c.name, ways[i].name, told[i]))
		}
	}
	return nil
}

// compare adds what the second of two ways saves over the first.
func (c *adaptCase) compare(ways []adaptWay, simulated, real [][]float64, t *table) {
	saved, less := savedOf(real[0], real[1]), middle(savedOf(simulated[0], simulated[1]))
	f := figure{values: saved, form: "%.1f %%", least: c.least}
	f.name = fmt.Sprintf("%s, %s: %s, published %.0f, simulated %.1f", c.name, c.about, ways[1].name, c.published, less)
	if c.name == "0" {
		for k := range saved {
			saved[k] = -saved[k]
		}
		f.name = fmt.Sprintf("0, %s: published 15 to 6, simulated %.1f", c.about, -less)
		f.atMost = 1
	}
	t.figures = append(t.figures, f)
	for k, way := range ways {
		name := fmt.Sprintf("  %s, simulated %.1f s", way.name, middle(simulated[k]))
		t.figures = append(t.figures, figure{name: name, values: real[k], form: "%.1f s"})
	}
}

// savedOf is how much shorter runs are than others, in percent.
func savedOf(base, runs []float64) []float64 {
	list := ratios(runs, base)
	for i := range list {
		list[i] = 100 * (1 - list[i])
	}
	return list
}
