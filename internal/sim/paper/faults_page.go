package paper

import (
	"fmt"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/sim"
)

// What goes wrong for a while and loses nothing: lines that are down, messages that are lost or late, machines that
// stand still. The swarm is that of the page of crashes.

// passing is a fault that passes.
type passing struct {
	name   string
	fault  sim.Fault
	worker int // peers that stand still meanwhile
}

const passes = time.Minute

func passingFaults() []passing {
	some := []int{3, 4, 5} // of the master's cluster, not the master
	half := make([]int, 8)
	for i := range half {
		half[i] = 16 + i
	}
	return []passing{
		{"line between the clusters down, 15 s", sim.Fault{Kind: sim.LinkDown, Other: 1, For: passes / 4}, 0},
		{"line between the clusters down", sim.Fault{Kind: sim.LinkDown, Other: 1}, 0},
		{"what crosses the line lost in silence", sim.Fault{Kind: sim.PartitionCluster, Cluster: othersCluster}, 0},
		{"line 100 times slower", sim.Fault{Kind: sim.LinkSlow, Other: 1, Amount: 100}, 0},
		{"one peer cut off", sim.Fault{Kind: sim.PartitionLong, Peers: []int{20}}, 0},
		{"three peers cut off", sim.Fault{Kind: sim.PartitionLong, Peers: some}, 0},
		{"half a cluster cut off", sim.Fault{Kind: sim.PartitionLong, Peers: half}, 0},
		{"what three peers send lost", sim.Fault{Kind: sim.PartitionOneWay, Peers: some}, 0},
		{"5 % of all messages lost", sim.Fault{Kind: sim.Drop, Amount: 0.05}, 0},
		{"20 % of all messages lost", sim.Fault{Kind: sim.Drop, Amount: 0.2}, 0},
		{"all messages 1 s late", sim.Fault{Kind: sim.Delay, Amount: 1}, 0},
		{"all messages up to 1 s late", sim.Fault{Kind: sim.Reorder, Amount: 1}, 0},
		{"the master stands still", sim.Fault{Kind: sim.MasterStall}, 1},
		{"one peer stands still", sim.Fault{Kind: sim.Stall, Peer: 20}, 1},
	}
}

func (x *passing) plan() plan {
	return plan{name: x.name, sizes: twoClusters, faults: func(middle time.Duration) []sim.Fault {
		f := x.fault
		f.At = 2 * middle / 3
		if f.For == 0 {
			f.For = passes
		}
		return []sim.Fault{f}
	}, whole: planPlain}
}

func makeFaults(o Options) (*Document, error) {
	d := new(Document)
	plans := []plan{{name: planPlain, sizes: twoClusters}}
	list := passingFaults()
	for i := range list {
		plans = append(plans, list[i].plan())
	}
	for _, t := range recoveryTrees() {
		if o.Progress != nil {
			fmt.Fprintf(o.Progress, "  %s\n", t.name)
		}
		runs, err := measureRecovery(o, t, plans)
		if err != nil {
			return nil, err
		}
		d.para("## %s", t.name)
		d.para("Without faults %s s.", collect(runs[planPlain], elapsed).middle(1))
		table := [][]string{{"fault", "run time, s", "longer by, s", "at most", "leaves run twice"}}
		for _, x := range list {
			longer := runs.compare(x.name, planPlain, func(ours, others *sim.Report) float64 {
				return (ours.Elapsed - others.Elapsed).Seconds()
			})
			again := collect(runs[x.name], func(r *sim.Report) float64 { return float64(r.Counts.Again) })
			table = append(table, []string{x.name, collect(runs[x.name], elapsed).middle(1), longer.middle(1),
				fmt.Sprintf("%.1f", slices.Max(longer)), again.middle(0)})
		}
		d.table(table)
	}
	return d, nil
}
