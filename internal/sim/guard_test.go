package sim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/sharedobj"
)

// twoLeaves is a job of two leaves, of which a thief gets one.
type twoLeaves struct{}

func (twoLeaves) Root() Node { return Node{Key: 1} }
func (twoLeaves) Children(n Node, buf []Node) []Node {
	if n.Key == 1 {
		return append(buf, Node{Key: 2}, Node{Key: 3})
	}
	return buf
}
func (twoLeaves) Cost(Node) int64      { return int64(time.Minute) }
func (twoLeaves) Any(Node) bool        { return false }
func (twoLeaves) Found(Node) bool      { return false }
func (twoLeaves) ArgBytes(Node) int    { return 100 }
func (twoLeaves) ResultBytes(Node) int { return 100 }

// TestGuardLatency: a stolen job whose guard wants what its spawner has just offered, and of which its thief knows
// nothing yet, begins some round trips after it has come: one for what the job names, and one for the value, since a
// guard that is false has the lattice compared with the victim's (Satin paper, 4.2: objects are fetched from where the
// guard held). Without a guard it is the first alone.
func TestGuardLatency(t *testing.T) {
	const latency = 50 * time.Millisecond
	for guards, trips := range []int{1, 2} {
		var trace strings.Builder
		c := Config{Tree: twoLeaves{}, Seed: 1, Policy: policyNamed("rs"), Trace: &trace,
			Network: wan.Uniform([]int{1, 1}, lan, wan.Conditions{Bandwidth: 1e7, Latency: latency}),
			Share:   &Share{Core: sharedobj.Default(), Largest: 1000, Guards: float64(guards)}}
		if _, err := Run(c); err != nil {
			t.Fatal(err)
		}
		came, began := 0.0, 0.0
		for line := range strings.Lines(trace.String()) {
			var at float64
			_, _ = fmt.Sscan(line, &at)
			switch {
			case strings.Contains(line, "p001 <- p000 reply") && strings.Contains(line, "#") && came == 0:
				came = at
			case strings.Contains(line, "p001 run job") && began == 0:
				began = at
			}
		}
		took, want := time.Duration((began-came)*float64(time.Second)), time.Duration(2*trips)*latency
		t.Logf("%d guards: a stolen job begins %v after it has come; a round trip is %v", guards, took, 2*latency)
		if took < want || took > want+5*time.Millisecond {
			t.Errorf("%d guards: %v, want %v", guards, took, want)
			t.Log(trace.String())
		}
	}
}
