package sim

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// steps is a program of a few small steps.
func steps(seed uint64) *Steps {
	return &Steps{Name: "steps", Count: 12, Serial: 300 * time.Millisecond, Body: Split{Seed: seed,
		Total: 10 * time.Second, Grain: 50 * time.Millisecond, FanLow: 2, FanHigh: 4, Even: 0.2, Skew: 1, Arg: 100,
		Result: 60, Size: 100_000, PerUnit: 1}}
}

// adapted is a run of it that fits itself, a decision every three seconds.
func adapted(mode adapt.Mode, sizes, reserve []int, seed uint64) Config {
	cfg := adapt.Default(mode)
	cfg.Period = 3 * time.Second
	core := steal.LAN()
	core.StealGap = 5 * time.Millisecond
	network := wan.Uniform(sizes, wan.Conditions{Bandwidth: 1e8, Latency: 50 * time.Microsecond},
		wan.Conditions{Bandwidth: 1e7, Latency: time.Millisecond})
	return Config{Tree: steps(seed), Seed: seed, Network: network, Core: core, Audit: true,
		Policy: func() policy.Policy { return &policy.Adaptive{} }, Gossip: Gossip{Delay: 20 * time.Millisecond},
		KeepAfter: 100 * time.Millisecond,
		Adapt: &Adapt{Config: cfg, Reserve: reserve, Start: 500 * time.Millisecond, Benchmark: 0.01,
			Yardstick: 20 * time.Millisecond, Error: 0.2}}
}

// changes lists the kinds of change of a run, in order, each once.
func changes(r *Report) (kinds []adapt.Kind) {
	for _, a := range r.Adaptations {
		for _, c := range a.Changes {
			if !slices.Contains(kinds, c.Kind) {
				kinds = append(kinds, c.Kind)
			}
		}
	}
	return kinds
}

// Steps is what it says: each body's work, and the serial parts, one after the other.
func TestStepsOneAfterTheOther(t *testing.T) {
	s := steps(1)
	total := Sequential(s)
	if want := 12 * (10*time.Second + 300*time.Millisecond); total.Work != want {
		t.Errorf("%v of work, want %v", total.Work, want)
	}
	c := adapted(adapt.Off, []int{4}, nil, 1)
	c.Adapt = nil
	r, err := Run(c)
	if err != nil || r.Result != total.Result {
		t.Fatal(err)
	}
	// The serial parts are nobody's to share, nor is one step begun before the other has ended.
	if least := 12 * (10*time.Second/4 + 300*time.Millisecond); r.Elapsed < least || r.Elapsed > least*6/5 {
		t.Errorf("on four peers it takes %v, at least %v are to be expected", r.Elapsed, least)
	}
}

// A run that has too few peers gets more, and is sooner done.
func TestRunsGrow(t *testing.T) {
	elapsed := map[adapt.Mode]time.Duration{}
	for _, mode := range []adapt.Mode{adapt.Off, adapt.Paper, adapt.Volunteers} {
		r, err := Run(adapted(mode, []int{2, 0}, []int{4, 6}, 1))
		if err != nil {
			t.Fatalf("%v: %v", mode, err)
		}
		if elapsed[mode] = r.Elapsed; (r.Peers > 2) != (mode != adapt.Off) {
			t.Errorf("%v: %d peers", mode, r.Peers)
		}
	}
	if elapsed[adapt.Paper] >= elapsed[adapt.Off]*2/3 || elapsed[adapt.Volunteers] >= elapsed[adapt.Off]*2/3 {
		t.Errorf("%v", elapsed)
	}
}

