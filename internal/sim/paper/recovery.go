package paper

import (
	"cmp"
	"compress/gzip"
	"embed"
	"fmt"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
)

// The experiments of the fault tolerance paper (4) and of the programming-model paper (5.5): 32 peers in two
// clusters of 16, of which one goes in the middle of the computation.

//go:embed trees
var recordedTrees embed.FS

// What recovery is tried on.
const (
	recoveryTime = 300 * time.Second // of a run on 32 peers, without faults, about: some minutes, as in the papers
	recoveryWork = 32 * recoveryTime
	pieceTime    = 2 * time.Second // no inner job computes longer itself

	// KeepAfter is the engine's default: results of jobs that took so long are kept.
	keepAfter = 20 * time.Millisecond
)

// The links are ours. The fault tolerance paper (4) has 100 Mbit/s within a cluster of DAS-2, and from one to another
// 2 ms and 415 to 592 Mbit/s.
var (
	recoveryLocal = wan.Conditions{Bandwidth: 100e6, Latency: 100 * time.Microsecond}
	recoveryWide  = wan.Conditions{Bandwidth: 10e6, Latency: 2 * time.Millisecond}
)

// recoveryTree is what runs.
type recoveryTree struct {
	name string
	tree func(seed uint64) (sim.Tree, error)
}

func recoveryTrees() []recoveryTree {
	list := []recoveryTree{{"gene-like", func(seed uint64) (sim.Tree, error) {
		return &sim.Split{Name: "gene", Seed: seed, Total: recoveryWork, Grain: 2 * time.Second, FanLow: 2, FanHigh: 8,
			Even: 0.02, Skew: 4, Arg: 400, Result: 300}, nil
	}}}
	for _, name := range []string{"nqueens", "raytracer", "tsp", "sat", "knapsack"} {
		list = append(list, recoveryTree{name, func(uint64) (sim.Tree, error) { return embeddedTree(name) }})
	}
	return list
}

// embeddedTree reads a recording and stretches it to the length of these experiments.
func embeddedTree(name string) (sim.Tree, error) {
	r, err := recorded(name)
	if err != nil {
		return nil, err
	}
	return r.Stretched(recoveryWork, pieceTime)
}

// recorded reads a recording.
func recorded(name string) (*sim.Recorded, error) {
	file, err := recordedTrees.Open("trees/" + name + ".tree.gz")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	return sim.ReadRecorded(text, name)
}

// plan is one kind of run.
type plan struct {
	name     string
	sizes    []int
	recovery steal.Recovery
	// faults of a run whose middle is there.
	faults     func(middle time.Duration) []sim.Fault
	checkpoint time.Duration
	whole      string // the plan whose middle is meant; "" is that of 1.5 clusters
	bare       bool   // no finished part of a stolen job goes home early
	gridlab    bool   // the sizes are those of GridLab's sites
	policy     string // "" is ours
}

const noMiddle = time.Duration(0)

var twoClusters = []int{16, 16}

// The owner is peer 0, in the first cluster.
const (
	mastersCluster = 0
	othersCluster  = 1
)

func crashOf(cluster int) func(time.Duration) []sim.Fault {
	return func(middle time.Duration) []sim.Fault {
		return []sim.Fault{{Kind: sim.ClusterCrash, At: middle, Cluster: cluster}}
	}
}

func leaveOf(cluster int) func(time.Duration) []sim.Fault {
	return func(middle time.Duration) []sim.Fault {
		return []sim.Fault{{Kind: sim.ClusterLeave, At: middle, Cluster: cluster}}
	}
}

// carryAfter is how long after a crash somebody has made its disks readable.
const carryAfter = 10 * time.Second

func crashAndCarry(cluster int) func(time.Duration) []sim.Fault {
	return func(middle time.Duration) []sim.Fault {
		return []sim.Fault{
			{Kind: sim.ClusterCrash, At: middle, Cluster: cluster},
			{Kind: sim.Carry, At: middle + carryAfter, Cluster: cluster},
		}
	}
}

func crashOfMaster(middle time.Duration) []sim.Fault {
	return []sim.Fault{{Kind: sim.MasterCrash, At: middle}}
}

// migrate: peers join in a new cluster, the last, and a moment later as many leave: a cluster that is not the
// master's. The quarter is like the fault tolerance paper's (4.3, one of three clusters), the half is the
// programming-model paper's (5.5).
func migrate(sizes []int) func(time.Duration) []sim.Fault {
	return func(middle time.Duration) (faults []sim.Fault) {
		for range sizes[1] {
			faults = append(faults, sim.Fault{Kind: sim.Join, At: middle, Cluster: len(sizes) - 1})
		}
		return append(faults, sim.Fault{Kind: sim.ClusterLeave, At: middle + 2*time.Second, Cluster: othersCluster})
	}
}

var (
	quarters = []int{8, 8, 8, 8, 0}
	halves   = []int{16, 16, 0}
)

const checkpointEvery = time.Minute

