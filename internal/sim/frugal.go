package sim

import (
	"math/rand/v2"
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// frugalSchedule draws a run in which only peers go, once, in the middle of it, and everybody notices soon: nothing
// excuses that work is done again whose outcome somebody has. Config.Frugal says how much may be. In half of them
// nobody goes, and something passes.
func frugalSchedule(seed uint64, r *rand.Rand) Config {
	c := Config{
		Seed: seed,
		Tree: &Split{Seed: r.Uint64(), Total: time.Duration(20+r.IntN(40)) * time.Second, Grain: 40 * time.Millisecond,
			FanLow: 2, FanHigh: 2 + r.IntN(4), Even: 0.1 + r.Float64()/2, Skew: 1 + r.IntN(3), Arg: 100, Result: 100},
		Network: wan.Uniform([]int{3 + r.IntN(3), 3 + r.IntN(3)},
			wan.Conditions{Bandwidth: 1e8, Latency: 100 * time.Microsecond},
			wan.Conditions{Bandwidth: 1e7, Latency: 2 * time.Millisecond}),
		Core: steal.LAN(), Limit: 10 * time.Minute, Audit: true, Frugal: true,
		KeepAfter: time.Millisecond, Gossip: Gossip{Delay: 20 * time.Millisecond},
		Policy: policyOf([]string{"crs", "adaptive", "rs"}[r.IntN(3)]),
	}
	c.Core.HeartbeatEvery, c.Core.WideHeartbeatEvery, c.Core.TellEvery = 100*time.Millisecond, 100*time.Millisecond,
		10*time.Millisecond
	c.Core.BeaconEvery, c.Core.MasterLease, c.Core.RankStagger = 100*time.Millisecond, 600*time.Millisecond,
		100*time.Millisecond
	c.Core.StealGap = time.Millisecond
	total := Sequential(c.Tree)
	c.Want = &total.Result
	peers := 0
	for _, n := range c.Network.Sizes() {
		peers += n
	}
	middle := total.Work / time.Duration(2*peers)
	kind := []FaultKind{ClusterCrash, ClusterLeave, MasterCrash, MasterLeave, Crash, Leave, Return, Carry}[r.IntN(8)]
	f := Fault{Kind: kind, At: middle, Cluster: r.IntN(2), Peer: r.IntN(peers), For: 2 * time.Second}
	switch kind {
	case ClusterCrash:
		f.For = 0
	case Return, Carry:
		c.Checkpoint.Every, c.Checkpoint.Torn = 100*time.Millisecond, true
	}
	if kind == Carry {
		c.Faults = append(c.Faults, Fault{Kind: ClusterCrash, At: f.At, Cluster: f.Cluster})
		f.At += time.Second
	}
	c.Faults = append(c.Faults, f)
	if r.IntN(2) == 0 {
		pass(&c, peers, r)
	}
	return c
}

// pass has a fault befall the run that loses nothing and is over after a second or two, in its first half or so. What
// all peers do from its beginning until they have noticed its end may be done twice, and as much again.
func pass(c *Config, peers int, r *rand.Rand) {
	s := c.Tree.(*Split)
	s.Total = time.Duration(peers*(8+r.IntN(8))) * time.Second
	total := Sequential(s)
	c.Want = &total.Result
	c.Frugal, c.Checkpoint = false, Checkpoint{}
	f := Fault{At: time.Duration(1000+r.IntN(3000)) * time.Millisecond, Peer: r.IntN(peers), Cluster: r.IntN(2),
		For: time.Duration(300+r.IntN(2000)) * time.Millisecond}
	f.Kind = []FaultKind{LinkDown, PartitionCluster, PartitionLong, PartitionOneWay, Drop, Delay, Reorder, Stall,
		MasterStall}[r.IntN(9)]
	switch f.Kind {
	case LinkDown:
		f.Cluster, f.Other = 0, 1
	case PartitionLong, PartitionOneWay:
		f.Peers = r.Perm(peers)[:1+r.IntN(peers/2)]
	case Drop:
		f.Amount = r.Float64() / 3
	case Delay, Reorder:
		f.Amount = r.Float64() / 5
	}
	c.Faults = []Fault{f}
	noticed := time.Duration(c.Core.HeartbeatMisses) * c.Core.HeartbeatEvery
	c.MostAgain = 2 * time.Duration(peers) * (f.For + noticed)
}

// policyOf makes policies by name.
func policyOf(name string) func() policy.Policy {
	return func() policy.Policy {
		p, err := policy.ByName(name, firstPeer)
		if err != nil {
			panic(err) // a name from the list of names
		}
		return p
	}
}
