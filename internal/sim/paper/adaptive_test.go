package paper

import (
	"testing"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/internal/sim"
)

// A run with another constant need not be simulated if its coordinator decides the same: what is noted of each decision
// is enough to decide again.
func TestSameDecisions(t *testing.T) {
	c := adaptConfig(adaptScenarios[3], "crs", adapt.Paper, true, 1)
	few := bodies(1)
	few.Count = 5
	c.Tree, c.Want = few, nil
	r, err := sim.Run(c)
	if err != nil {
		t.Fatal(err)
	}
	for by, same := range map[float64]bool{1: true, 0.9: true, 4: false} {
		cfg := c.Adapt.Config
		if cfg.BadLink *= by; sameDecisions(r, cfg) != same {
			t.Errorf("with BadLink times %v the same is decided: %t", by, !same)
		}
	}
	cfg := c.Adapt.Config
	if cfg.Period /= 2; sameDecisions(r, cfg) {
		t.Error("with half the period the same is decided")
	}
}
