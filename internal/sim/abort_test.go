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

// TestAbortedWorkIsWork: the time in which a worker was at a job that came to nothing counts as time at work, whether
// the job was aborted, its peer was lost or the run ended first. A peer that is gone is not at work.
func TestAbortedWorkIsWork(t *testing.T) {
	config := func(tree Tree, faults ...Fault) Config {
		wide := wan.Conditions{Bandwidth: 1e7, Latency: 50 * time.Millisecond}
		return Config{Tree: tree, Seed: 1, Policy: policyNamed("rs"), Bucket: time.Minute, Faults: faults,
			Network: wan.Uniform([]int{1, 1, 1, 1}, lan, wide)}
	}
	for deaf, least := range map[bool]time.Duration{ // leaves 3 and 5, and one of an hour that was begun with 5
		false: 61*time.Second + 500*time.Millisecond,
		true:  120 * time.Second,
	} {
		c := config(gambit{})
		c.Deaf = deaf
		if r, err := Run(c); err != nil || r.Busy < least {
			t.Errorf("deaf %t: workers were busy for %v, want %v and more (%v)", deaf, r.Busy, least, err)
		}
	}
	r, err := Run(config(twoLeaves{}, Fault{Kind: AllButOne, At: 30 * time.Second},
		Fault{Kind: Slow, At: 50 * time.Second, Peer: 3, Amount: 0.5}))
	if d := r.Busy - 210*time.Second; err != nil || max(d, -d) > time.Second {
		t.Errorf("workers were busy for %v, want three minutes and the half of one that was lost (%v)", r.Busy, err)
	}
	sum := 0.0
	for _, row := range r.Timeline {
		for i, share := range row {
			sum += share * min(r.Elapsed-time.Duration(i)*time.Minute, time.Minute).Seconds()
		}
	}
	if d := sum - r.Busy.Seconds(); max(d, -d) > 1e-6 {
		t.Errorf("the timeline has %v s of work, and Busy is %v", sum, r.Busy)
	}
}
