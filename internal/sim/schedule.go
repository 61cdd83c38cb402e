package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// Schedule makes a random run out of a seed: a small tree, a swarm of a few clusters, a policy, and faults of
// the given kinds. It is what exactness is tested with; equal seeds make equal runs.
func Schedule(seed uint64, kinds []FaultKind) Config {
	r := rand.New(rand.NewPCG(seed, 0x7363686564))
	all, pauses := len(kinds) == len(FaultKinds()), slices.Contains(kinds, Pause)
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k FaultKind) bool { return k == Pause })
	if r.IntN(8) == 0 && all {
		return frugalSchedule(seed, r)
	}
	sizes := make([]int, 1+r.IntN(4))
	peers := 0
	for i := range sizes {
		sizes[i] = 1 + r.IntN(6)
		peers += sizes[i]
	}
	names := policy.Names()[:drawn]
	name := names[r.IntN(len(names))]
	if seed%treeOneOf == 4 {
		name = "tree"
	}
	c := Config{
		Seed:        seed,
		Tree:        randomTree(r),
		Network:     randomNetwork(r, sizes),
		Policy:      policyOf(name),
		Core:        randomCore(r),
		Workers:     1 + r.IntN(3),
		MessageCost: time.Duration(r.IntN(50)) * time.Microsecond,
		Limit:       10 * time.Minute, // some eight times what the longest of many thousand takes
		Audit:       true,
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
	if len(kinds) > 0 {
		c.Faults = randomFaults(r, kinds, peers, len(sizes), span)
	}
	randomRecovery(r, &c)
	if r.IntN(4) == 0 {
		c.Quiesce = 5 * time.Minute
	}
	c.Deaf = seed%deafOneOf == 3
	if pauses {
		pausing(seed, len(kinds) == 0, peers, span, &c)
	}
	eagerly(seed, &c)
	withholding(seed, peers, span, &c)
	tightly(seed, &c)
	sharing(seed, &c)
	return c
}

// The first drawn policies are drawn; one of treeOneOf schedules has the one that came later instead, so that what the
// others draw stays.
const (
	drawn     = 9
	treeOneOf = 13
	deafOneOf = 7
)

// eagerly has some schedules give copies of jobs to idle peers. It draws for itself, so that what the others draw
// stays.
func eagerly(seed uint64, c *Config) {
	const oneOf = 5
	if seed%oneOf != 2 {
		return
	}
	r := rand.New(rand.NewPCG(seed, 0x6561676572))
	c.Core.EagerAfter = time.Duration(1+r.IntN(100)) * time.Millisecond
	c.Core.EagerPercent = 1 + r.IntN(100)
}

// pausing has users want their machines in some schedules, or in all. It draws for itself.
func pausing(seed uint64, always bool, peers int, span time.Duration, c *Config) {
	const oneOf = 4
	if seed%oneOf != 1 && !always {
		return
	}
	r := rand.New(rand.NewPCG(seed, 0x7061757365))
	for range 1 + r.IntN(peers) {
		c.Faults = append(c.Faults, randomFault(r, Pause, peers, len(c.Network.Sizes()), span))
	}
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

// Describe says in one line what a configuration from Schedule consists of.
func (c *Config) Describe() string {
	about := fmt.Sprintf("policy %s, recovery %v, clusters of %v, %d workers a peer, tree %+v, faults %v",
		c.Policy().Name(), c.Recovery, c.Network.Sizes(), c.Workers, c.Tree, c.Faults)
	if w := c.Withholder; w != nil {
		about += fmt.Sprintf(", from %v on withholders %v: %v", w.At, w.Peers, w.Trick)
	}
	return about
}
