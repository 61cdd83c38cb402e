package sim

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
)

// lengthy is twoLeaves whose results take a minute over a link of 100 KB/s.
type lengthy struct{ twoLeaves }

func (lengthy) ResultBytes(Node) int { return 6_000_000 }

// TestUnsentIsLostWithItsPeer: of a long result a peer that is lost has sent what was on the way, and no more: its job
// is run again.
func TestUnsentIsLostWithItsPeer(t *testing.T) {
	for _, kind := range []FaultKind{Crash, Return, Leave} {
		r, err := Run(Config{Tree: lengthy{}, Seed: 1, Policy: policyNamed("rs"), Audit: true, Recovery: steal.Naive,
			Network: wan.Uniform([]int{1, 1}, lan, wan.Conditions{Bandwidth: 1e5, Latency: 10 * time.Millisecond}),
			Faults:  []Fault{{Kind: kind, Peer: 1, At: 70 * time.Second, For: 5 * time.Second}}})
		if err != nil || r.Counts.Again == 0 {
			t.Errorf("%v: %d leaves ran again, %v in all (%v)", kind, r.Counts.Again, r.Elapsed, err)
		}
	}
}