// A cluster behind a bad link goes, also when the coordinator crashes in the next moment: the roster says so.
func TestBadLinksGo(t *testing.T) {
	c := adapted(adapt.Volunteers, []int{4, 4, 4}, nil, 1)
	for other := range 2 {
		slow := wan.Conditions{Bandwidth: 10e3, Latency: time.Millisecond}
		c.Network.Links().Set(2, other, slow)
		c.Network.Links().Set(other, 2, slow)
	}
	c.Faults = []Fault{{Kind: MasterCrash, At: 9500 * time.Millisecond}}
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	if got := changes(r); !slices.Equal(got, []adapt.Kind{adapt.ClusterExcluded}) {
		t.Errorf("%v", got)
	}
	n := 0
	for _, a := range r.Adaptations {
		for _, x := range a.Changes {
			if n++; x.Cluster != "c03" {
				t.Errorf("at %v: %v", a.At, x)
			}
		}
	}
	if last := r.Adaptations[len(r.Adaptations)-1]; n != 1 || last.Peers != 7 {
		t.Errorf("%d changes, %d peers in the end", n, last.Peers)
	}
}

// A cluster that went for its link comes back as soon as that has twice the bandwidth with which it went, and has
// carried what it had taken on before; or when the work suffers without it. And it stays.
func TestLinksThatRecoverBringBack(t *testing.T) {
	const recovers = 12 * time.Second
	byLink := 0
	for seed := range uint64(8) {
		c := adapted(adapt.Volunteers, []int{4, 4, 4}, nil, seed+1)
		for other := range 2 {
			good := wan.Conditions{Bandwidth: 1e6, Latency: 100 * time.Microsecond}
			c.Network.Links().Set(2, other, good)
			c.Network.Links().Set(other, 2, good)
			c.Faults = append(c.Faults, Fault{Kind: LinkSlow, Cluster: 2, Other: other, Amount: 100, For: recovers})
		}
		r, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := changes(r); !slices.Equal(got, []adapt.Kind{adapt.ClusterExcluded, adapt.ClusterReadmitted}) {
			t.Errorf("seed %d: %v", c.Seed, got)
		}
		last := r.Adaptations[len(r.Adaptations)-1]
		for _, a := range r.Adaptations {
			for _, x := range a.Changes {
				if x.Kind == adapt.ClusterReadmitted && a.At < last.At && last.Peers != 12 {
					t.Errorf("seed %d: it came back at %v, and there are %d peers in the end", c.Seed, a.At, last.Peers)
				}
				if x.Kind != adapt.ClusterReadmitted || x.Rate == 0 {
					continue // the trial had it back
				}
				byLink++
				if x.Cluster != "c03" || a.At < recovers {
					t.Errorf("seed %d, at %v: %v", c.Seed, a.At, x)
				}
			}
		}
	}
	if byLink < 2 {
		t.Errorf("%d of 8 came back for their link", byLink)
	}
}

// Overloaded processors go where somebody pays for them, and are replaced.
func TestOverloadedGo(t *testing.T) {
	c := adapted(adapt.Paper, []int{4, 4, 0}, []int{0, 0, 6}, 1)
	for p := 4; p < 8; p++ {
		c.Faults = append(c.Faults, Fault{Kind: Slow, Peer: p, Amount: 0.02})
	}
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	got := changes(r)
	if !slices.Contains(got, adapt.PeerReleased) || !slices.Contains(got, adapt.AskedForMore) {
		t.Errorf("%v", got)
	}
}

// Adaptation keeps a run what it is: the same seed gives the same run to the byte.
func TestAdaptedRunsRepeat(t *testing.T) {
	var first bytes.Buffer
	for range 2 {
		c := adapted(adapt.Paper, []int{2, 2}, []int{3, 3}, 3)
		var out bytes.Buffer
		c.Trace = &out
		if _, err := Run(c); err != nil {
			t.Fatal(err)
		}
		if first.Len() == 0 {
			first = out
		} else if !bytes.Equal(first.Bytes(), out.Bytes()) {
			t.Error("two runs of one seed differ")
		}
	}
}

// Whatever goes wrong beside it, runs that fit themselves come to the sequential result, and keep their masters.
func TestAdaptedSchedules(t *testing.T) {
	for _, seed := range first(28) {
		c := AdaptSchedule(seed)
		if _, err := Run(c); err != nil {
			t.Fatal(fmt.Errorf("seed %d, %v: %w", seed, c.Adapt.Config.Mode, err))
		}
	}
}