// Plans, by the names that the rows have.
var recoveryPlans = []plan{
	{name: planPlain, sizes: twoClusters},
	{name: planPlainNaive, sizes: twoClusters, recovery: steal.Naive},
	{name: planIdeal, sizes: []int{16, 8}},
	{name: "crash, naive", sizes: twoClusters, recovery: steal.Naive, faults: crashOf(othersCluster)},
	{name: "crash", sizes: twoClusters, faults: crashOf(othersCluster)},
	{name: planBare, sizes: twoClusters, faults: crashOf(othersCluster), bare: true},
	{name: "crash with checkpoints", sizes: twoClusters, faults: crashAndCarry(othersCluster),
		checkpoint: checkpointEvery},
	{name: "leave", sizes: twoClusters, faults: leaveOf(othersCluster)},
	{name: "crash, master's, naive", sizes: twoClusters, recovery: steal.Naive, faults: crashOf(mastersCluster)},
	{name: "crash, master's", sizes: twoClusters, faults: crashOf(mastersCluster)},
	{name: "crash with checkpoints, master's", sizes: twoClusters, faults: crashAndCarry(mastersCluster),
		checkpoint: checkpointEvery},
	{name: "leave, master's", sizes: twoClusters, faults: leaveOf(mastersCluster)},
	{name: planMasterNaive, sizes: twoClusters, recovery: steal.Naive, faults: crashOfMaster},
	{name: planMaster, sizes: twoClusters, faults: crashOfMaster},
	{name: planCheckpoint, sizes: twoClusters, checkpoint: checkpointEvery},
	{name: planStay, sizes: quarters},
	{name: planMigrate, sizes: quarters, faults: migrate(quarters), whole: planStay},
	{name: planMigrateHalf, sizes: halves, faults: migrate(halves), whole: planPlain},
}

const (
	planPlain       = "no faults"
	planPlainNaive  = "no faults, naive"
	planIdeal       = "1.5 clusters"
	planBare        = "crash, nothing copied"
	planMaster      = "master crashes"
	planMasterNaive = "master crashes, naive"
	planCheckpoint  = "checkpoints"
	planStay        = "four clusters"
	planMigrate     = "migration of 8 peers"
	planMigrateHalf = "migration of 16 peers"
)

// What a checkpoint costs: to encode a record of a kilobyte and to write it beside the work, without waiting for the
// disk, as internal/checkpoint does.
const (
	recordCost = 10 * time.Microsecond
	diskCost   = 10 * time.Nanosecond
)

// recoveryConfig is one run.
func recoveryConfig(t recoveryTree, p plan, seed uint64, middle time.Duration) (sim.Config, error) {
	tree, err := t.tree(seed)
	if err != nil {
		return sim.Config{}, err
	}
	c := sim.Config{
		Tree: tree, Seed: seed, Network: wan.Uniform(p.sizes, recoveryLocal, recoveryWide), Core: steal.LAN(),
		SpawnOverhead: EngineOverhead, MessageCost: messageCost, ByteCost: byteCost,
		Policy: PolicyNamed(cmp.Or(p.policy, adaptive)), Recovery: p.recovery, KeepAfter: keepAfter,
		Gossip:     sim.Gossip{Delay: 100 * time.Millisecond},
		Checkpoint: sim.Checkpoint{Every: p.checkpoint, RecordCost: recordCost, ByteCost: diskCost}, Audit: true,
	}
	if p.gridlab {
		c.Network, c.Speed = gridlab(p.sizes)
	}
	if p.bare {
		c.Core.MaxCopied = 0
	}
	if p.faults != nil {
		c.Faults = p.faults(middle)
		if p.checkpoint > 0 { // the crash falls into the middle of an interval (programming-model paper, 5.5)
			c.Checkpoint.Phase = (middle + p.checkpoint/2) % p.checkpoint
		}
	}
	c.Want = wanted(tree)
	return c, nil
}

// recoveryRuns are the reports of one tree, by plan and seed.
type recoveryRuns map[string][]*sim.Report

// measureRecovery runs all plans with all seeds: first those that say where the middle is.
func measureRecovery(o Options, t recoveryTree, plans []plan) (recoveryRuns, error) {
	runs := make(recoveryRuns)
	for _, p := range plans {
		runs[p.name] = make([]*sim.Report, o.Seeds)
	}
	for _, faulty := range []bool{false, true} {
		now := slices.DeleteFunc(slices.Clone(plans), func(p plan) bool { return (p.faults != nil) != faulty })
		err := o.each(len(now)*o.Seeds, func(k int) error {
			p, seed := now[k/o.Seeds], k%o.Seeds
			middle := noMiddle
			if faulty {
				middle = runs[cmp.Or(p.whole, planIdeal)][seed].Elapsed / 2
			}
			c, err := recoveryConfig(t, p, uint64(seed+1), middle)
			if err != nil {
				return err
			}
			if runs[p.name][seed], err = sim.Run(c); err != nil {
				return fmt.Errorf("%s, %s, seed %d: %w", t.name, p.name, seed+1, err)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// recoveryPolicies are ours and the papers'.
var recoveryPolicies = []string{adaptive, "crs"}

// measurePolicies runs all plans under each policy, which has its own middle.
func measurePolicies(o Options, t recoveryTree, plans []plan) (all []recoveryRuns, err error) {
	for _, policy := range recoveryPolicies {
		under := slices.Clone(plans)
		for i := range under {
			under[i].policy = policy
		}
		runs, err := measureRecovery(o, t, under)
		if err != nil {
			return nil, fmt.Errorf("under %s: %w", policy, err)
		}
		all = append(all, runs)
	}
	return all, nil
}
