package sim

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/wan"
)

// TestEagerScheduling: a run does not wait for one slow peer at its end if idle ones may do its last jobs too, and no
// more of them are done twice than were allowed (Javelin 3, "Advanced eager scheduling").
func TestEagerScheduling(t *testing.T) {
	run := func(percent int) *Report {
		c := quiet(&Split{Seed: 3, Total: 100 * time.Second, Grain: time.Second, FanLow: 2, FanHigh: 4, Skew: 2,
			Arg: 100, Result: 100}, "crs")
		c.Network = unhurried()
		c.Speed = func(peer int) float64 {
			if peer == 5 {
				return 0.01 // one of eight, a hundred times slower
			}
			return 1
		}
		c.Core = patient()
		c.Core.EagerAfter, c.Core.EagerPercent = 5*time.Second, percent
		r, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	without, with := run(0), run(20)
	t.Logf("%v without, %v with %d copies of %d jobs, %d of them done first", without.Elapsed, with.Elapsed,
		with.Steals.EagerCopies, with.Counts.Given, with.Steals.EagerWon)
	if without.Steals.EagerCopies != 0 || with.Steals.EagerWon == 0 || with.Elapsed*10 > without.Elapsed*9 {
		t.Errorf("%v and %d copies without, %v with %d", without.Elapsed, without.Steals.EagerCopies, with.Elapsed,
			with.Steals.EagerCopies)
	}
}

// halved is a tree that is not divided below some depth, unless more is wanted: four levels for each step.
type halved struct {
	Split
	deep int32
}

func (h *halved) Children(n Node, buf []Node) []Node {
	if n.Form >= h.deep {
		return buf
	}
	return h.Split.Children(n, buf)
}

func (h *halved) Cost(n Node) int64 {
	if n.Form >= h.deep {
		return n.Work
	}
	return h.Split.Cost(n)
}

func (h *halved) Deeper(steps uint8) Tree { return &halved{h.Split, h.deep + 4*int32(steps)} }

// TestDeeper: what has taken others long is divided among the peers that have nothing to do when it is given to one of
// them as well; without that hint it takes as long as its largest leaf (Javelin 3, "Dynamic Depth Expansion").
func TestDeeper(t *testing.T) {
	tree := &halved{Split{Seed: 3, Total: 50 * time.Second, Grain: time.Second / 4, FanLow: 8, FanHigh: 8, Even: 0.01,
		Skew: 9, Arg: 100, Result: 100}, 2}
	want := Sequential(tree).Result
	run := func(tree Tree) *Report {
		c := quiet(tree, "crs")
		c.Want = &want
		c.Core = patient()
		c.Core.EagerAfter, c.Core.EagerPercent = time.Second, 100
		r, err := Run(c)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	stiff, divided := run(stiff{tree}), run(tree)
	t.Logf("%v stiff, %v divided, %d copies", stiff.Elapsed, divided.Elapsed, divided.Steals.EagerCopies)
	if divided.Elapsed*3 > stiff.Elapsed*2 || divided.Steals.EagerWon == 0 {
		t.Errorf("%v stiff, %v divided, %d copies were first", stiff.Elapsed, divided.Elapsed, divided.Steals.EagerWon)
	}
}

// stiff is the same tree with the hint ignored.
type stiff struct{ *halved }

func (s stiff) Deeper(uint8) Tree { return s }

// TestEagerAlone: the peer that has given a job away, and nobody else to ask, runs it itself.
func TestEagerAlone(t *testing.T) {
	c := quiet(&Split{Seed: 3, Total: 20 * time.Second, Grain: time.Second, FanLow: 2, FanHigh: 4, Arg: 100,
		Result: 100}, "crs")
	c.Network = wan.NewModel([]int{2}, lan)
	c.Speed = func(peer int) float64 { return []float64{1, 0.01}[peer] }
	c.Core = patient()
	c.Core.EagerAfter, c.Core.EagerPercent = time.Second, 100
	r, err := Run(c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Elapsed > time.Minute || r.Steals.EagerWon == 0 {
		t.Errorf("%v, %d copies, %d done first", r.Elapsed, r.Steals.EagerCopies, r.Steals.EagerWon)
	}
}

// TestEagerSchedules: what random schedules try, they try often enough.
func TestEagerSchedules(t *testing.T) {
	var copies, won uint64
	for seed := uint64(2); seed < 200; seed += 5 {
		r, err := Run(Schedule(seed, FaultKinds()))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		copies, won = copies+r.Steals.EagerCopies, won+r.Steals.EagerWon
	}
	if t.Logf("%d copies, %d done first", copies, won); copies < 50 || won < 5 {
		t.Errorf("%d copies in 40 schedules, %d done first", copies, won)
	}
}
