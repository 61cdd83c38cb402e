package paper

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
)

// Of each step of the paper's program (programming model, 5.6) something is done on one machine, and then the forces on
// all bodies by all. The paper names neither its size nor its efficiency on 36 nodes, but that it was near 65 % on 24
// and that adaptation came to rest at 36 to 40 nodes, where the weighted average efficiency is Emax = 50 %: with p
// processors a step takes aloneTime + dividedTime / p, which makes 62 and 53 % of 24 and 36.
const (
	adaptSteps  = 110
	aloneTime   = 5 * time.Second
	dividedTime = 200 * time.Second
)

// bodies is the recorded Barnes-Hut, its steps again and again, so many in all, on slower machines.
func bodies(steps int) (*sky, error) {
	r, err := recorded("barneshut-objects")
	if err != nil {
		return nil, err
	}
	if r, err = r.Repeat(firstStep, firstStep+starSteps, steps); err != nil {
		return nil, err
	}
	own := aloneTime.Seconds() / dividedTime.Seconds() * float64(r.Work()) / float64(steps)
	if r, err = r.Between(func(int, time.Duration) time.Duration { return time.Duration(own) }); err != nil {
		return nil, err
	}
	if r, err = r.Scaled(time.Duration(steps) * (aloneTime + dividedTime)); err != nil {
		return nil, err
	}
	return newSky(r, time.Duration(arrivalShare/starRegions*dividedTime.Seconds()*float64(time.Second))), nil
}

// The DAS-3's clusters and what is between them, seldom the bottleneck; and the uplink of scenarios 3 and 4, which is
// "approximately 100 KB/s": divided between the ways to the two other clusters of the start.
var (
	adaptLocal  = wan.Conditions{Bandwidth: 100e6, Latency: 50 * time.Microsecond}
	adaptWide   = wan.Conditions{Bandwidth: 10e6, Latency: time.Millisecond}
	adaptUplink = wan.Conditions{Bandwidth: 50e3, Latency: time.Millisecond}
)

const (
	// adaptPeriod is the time between two decisions; the paper's is not published, but for "10 minutes" being long.
	adaptPeriod = time.Minute
	// comesAfter is how long a machine takes to come; ours.
	comesAfter = 5 * time.Second
	// speedShare is the share of its time in which a peer may measure its speed, yardstick what it runs for it, and
	// speedError by how much it may be wrong.
	speedShare = 0.005
	yardstick  = 20 * time.Millisecond
	speedError = 0.3

	overloadedCluster, linkedCluster = 1, 2
	// roomBytes is what a peer has for what others give it: there is room for all but for more than some thousand
	// outcomes that those hand over who leave, as in a swarm.
	roomBytes = 64 << 20
	// heavyLoad and lightLoad are what is left of a processor's speed. The paper says "heavy", with "a very low
	// weighted average efficiency", and "relatively light".
	heavyLoad, lightLoad = 0.03, 0.4
)

// An adaptScenario is one of the paper's experiments (5.6).
type adaptScenario struct {
	name, about string
	start       []int // peers of each cluster
	badUplink   bool
	overloaded  float64 // what is left of the speed of the peers of a cluster; 0: all
	at          time.Duration
	crash       []int // clusters, at that time
	closed      bool  // nobody else can come
	saved       float64
	ours        float64 // target, percent
	used        float64 // target, of the efficiency once it has adapted, percent; 0: none
	said        string  // what the paper says of it
}

var wholeAtStart = []int{12, 12, 12, 0, 0}

var adaptScenarios = []adaptScenario{
	{name: "1", about: "expanding to more nodes", start: []int{8, 0, 0, 0, 0}, saved: 50, ours: 55,
		said: "8 to 36-40 nodes in 4 clusters"},
	{name: "2", about: "overloaded processors", start: wholeAtStart, overloaded: heavyLoad, at: 200 * time.Second,
		saved: 14, ours: 20, said: "the overloaded leave, WAE to 65 %, 38 in the end"},
	{name: "3", about: "overloaded network link", start: wholeAtStart, badUplink: true, saved: 60, ours: 60, used: 70,
		said: "WAE 25 %, the cluster leaves after the first period, WAE to 65 %, 38 in the end"},
	{name: "4", about: "overloaded processors and link", start: wholeAtStart, badUplink: true, overloaded: lightLoad,
		saved: 30, ours: 40, said: "the cluster leaves after the first period, then several slow nodes"},
	{name: "5", about: "crashing nodes", start: wholeAtStart, at: 500 * time.Second, crash: []int{1, 2}, saved: 13,
		ours: 20, said: "WAE to 70 %, back to 36"},
}

