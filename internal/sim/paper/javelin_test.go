package paper

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/sim"
)

// TestTours: whatever the atomic depth, the work is the same, and at depth 2 the longest task is about a hundredth of
// it, as of the paper's graph.
func TestTours(t *testing.T) {
	for _, row := range toursRows[:2] {
		depth := row.depth
		tree := newTours(depth)
		count, mean, longest := tree.leaves()
		total := sim.Sequential(tree)
		if total.Work != tree.Total || total.Result.Leaves != uint64(count) || mean > longest {
			t.Errorf("depth %d: %v of work in %d leaves, of %v on average and %v at most", depth, total.Work, count,
				mean, longest)
		}
		if part := float64(longest) / float64(tree.Total); depth == 2 && (part < 0.005 || part > 0.03) {
			t.Errorf("the longest of %d tasks is %.4f of all", count, part)
		}
	}
}

// TestKills: as many hosts are killed as is said, each once, never the owner, and on average in the middle.
func TestKills(t *testing.T) {
	for _, x := range killed {
		var sum time.Duration
		seen := map[int]bool{0: true}
		for _, f := range kills(x.hosts, time.Minute) {
			if seen[f.Peer] || f.Peer >= killedOf || f.Kind != sim.Crash {
				t.Errorf("%d hosts: %+v", x.hosts, f)
			}
			seen[f.Peer] = true
			sum += f.At
		}
		if len(seen) != x.hosts+1 || sum != time.Duration(x.hosts)*time.Minute {
			t.Errorf("%d of %d hosts, at %v together", len(seen)-1, x.hosts, sum)
		}
	}
}
