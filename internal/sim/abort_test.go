package sim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/wan"
)

// gambit is a job that is stolen, and stolen from, while a thief's leaf takes an hour: 1 waits for leaf 3 of a minute
// and for 2, which wants the first of 5, a leaf that finds something after a second, and 4; that of 6 and 7, leaves of
// an hour.
type gambit struct{}

func (gambit) Root() Node { return Node{Key: 1} }
func (gambit) Children(n Node, buf []Node) []Node {
	if n.Key == 1 || n.Key == 2 {
		return append(buf, Node{Key: 2 * n.Key}, Node{Key: 2*n.Key + 1})
	}
	if n.Key == 4 {
		return append(buf, Node{Key: 6}, Node{Key: 7})
	}
	return buf
}
func (gambit) Cost(n Node) int64 {
	return int64(map[uint64]time.Duration{3: time.Minute, 5: time.Second, 6: time.Hour, 7: time.Hour}[n.Key])
}
func (gambit) Any(n Node) bool      { return n.Key == 2 || n.Key == 4 }
func (gambit) Found(n Node) bool    { return n.Key == 5 }
func (gambit) ArgBytes(Node) int    { return 100 }
func (gambit) ResultBytes(Node) int { return 100 }

// TestAbortOvertakesLeaf: an abort is at a thief of a thief after two times the latency, though the one between them is
// in a leaf that does not notice for an hour (Satin paper, 4.3: the whole subtree is aborted, wherever it is).
func TestAbortOvertakesLeaf(t *testing.T) {
	const latency = 50 * time.Millisecond
	for _, deaf := range []bool{false, true} {
		var trace strings.Builder
		c := Config{Tree: gambit{}, Seed: 1, Policy: policyNamed("rs"), Trace: &trace, Deaf: deaf,
			Network: wan.Uniform([]int{1, 1, 1, 1}, lan, wan.Conditions{Bandwidth: 1e7, Latency: latency})}
		if _, err := Run(c); err != nil {
			t.Fatal(err)
		}
		told, first, last := 0, 0.0, 0.0
		for line := range strings.Lines(trace.String()) {
			var at float64
			var who string
			_, _ = fmt.Sscan(line, &at, &who)
			switch {
			case strings.Contains(line, " -> ") && strings.Contains(line, "abort ["):
				if told++; told == 1 {
					first = at
				}
			case strings.Contains(line, who+" abort segment"):
				last = at
			}
		}
		took := time.Duration((last - first) * float64(time.Second))
		t.Logf("leaves that do not notice, %t: the second thief is told after %v; a round trip is %v", deaf, took, 2*latency)
		if told != 2 || took <= latency || took > 2*latency+5*time.Millisecond {
			t.Errorf("deaf %t: %d aborts, the last one obeyed after %v", deaf, told, took)
		}
	}
}