// equalScenarios are what the default must do no harm to: equal machines, and nothing wrong with any. As many as the
// program uses well, more, far too many, and volunteers in clusters of two and one.
var equalScenarios = []adaptScenario{
	{name: "8", about: "as many as are used well", start: alike(2, 4), closed: true},
	{name: "36", about: "the paper's", start: alike(12, 3), closed: true},
	{name: "60", about: "more", start: alike(12, 5), closed: true},
	{name: "120", about: "far too many", start: alike(24, 5), closed: true},
	{name: "40", about: "far too many, in pairs", start: alike(2, 20), closed: true},
	{name: "30", about: "each its own cluster", start: alike(1, 30), closed: true},
}

// alike are so many clusters of so many peers.
func alike(peers, clusters int) []int { return slices.Repeat([]int{peers}, clusters) }

// clusterOfAll is how many machines every cluster has.
const clusterOfAll = 12

// adaptRuns are runs of one program, which comes to want.
type adaptRuns struct {
	Options
	tree *sky
	want *sim.Result
}

func newAdaptRuns(o Options, steps int) (*adaptRuns, error) {
	tree, err := bodies(steps)
	if err != nil {
		return nil, err
	}
	return &adaptRuns{o, tree, wanted(tree)}, nil
}

// config is one run. Policies and modes are the rows of the page.
func (o *adaptRuns) config(s adaptScenario, policy string, mode adapt.Mode, measured bool, seed uint64) sim.Config {
	network := wan.Uniform(s.start, adaptLocal, adaptWide)
	if s.badUplink {
		for other := range s.start {
			if other != linkedCluster {
				network.Links().Set(linkedCluster, other, adaptUplink)
				network.Links().Set(other, linkedCluster, adaptUplink)
			}
		}
	}
	c := sim.Config{
		Tree: o.tree, Want: o.want, Seed: seed, Network: network, Core: steal.WAN(), SpawnOverhead: recoverable,
		MessageCost: messageCost, ByteCost: byteCost, Policy: PolicyNamed(policy), KeepAfter: time.Second,
		Gossip: sim.Gossip{Delay: 100 * time.Millisecond}, Room: roomBytes,
		Share: sim.OneObject(writeBytes),
	}
	// An idle peer asks fifty times a second, in steps that take ten seconds: more often changes nothing but the
	// time that the simulation takes.
	c.Core.StealGap = 20 * time.Millisecond
	c.Core.MaxCopied = 0 // the master stays, and nothing is copied to other sites lest it is lost
	for _, cluster := range s.crash {
		c.Faults = append(c.Faults, sim.Fault{Kind: sim.ClusterCrash, At: s.at, Cluster: cluster})
	}
	if s.overloaded > 0 {
		for k := range clusterOfAll {
			c.Faults = append(c.Faults, sim.Fault{Kind: sim.Slow, At: s.at, Amount: s.overloaded,
				Peer: overloadedCluster*clusterOfAll + k})
		}
	}
	if measured {
		cfg := adapt.Default(mode)
		cfg.Period = adaptPeriod
		c.Adapt = &sim.Adapt{Config: cfg, Start: comesAfter, Benchmark: speedShare, Yardstick: yardstick,
			Error: speedError}
		for _, n := range s.start {
			if s.closed {
				break
			}
			c.Adapt.Reserve = append(c.Adapt.Reserve, clusterOfAll-n)
		}
		if len(s.crash) > 0 { // the machines that crash do not come back
			c.Adapt.Reserve[0] = 0
		}
	}
	return c
}
