package paper

import (
	"testing"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/internal/sim"
)

// A run with another constant need not be simulated if its coordinator decides the same: what is noted of each decision
// is enough to decide again. What the root writes in a step gets to each peer once.
func TestSameDecisions(t *testing.T) {
	const steps = 3
	o, err := newAdaptRuns(Options{}, steps)
	if err != nil {
		t.Fatal(err)
	}
	c := o.config(adaptScenarios[3], "crs", adapt.Paper, true, 1)
	r, err := sim.Run(c)
	if err != nil {
		t.Fatal(err)
	}
	for by, same := range map[float64]bool{1: true, 1.001: true, 0.5: false} {
		cfg := c.Adapt.Config
		if cfg.EMin *= by; sameDecisions(r, cfg) != same {
			t.Errorf("with EMin times %v the same is decided: %t", by, !same)
		}
	}
	cfg := c.Adapt.Config
	if cfg.Period /= 2; sameDecisions(r, cfg) {
		t.Error("with half the period the same is decided")
	}
	if sent := float64(r.Counts.SharedBytes) / writeBytes / steps; sent < 30 || sent > 38 {
		t.Errorf("a step's write is sent %.1f times", sent)
	}
}
