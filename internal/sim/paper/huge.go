package paper

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/satin-peer/satin/internal/cputime"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/wan"
)

// Huge is one size of swarm, and for how long it works.
type Huge struct {
	Peers, Clusters int
	For             time.Duration // of virtual time, about
}

// What members tell everybody is about so long: a card with a proof of membership and four addresses, a load.
const (
	cardBytes = 1000
	loadBytes = 300
)

// MakeHuge measures what a peer costs in swarms of many sizes, one run of each: for the nights.
func MakeHuge(o Options, sizes []Huge) (*Document, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // no peer pays what the collector takes
	d := new(Document)
	d.para("# What a peer costs in a swarm of thousands")
	d.para("Runs of a broad irregular tree of jobs of about 1 s under the default policy, 10 ms and 1 MB/s between clusters, " +
		"by seed 1, one run at a time. Memory is what is in use after a collection in the last moment of the run, of the whole " +
		"simulation. Growth is the processor time, and the messages, for each peer and virtual second relative to the first row. " +
		"In it is what the simulation's caches do not hold any more of so many peers, which is nothing that one of them pays: so " +
		"there is the same relative to as many peers in swarms of the first row, simulated an event of each in turn. Memory is " +
		"collected when it has grown to five times what is in use (GOGC is 400).")
	rows := [][]string{{"peers", "clusters", "virtual time", "CPU time", "KB for each peer",
		"CPU time for each peer-hour", "growth", "beside as many in small swarms", "messages of each peer in a second", "growth", "of them between clusters", "share of time at work"}}
	var first struct{ cpu, messages float64 }
	var news [][]string
	for _, size := range sizes {
		r, cost, err := hugeRun(size)
		if err != nil {
			return nil, fmt.Errorf("%d peers: %w", size.Peers, err)
		}
		peerSeconds := float64(size.Peers) * r.Elapsed.Seconds()
		cpu := cost.Seconds() / peerSeconds
		wide := float64(r.Counts.MessagesWide)
		messages := (float64(r.Counts.MessagesLocal) + wide) / peerSeconds
		if first.cpu == 0 {
			first.cpu, first.messages = cpu, messages
		}
		beside := cpu
		if size != sizes[0] { // else they would be the same swarm
			if beside, err = abreast(sizes[0], size.Peers); err != nil {
				return nil, fmt.Errorf("swarms of %d peers: %w", sizes[0].Peers, err)
			}
		}
		rows = append(rows, []string{fmt.Sprint(size.Peers), fmt.Sprint(size.Clusters),
			fmt.Sprintf("%.1f s", r.Elapsed.Seconds()), fmt.Sprintf("%.1f s", cost.Seconds()),
			fmt.Sprintf("%.0f", float64(r.Memory)/1e3/float64(size.Peers)), fmt.Sprintf("%.3f s", 3600*cpu),
			fmt.Sprintf("%.2f", cpu/first.cpu), fmt.Sprintf("%.2f", cpu/beside), fmt.Sprintf("%.1f", messages),
			fmt.Sprintf("%.2f", messages/first.messages),
			fmt.Sprintf("%.1f %%", 100*wide/peerSeconds/messages),
			fmt.Sprintf("%.1f %%", 100*r.Work.Seconds()/peerSeconds)})
		news = append(news, newsOf(size, r))
		o.say("  %d peers", size.Peers)
	}
	d.table(rows)
	d.para("No table of a peer grows with the swarm: the policy sees 256 members of its own cluster and 256 of some 64 " +
		"others, or some more (`steal/policy/around.go`), a core knows 512 peers and the ways to 256 clusters, a daemon 8,192 " +
		"members; what all members tell again and again is paced by their number.")
	d.para("## What is told to everybody, between clusters")
	d.para("Everything that is told crosses the line of a cluster once. Of the run: beacons of its master and what was lost, as "+
		"it was simulated. Of the members: cards of some %d bytes, of which all together renew %d in a second at most, each every "+
		"%v at least, and loads of %d bytes, %d a second; computed. What pubsub adds to a message is not in it: with four "+
		"clusters it was measured as 5 KB between all of them for 128 bytes (`TestWideBytes`).",
		cardBytes, report.CardsPerSecond, report.CardEvery, loadBytes, report.LoadsPerSecond)
	d.table(append([][]string{{"peers", "clusters", "of the run, bytes/s over a line", "cards/s", "each every",
		"cards and loads, bytes/s over a line"}}, news...))
	return d, nil
}

func newsOf(size Huge, r *sim.Report) []string {
	every := report.Every(size.Peers, report.CardsPerSecond, report.CardEvery)
	cards := float64(size.Peers) / every.Seconds()
	loads := 1 / report.Every(size.Peers, report.LoadsPerSecond, time.Second).Seconds() * float64(size.Peers)
	lines := float64(max(size.Clusters-1, 1))
	return []string{fmt.Sprint(size.Peers), fmt.Sprint(size.Clusters),
		fmt.Sprintf("%.0f", float64(r.Counts.NewsBytesWide)/lines/r.Elapsed.Seconds()), fmt.Sprintf("%.1f", cards),
		every.String(), fmt.Sprintf("%.0f", cards*cardBytes+loads*loadBytes)}
}

// abreast runs as many swarms of a size as make so many peers, an event of each in turn on one processor, and gives the
// processor time for each peer and virtual second: with as many peers' state to reach as in one large swarm.
func abreast(size Huge, peers int) (cpu float64, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	n := max(1, peers/size.Peers)
	configs := make([]sim.Config, n)
	for i := range configs {
		configs[i] = size.config(uint64(i + 1))
		configs[i].Want, configs[i].Between = wanted(configs[i].Tree), runtime.Gosched
	}
	runtime.GC()
	var elapsed time.Duration
	var mu sync.Mutex
	began := cputime.Used()
	err = Options{Parallel: n}.each(n, func(i int) error {
		r, err := sim.Run(configs[i])
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			elapsed += r.Elapsed
		}
		return err
	})
	return (cputime.Used() - began).Seconds() / (float64(size.Peers) * elapsed.Seconds()), err
}

func hugeRun(size Huge) (*sim.Report, time.Duration, error) {
	c := size.config(1)
	c.Weigh, c.Want = true, wanted(c.Tree)
	runtime.GC()
	debug.FreeOSMemory() // what the last run left
	began := cputime.Used()
	r, err := sim.Run(c)
	return r, cputime.Used() - began, err
}

func (h Huge) config(seed uint64) sim.Config {
	tree := &sim.Split{
		Name: "cost", Seed: seed, Total: time.Duration(h.Peers) * h.For, Grain: time.Second,
		FanLow: 3, FanHigh: 14, Even: 0.05, Skew: 3, Arg: 60, Result: 24,
	}
	return sim.Config{
		Tree: tree, Seed: seed, Core: Core(), SpawnOverhead: EngineOverhead, MessageCost: messageCost,
		ByteCost: byteCost, Policy: PolicyNamed(adaptive), Network: wan.Uniform(alike(h.Peers/h.Clusters, h.Clusters),
			local, wan.Conditions{Bandwidth: 1e6, Latency: 10 * time.Millisecond}),
	}
}
