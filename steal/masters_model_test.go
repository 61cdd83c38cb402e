package steal_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whoever crashes, leaves, stalls, comes back or is cut off, the owner and its deputies included, a master
// that has just found the answer, too: as long as one peer is there the answer comes, and it is the
// sequential one.
func TestExactWhoeverIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawModel(t, true)
		cfg.deputies = rapid.IntRange(1, cfg.peers).Draw(t, "deputies")
		cfg.cuts = rapid.IntRange(0, 2).Draw(t, "cuts")
		cfg.lostAnswers = rapid.IntRange(0, 2).Draw(t, "lost answers")
		cfg.crashes += rapid.IntRange(0, 3).Draw(t, "more crashes")
		if cfg.slow = rapid.SampledFrom([]int{1, 20, 50}).Draw(t, "slow"); cfg.slow > 1 {
			cfg.depth = min(cfg.depth, 6)
		}
		cfg.faultsUntil = 40 * time.Second
		if err := play(cfg); err != nil {
			t.Fatalf("%v: %+v", err, cfg)
		}
	})
}
