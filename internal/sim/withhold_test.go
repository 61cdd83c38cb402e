package sim

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/wan"
)

// withheld is a quiet run with withholders, which is to end in so much time.
func withheld(total, grain time.Duration, trick Trick, peers ...int) Config {
	c := quiet(&Split{Seed: 3, Total: total, Grain: grain, FanLow: 2, FanHigh: 4, Arg: 100, Result: 100}, "crs")
	c.Core = patient()
	c.Core.LeaseEnd = 5 * time.Second
	c.Limit = 30 * c.Core.LeaseEnd // each loss is noticed when others have nothing to do, one after the other
	c.Withholder = &Withholder{Peers: peers, Trick: trick}
	return c
}

// Members that take jobs and bring nothing home cost work, never the end of a run: of eight, two that share their mind.
// No owner loses more to each than what a thief has to begin with, and what it gets by waiting.
func TestWithholders(t *testing.T) {
	for trick := range tricks {
		r, err := Run(withheld(40*time.Second, 10*time.Millisecond, trick, 2, 5))
		if err != nil {
			t.Errorf("%v: %v", trick, err)
			continue
		}
		t.Logf("%v: %v, %d copies, %d withheld", trick, r.Elapsed, r.Steals.OverdueCopies, r.Counts.Withheld)
		if r.Counts.Withheld == 0 || r.Counts.Withheld > 6*2*2*64 {
			t.Errorf("%v: they got %d jobs", trick, r.Counts.Withheld)
		}
	}
}

// A peer that has nobody but a withholder runs everything itself in the end.
func TestWithholderAlone(t *testing.T) {
	for trick := range tricks {
		c := withheld(20*time.Second, time.Second, trick, 1)
		c.Core.MaxLeases = 2 // which a withholder may well have
		c.Network = wan.NewModel([]int{2}, lan)
		r, err := Run(c)
		if err != nil {
			t.Errorf("%v: %v", trick, err)
			continue
		}
		t.Logf("%v: %v, %d copies, %d withheld", trick, r.Elapsed, r.Steals.OverdueCopies, r.Counts.Withheld)
	}
}
