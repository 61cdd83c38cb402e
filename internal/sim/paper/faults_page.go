package paper

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/sim"
)

// What goes wrong for a while and loses nothing: lines that are down, messages that are lost or late, machines that
// stand still, or whose users want them. The swarm is that of the page of crashes.

// passing is a fault that passes.
type passing struct {
	name  string
	fault sim.Fault
}

const passes = time.Minute

func passingFaults() []passing {
	some := []int{3, 4, 5} // of the master's cluster, not the master
	half := []int{16, 17, 18, 19, 20, 21, 22, 23}
	return []passing{
		{"line between the clusters down, 15 s", sim.Fault{Kind: sim.LinkDown, Other: 1, For: passes / 4}},
		{"line between the clusters down", sim.Fault{Kind: sim.LinkDown, Other: 1}},
		{"what crosses the line lost in silence", sim.Fault{Kind: sim.PartitionCluster, Cluster: othersCluster}},
		{"line 100 times slower", sim.Fault{Kind: sim.LinkSlow, Other: 1, Amount: 100}},
		{"one peer cut off", sim.Fault{Kind: sim.PartitionLong, Peers: []int{20}}},
		{"three peers cut off", sim.Fault{Kind: sim.PartitionLong, Peers: some}},
		{"half a cluster cut off", sim.Fault{Kind: sim.PartitionLong, Peers: half}},
		{"what three peers send lost", sim.Fault{Kind: sim.PartitionOneWay, Peers: some}},
		{"5 % of all messages lost", sim.Fault{Kind: sim.Drop, Amount: 0.05}},
		{"20 % of all messages lost", sim.Fault{Kind: sim.Drop, Amount: 0.2}},
		{"all messages 1 s late", sim.Fault{Kind: sim.Delay, Amount: 1}},
		{"all messages up to 1 s late", sim.Fault{Kind: sim.Reorder, Amount: 1}},
		{"the master stands still", sim.Fault{Kind: sim.MasterStall}},
		{"one peer stands still", sim.Fault{Kind: sim.Stall, Peer: 20}},
		{"the master has no core", sim.Fault{Kind: sim.Pause, Peers: []int{0}}},
		{"three peers have no core", sim.Fault{Kind: sim.Pause, Peers: some}},
		{"half a cluster has no core", sim.Fault{Kind: sim.Pause, Peers: half}},
	}
}

func (x *passing) plan() plan {
	return plan{name: x.name, sizes: twoClusters, faults: func(middle time.Duration) []sim.Fault {
		f := x.fault
		f.At = 2 * middle / 3
		f.For = cmp.Or(f.For, passes)
		if f.Kind != sim.Pause {
			return []sim.Fault{f}
		}
		var each []sim.Fault
		for _, f.Peer = range x.fault.Peers {
			f.Peers = nil
			each = append(each, f)
		}
		return each
	}, whole: planPlain}
}

func makeFaults(o Options) (*Document, error) {
	d := new(Document)
	d.para("# Faults that pass")
	d.para("The swarm and the trees of [the page of crashes](sim-recovery.md): 32 peers in two clusters of 16. After a third of the run something goes wrong "+
		"for %.0f s, and then all is well again. Nobody is gone and nothing is lost, so what a fault costs is what waited for it, and what two have done because each took "+
		"the other for lost. It should make a run longer by no more than it lasts. Three peers are of the master's cluster, the half and the one are of the other. Over %s: medians, half the "+
		"range, and the most.", passes.Seconds(), o.seeds())
	list := passingFaults()
	plans := []plan{{name: planPlain, sizes: twoClusters}}
	for i := range list {
		plans = append(plans, list[i].plan())
	}
	all, within := 0, 0
	for _, t := range recoveryTrees() {
		o.say("  %s", t.name)
		runs, err := measureRecovery(o, t, plans)
		if err != nil {
			return nil, err
		}
		d.para("## %s", t.name)
		d.para("Without faults %s s.", collect(runs[planPlain], elapsed).middle(1))
		table := [][]string{{"fault", "run time, s", "longer by, s", "at most, s", "leaves run twice"}}
		for _, x := range list {
			longer := runs.compare(x.name, planPlain, func(ours, others *sim.Report) float64 {
				return (ours.Elapsed - others.Elapsed).Seconds()
			})
			again := collect(runs[x.name], func(r *sim.Report) float64 { return float64(r.Counts.Again) })
			table = append(table, []string{x.name, collect(runs[x.name], elapsed).middle(1), longer.middle(1),
				fmt.Sprintf("%.1f", slices.Max(longer)), again.middle(0)})
			for _, l := range longer {
				if all++; l <= cmp.Or(x.fault.For, passes).Seconds() {
					within++
				}
			}
		}
		d.table(table)
	}
	d.para("%d of %d runs are longer by no more than their fault lasts.", within, all)
	return d, nil
}
