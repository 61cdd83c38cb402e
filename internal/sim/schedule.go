package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
)

// Schedule makes a random run out of a seed: a small tree, a swarm of a few clusters, a policy, and faults of the given
// kinds. It is what exactness is tested with; equal seeds make equal runs.
func Schedule(seed uint64, kinds []FaultKind) Config {
	r := rand.New(rand.NewPCG(seed, 0x7363686564))
	sizes := make([]int, 1+r.IntN(4))
	peers := 0
	for i := range sizes {
		sizes[i] = 1 + r.IntN(6)
		peers += sizes[i]
	}
	names := steal.PolicyNames()
	name := names[r.IntN(len(names))]
	c := Config{
		Seed:    seed,
		Tree:    randomTree(r),
		Network: randomNetwork(r, sizes),
		Policy: func() steal.Policy {
			p, err := steal.PolicyByName(name, firstPeer)
			if err != nil {
				panic(err) // a name from the list of names
			}
			return p
		},
		Core:        randomCore(r),
		Workers:     1 + r.IntN(3),
		MessageCost: time.Duration(r.IntN(50)) * time.Microsecond,
		Limit:       10 * time.Minute, // some eight times what the longest of many thousand takes
	}
	speeds := make([]float64, peers)
	for i := range speeds {
		speeds[i] = 0.25 + 2*r.Float64()
	}
	c.Speed = func(peer int) float64 { return speeds[peer%peers] }
	if r.IntN(2) == 0 {
		c.ServeDelay = time.Duration(r.IntN(3_000)) * time.Microsecond
	}
	total := Sequential(c.Tree)
	c.Want = &total.Result
	power := 0.0
	for _, s := range speeds {
		power += s * float64(c.Workers)
	}
	span := time.Duration(2*float64(total.Work)/power) + 500*time.Millisecond
	for range r.IntN(8) {
		if len(kinds) > 0 {
			c.Faults = append(c.Faults, randomFault(r, kinds[r.IntN(len(kinds))], peers, len(sizes), span))
		}
	}
	if r.IntN(4) == 0 {
		c.Quiesce = 5 * time.Minute
	}
	return c
}

// firstPeer has the root job.
const firstPeer = steal.PeerID("p000")

func randomTree(r *rand.Rand) Tree {
	leaf := time.Duration(1+r.IntN(30)) * time.Millisecond
	if r.IntN(3) == 0 {
		return &Split{
			Seed: r.Uint64(), Total: leaf * time.Duration(50+r.IntN(1000)), Grain: leaf,
			FanLow: 2, FanHigh: 2 + r.IntN(4), Even: r.Float64() / 2, Skew: 1 + r.IntN(6),
			Arg: r.IntN(4000), Result: r.IntN(1000), Size: int32(r.IntN(2) * 10_000), PerUnit: 3 * r.Float64(),
		}
	}
	s := &Search{Seed: r.Uint64(), Depth: 3 + r.IntN(5), FanHigh: 2 + r.IntN(4), Leaf: leaf, Rare: 1 + r.IntN(200)}
	s.Spec = r.IntN(s.Depth + 2)
	return s
}

func randomNetwork(r *rand.Rand, sizes []int) *wan.Model {
	local := wan.Conditions{Bandwidth: 1e6 + 1e8*r.Float64(), Latency: time.Duration(r.IntN(1000)) * time.Microsecond}
	m := wan.NewModel(sizes, local)
	for a := range sizes {
		for b := range a {
			c := wan.Conditions{
				Bandwidth: []float64{2e4, 1e5, 1e6, 1e7}[r.IntN(4)] * (0.5 + r.Float64()),
				Latency:   time.Duration(r.IntN(200)) * time.Millisecond,
			}
			m.Links().Set(a, b, c)
			m.Links().Set(b, a, c)
		}
	}
	return m
}

func randomCore(r *rand.Rand) steal.Config {
	c := []steal.Config{steal.Local(), steal.LAN(), steal.WAN()}[r.IntN(3)]
	c.StealGap = time.Duration(1+r.IntN(5)) * time.Millisecond // so that the dry spells of bad seeds do not take all the time
	if r.IntN(2) == 0 {
		c.HeartbeatEvery = time.Duration(50+r.IntN(1000)) * time.Millisecond
		c.WideHeartbeatEvery = max(c.WideHeartbeatEvery, c.HeartbeatEvery)
	}
	if r.IntN(4) == 0 { // bounds that are reached
		c.MaxBatch, c.MaxWaiting, c.MaxSegments, c.MaxLeases, c.MaxAsks = 1+r.IntN(4), 1+r.IntN(3), 4+r.IntN(8), 1+r.IntN(8), 1+r.IntN(3)
	}
	return c
}

// randomFault draws what a fault of that kind needs. Faults begin within the span, about twice the time that the run would
// take without them, and all end.
func randomFault(r *rand.Rand, kind FaultKind, peers, clusters int, span time.Duration) Fault {
	switch kind {
	case LinkDown, LinkSlow, Burst:
		if clusters == 1 {
			kind = Drop
		}
	case Crash, Restart, Leave:
		if peers == 1 {
			kind = Stall
		}
	}
	f := Fault{
		Kind: kind, At: time.Duration(r.Int64N(int64(span))), For: time.Duration(1 + r.Int64N(int64(span))),
		Peer: r.IntN(peers), Cluster: r.IntN(clusters), Other: r.IntN(clusters), Amount: r.Float64(),
	}
	switch kind {
	case PartitionShort:
		f.For = time.Duration(1+r.IntN(2000)) * time.Millisecond
	case PartitionLong:
		f.For = time.Duration(4+r.IntN(20)) * time.Second
	case Slow:
		f.Amount = 0.05 + 0.5*f.Amount
	case JoinFlood:
		f.Amount = float64(1 + r.IntN(20))
	case ClockForward, ClockBackward:
		f.Amount *= 20
	case ClockDrift:
		f.Amount += 0.5
	case Delay:
		f.Amount *= 2
	case LinkSlow:
		f.Amount = 1 + 50*f.Amount
	case Burst:
		f.Amount = 1 + 100_000*f.Amount
	case Crash, Restart, Leave:
		f.Peer = 1 + r.IntN(peers-1)
	}
	if kind == PartitionShort || kind == PartitionLong || kind == PartitionOneWay {
		for p := range peers {
			if r.IntN(2) == 0 {
				f.Peers = append(f.Peers, p)
			}
		}
	}
	if f.Cluster == f.Other {
		f.Other = (f.Cluster + 1) % clusters
	}
	return f
}

// Survivable lists the kinds of fault that do not cost a peer its life, whose loss the protocol survives without knowing
// anything of orphans.
func Survivable() []FaultKind {
	var kinds []FaultKind
	for _, k := range FaultKinds() {
		switch k {
		case Crash, Restart, Leave, ClusterLeave:
		default:
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// Describe says in one line what a configuration from Schedule consists of.
func (c *Config) Describe() string {
	return fmt.Sprintf("policy %s, clusters of %v, %d workers a peer, tree %+v, faults %v",
		c.Policy().Name(), c.Network.Sizes(), c.Workers, c.Tree, c.Faults)
}
