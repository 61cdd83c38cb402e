package sim

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// sites is a run on two sites of so many machines each, of which something befalls one.
func sites(tree Tree, machines int, what Fault) Config {
	total := Sequential(tree)
	return Config{Tree: tree, Seed: 1, Core: steal.LAN(), Want: &total.Result, Audit: true,
		Network: wan.Uniform([]int{machines, machines}, lan,
			wan.Conditions{Bandwidth: 1e7, Latency: 2 * time.Millisecond}),
		Policy: func() policy.Policy { return &policy.Adaptive{} }, Gossip: Gossip{Delay: 20 * time.Millisecond},
		Faults: []Fault{what}}
}

// TestSiteOfMasterIsLost: when half the peers crash in the middle of a step, the master among them, of the steps
// before it nothing is computed again, and of that one at most what they had to do. Without copies in the other
// cluster it is half of all that was done. The same where what steps come to names versions that they wrote.
func TestSiteOfMasterIsLost(t *testing.T) {
	again := func(copied int, share *Share, grain time.Duration) time.Duration {
		tree := steps(1)
		tree.Body.Size, tree.Body.Grain = 30_000, grain
		c := sites(tree, 4, Fault{Kind: ClusterCrash, At: 15 * time.Second})
		c.Core.MaxCopied, c.Share, c.KeepAfter = copied, share, 100*time.Millisecond
		r, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		return r.Counts.AgainWork
	}
	half := steps(1).Body.Total / 2
	const fine, coarse = 50 * time.Millisecond, 150 * time.Millisecond
	with, without := again(steal.LAN().MaxCopied, nil, fine), again(0, nil, fine)
	if with > half || without < 2*half {
		t.Errorf("%v was computed again, and %v without copies; half of a step is %v", with, without, half)
	}
	share := &Share{Core: sharedobj.Default(), Largest: 2000, Makers: 1, Chains: 16}
	if with := again(steal.LAN().MaxCopied, share, coarse); with > half {
		t.Errorf("%v was computed again where outcomes name versions; half of a step is %v", with, half)
	}
}

// TestPartedSitesMeetAgain: two sites of one machine each, between which the line is down for a minute, so that both
// give the other up and each begins all of the run, share what is left when it is up: from then on each takes half of
// it, and nothing is computed again but what the one that is no master in the end did of the other's jobs meanwhile.
func TestPartedSitesMeetAgain(t *testing.T) {
	tree := smallSplit()
	tree.Total = 4 * time.Minute
	const down, broken = 20 * time.Second, time.Minute
	c := sites(tree, 1, Fault{Kind: PartitionCluster, At: down, For: broken, Cluster: 1})
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	left := tree.Total - 2*down - broken
	if r.Elapsed > down+broken+left/2+10*time.Second || r.Counts.AgainWork > broken {
		t.Errorf("the run takes %v, and %v is computed again", r.Elapsed, r.Counts.AgainWork)
	}
}

// TestSitesTakeBackWhatTheyBegan: two sites of four machines, between which the line is down for a quarter of a minute,
// go on with what each had begun: what the other one began anew meanwhile is given up, if it began later.
func TestSitesTakeBackWhatTheyBegan(t *testing.T) {
	tree := smallSplit()
	tree.Total = 16 * time.Minute
	const broken = 15 * time.Second
	c := sites(tree, 4, Fault{Kind: PartitionCluster, At: 30 * time.Second, For: broken, Cluster: 1})
	c.Seed, c.KeepAfter = 3, 20*time.Millisecond
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Counts.AgainWork > 4*broken {
		t.Errorf("%v is computed again, more than one site can do in %v", r.Counts.AgainWork, broken)
	}
}
