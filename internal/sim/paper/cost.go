package paper

import (
	"fmt"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
)

// costSeconds is about how long the runs of the cost table last, in virtual time.
const costSeconds = 60

// makeCost measures the simulator itself, so its figures are of the machine it runs on.
func makeCost(o Options) (*Document, error) {
	d := new(Document)
	d.para("# What simulation costs")
	d.para("N-queens-like runs of about %d virtual seconds in clusters of 16, 10 ms and 1 MB/s between them, policy adaptive, one "+
		"run at a time, shortest of %d. The figures are of the machine that wrote this page.", costSeconds, o.Seeds)
	rows := [][]string{{"peers", "virtual time", "CPU time", "events", "events/s", "peers x virtual s per real s", "relative to the row above"}}
	var last float64
	for peers := 64; peers <= 1024; peers *= 2 {
		var best time.Duration
		var r *sim.Report
		for seed := range uint64(max(1, o.Seeds)) {
			began := time.Now()
			report, err := sim.Run(costRun(peers, seed+1))
			if err != nil {
				return nil, err
			}
			if took := time.Since(began); best == 0 || took < best {
				best, r = took, report
			}
		}
		perPeer := best.Seconds() / (float64(peers) * r.Elapsed.Seconds())
		growth := "–"
		if last > 0 {
			growth = fmt.Sprintf("%.2f of the cost for each peer and second", perPeer/last)
		}
		last = perPeer
		rows = append(rows, []string{fmt.Sprint(peers), fmt.Sprintf("%.1f s", r.Elapsed.Seconds()), fmt.Sprintf("%.2f s", best.Seconds()),
			fmt.Sprint(r.Counts.Events), fmt.Sprintf("%.2f M", float64(r.Counts.Events)/best.Seconds()/1e6),
			fmt.Sprintf("%.0f", 1/perPeer), growth})
		if o.Progress != nil {
			fmt.Fprintf(o.Progress, "  %d peers\n", peers)
		}
	}
	d.table(rows)
	d.para("Linear growth is 1.00 in the last column. For comparison, a bare event loop without protocol cores did 960 nodes at " +
		"0.24 CPU-seconds a simulated minute (FINDINGS.md).")
	return d, nil
}

func costRun(peers int, seed uint64) sim.Config {
	sizes := make([]int, peers/16)
	for i := range sizes {
		sizes[i] = 16
	}
	tree := &sim.Split{
		Name: "cost", Seed: seed, Total: time.Duration(peers*costSeconds) * time.Second, Grain: time.Second,
		FanLow: 3, FanHigh: 14, Even: 0.05, Skew: 3, Arg: 60, Result: 24,
	}
	return sim.Config{
		Tree: tree, Seed: seed, Core: Core(), SpawnOverhead: EngineOverhead, MessageCost: messageCost, ByteCost: byteCost,
		Network: wan.Uniform(sizes, local, wan.Conditions{Bandwidth: 1e6, Latency: 10 * time.Millisecond}),
		Policy:  func() steal.Policy { return &steal.Adaptive{} },
	}
}
