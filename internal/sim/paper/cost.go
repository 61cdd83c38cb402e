package paper

import (
	"fmt"
	"runtime"
	"time"

	"github.com/satin-peer/satin/internal/cputime"
	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/wan"
)

// costTime is about how long the runs of the cost table last, in virtual time.
const costTime = 180 * time.Second

// costSizes are what is measured: as many clusters as in the papers, and at the end many.
var costSizes = [...]struct{ peers, clusters int }{{64, 4}, {128, 4}, {256, 4}, {512, 4}, {1024, 4}, {1024, 64}}

// makeCost measures the simulator itself, so its figures are of the machine it runs on.
func makeCost(o Options) (*Document, error) {
	d := new(Document)
	d.para("# What simulation costs")
	d.para("Runs of about %v of virtual time of a broad irregular tree, 10 ms and 1 MB/s between clusters, one run at a time; the least "+
		"processor time of %s, on the machine that wrote this page. Growth is the cost for each peer and virtual second relative to "+
		"64 peers: 1.00 would be linear growth of the whole.", costTime, o.seeds())
	rows := [][]string{{"policy", "peers", "clusters", "virtual time", "CPU time", "events", "events/s",
		"peers x virtual s per CPU second", "growth"}}
	for _, policy := range []string{"crs", adaptive} {
		first := 0.0
		for _, size := range costSizes {
			peers := size.peers
			r, cost, err := leastCost(o, policy, peers, size.clusters)
			if err != nil {
				return nil, err
			}
			perPeer := cost.Seconds() / (float64(peers) * r.Elapsed.Seconds())
			if first == 0 {
				first = perPeer
			}
			rows = append(rows, []string{policy, fmt.Sprint(peers), fmt.Sprint(size.clusters),
				fmt.Sprintf("%.1f s", r.Elapsed.Seconds()), fmt.Sprintf("%.2f s", cost.Seconds()),
				fmt.Sprint(r.Counts.Events), fmt.Sprintf("%.2f M", float64(r.Counts.Events)/cost.Seconds()/1e6),
				fmt.Sprintf("%.0f", 1/perPeer), fmt.Sprintf("%.2f", perPeer/first)})
			o.say("  %d peers, %s", peers, policy)
		}
	}
	d.table(rows)
	d.para("For comparison, a bare event loop without protocol cores did 960 nodes at 0.24 CPU-seconds a simulated minute, %d peers x "+
		"virtual seconds per CPU second.", int(960*60/0.24))
	return d, nil
}

// leastCost runs every seed and returns the cheapest run.
func leastCost(o Options, policy string, peers, clusters int) (best *sim.Report, cost time.Duration, err error) {
	for seed := range uint64(o.Seeds) {
		c := costRun(policy, peers, clusters, costTime, seed+1)
		c.Want = wanted(c.Tree)
		runtime.GC() // what the last run left
		began := cputime.Used()
		r, err := sim.Run(c)
		if err != nil {
			return nil, 0, err
		}
		if took := cputime.Used() - began; best == nil || took < cost {
			best, cost = r, took
		}
	}
	return best, cost, nil
}

func costRun(policy string, peers, clusters int, long time.Duration, seed uint64) sim.Config {
	tree := &sim.Split{
		Name: "cost", Seed: seed, Total: time.Duration(peers) * long, Grain: time.Second,
		FanLow: 3, FanHigh: 14, Even: 0.05, Skew: 3, Arg: 60, Result: 24,
	}
	return sim.Config{
		Tree: tree, Seed: seed, Core: Core(), SpawnOverhead: EngineOverhead, MessageCost: messageCost,
		ByteCost: byteCost, Policy: PolicyNamed(policy), Network: wan.Uniform(alike(peers/clusters, clusters), local,
			wan.Conditions{Bandwidth: 1e6, Latency: 10 * time.Millisecond}),
	}
}
