package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/sim/paper"
	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal/policy"
)

// runFlags describe one run.
type runFlags struct {
	app, policy, scenario, clusters string
	latency                         time.Duration
	bandwidth                       float64
	seed                            uint64
	queens                          int
	tree                            string
	manta, trace, timeline          bool
	faults                          faultFlags
}

func (f *runFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.app, "app", "raytracer", "application `model`: integrate, nqueens, tsp, raytracer")
	fs.IntVar(&f.queens, "queens", 0, "run the real tree of so many queens (8 to 16) instead of a model")
	fs.StringVar(&f.tree, "tree", "", "run the recorded job tree in this `file` instead of a model")
	fs.StringVar(&f.policy, "policy", "adaptive", "steal `policy`: "+strings.Join(policy.Names(), ", "))
	fs.StringVar(&f.scenario, "scenario", "", "network from a scenario: scenario1 to scenario11, figure4, or a `file`")
	fs.StringVar(&f.clusters, "clusters", "16,16,16,16", "`sizes` of the clusters, without a scenario")
	fs.DurationVar(&f.latency, "latency", 10*time.Millisecond, "one-way latency between clusters, without a scenario")
	fs.Float64Var(&f.bandwidth, "bandwidth", 1e6, "bytes per second of each link, without a scenario")
	fs.Uint64Var(&f.seed, "seed", 1, "decides everything that is left to chance")
	fs.BoolVar(&f.manta, "manta", false, "spawning costs what it did on the papers' system, not what it does on ours")
	fs.BoolVar(&f.trace, "trace", false, "print everything that happens, a line each")
	fs.BoolVar(&f.timeline, "timeline", false, "print how busy each peer was, over time")
	fs.Var(&f.faults, "fault",
		"`KIND@TIME[+DURATION][,peer=N][,peers=N-N-…][,cluster=N][,other=N][,amount=X]`; may be repeated")
}

func runOne(args []string, out, _ io.Writer) error {
	var f runFlags
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	f.declare(fs)
	if err := parse(fs, args, 0, 0, out); err != nil {
		return err
	}
	c, err := f.config()
	if err != nil {
		return err
	}
	if f.trace {
		c.Trace = out
	}
	total := sim.Sequential(c.Tree)
	c.Want = &total.Result
	if f.timeline {
		c.Bucket = max(total.Work/time.Duration(peersOf(c)*timelineColumns)*3/2, time.Millisecond)
	}
	sizes := c.Network.Sizes()
	began := time.Now()
	r, err := sim.Run(c)
	if r == nil {
		return usageError{err}
	}
	if f.timeline {
		drawTimeline(out, r, sizes, c.Bucket)
	}
	printReport(out, r, total, time.Since(began))
	return err
}

func peersOf(c sim.Config) int {
	n := 0
	for _, size := range c.Network.Sizes() {
		n += size
	}
	return n
}

// config turns flags into a simulation.
func (f *runFlags) config() (sim.Config, error) {
	if _, err := policy.ByName(f.policy, "p000"); err != nil {
		return sim.Config{}, usageError{err}
	}
	app, err := paper.AppNamed(f.app)
	if err != nil {
		return sim.Config{}, usageError{err}
	}
	network, err := f.network()
	if err != nil {
		return sim.Config{}, err
	}
	overhead := paper.EngineOverhead
	if f.manta {
		overhead = app.Overhead
	}
	setup := paper.Setup{App: app, Network: network, Policy: f.policy, Overhead: overhead}
	c := setup.Config(f.seed)
	if f.queens != 0 {
		if f.queens < 8 || f.queens > 16 {
			return sim.Config{}, usage("--queens %d: 8 to 16 are possible", f.queens)
		}
		c.Tree = &sim.Queens{N: f.queens, Leaf: f.queens - 4, Position: 10 * time.Microsecond}
	}
	if f.tree != "" {
		if f.queens != 0 {
			return sim.Config{}, usage("--tree and --queens: one tree is enough")
		}
		if c.Tree, err = readTree(f.tree); err != nil {
			return sim.Config{}, usage("--tree: %w", err)
		}
	}
	c.Faults = f.faults
	return c, nil
}

func readTree(name string) (sim.Tree, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return sim.ReadRecorded(file, filepath.Base(name))
}

// network is a scenario, or equal links between the clusters.
func (f *runFlags) network() (func(uint64) *wan.Model, error) {
	if f.scenario != "" {
		files, name := wan.Scenarios(), f.scenario
		if strings.ContainsAny(name, "/.") {
			files, name = os.DirFS(filepath.Dir(name)), filepath.Base(name)
		}
		s, err := wan.Parse(files, name)
		if err != nil {
			return nil, usage("--scenario: %w", err)
		}
		return s.NewModel, nil
	}
	var sizes []int
	peers := 0
	for _, word := range strings.Split(f.clusters, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > maxPeers {
			return nil, usage("--clusters %q: %q is not a number of peers from 1 to %d", f.clusters, word, maxPeers)
		}
		sizes = append(sizes, n)
		peers += n
	}
	switch {
	case len(sizes) > wan.MaxClusters || peers > maxPeers:
		return nil, usage("--clusters: %d peers in %d clusters; at most %d in %d are possible", peers, len(sizes),
			maxPeers, wan.MaxClusters)
	case f.latency < 0 || f.latency > time.Hour:
		return nil, usage("--latency %v: 0 to 1h are possible", f.latency)
	case !(f.bandwidth >= 1 && f.bandwidth <= 1e12):
		return nil, usage("--bandwidth %v: 1 to 1e12 bytes per second are possible", f.bandwidth)
	}
	local := wan.Conditions{Bandwidth: 30e6, Latency: 50 * time.Microsecond}
	return func(uint64) *wan.Model {
		return wan.Uniform(sizes, local, wan.Conditions{Bandwidth: f.bandwidth, Latency: f.latency})
	}, nil
}

const maxPeers = 10_000

func printReport(out io.Writer, r *sim.Report, total sim.Totals, took time.Duration) {
	c, s := &r.Counts, &r.Steals
	fmt.Fprintf(out, "run time          %.3f s; sequential %.1f s; speedup %.2f, efficiency %.1f %% on %d workers\n",
		r.Elapsed.Seconds(), total.Work.Seconds(), r.Speedup(total.Work), 100*r.Efficiency(total.Work),
		r.Peers*r.Workers)
	fmt.Fprintf(out, "jobs              %d spawned, %d executed, %d aborted; %d given away, %d put back\n",
		c.Spawned, c.Executed, c.Aborted, c.Given, c.PutBack)
	fmt.Fprintf(out, "steals            local %d of %d, wide-area %d of %d\n",
		s.StealsWonLocal, s.StealsSentLocal, s.StealsWonWide, s.StealsSentWide)
	fmt.Fprintf(out, "messages          local %d (%.1f MB), wide-area %d (%.1f MB), lost %d\n",
		c.MessagesLocal, float64(c.BytesLocal)/1e6, c.MessagesWide, float64(c.BytesWide)/1e6, c.Lost)
	fmt.Fprintf(out, "simulation        %d events in %.2f s\n", c.Events, took.Seconds())
}
