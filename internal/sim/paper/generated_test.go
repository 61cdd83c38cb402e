package paper

import (
	"math"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/sim"
)

// TestGeneratedSwarms: what is drawn is within what the page says, names peers and clusters that there are, and is the
// same for the same seed, or policies would not be compared on the same swarms.
func TestGeneratedSwarms(t *testing.T) {
	small := 0
	for seed := range uint64(200) {
		a, c := generated(seed)
		peers, sizes := 0, c.Network.Sizes()
		for _, n := range sizes {
			if peers += n; n <= 2 {
				small++
			}
		}
		if len(sizes) < 2 || len(sizes) > generatedRanges.clusters[1] || peers > generatedRanges.peers ||
			a.Sequential != generatedRanges.each*time.Duration(peers) {
			t.Fatalf("seed %d: %v, %v of work", seed, sizes, a.Sequential)
		}
		_, again := generated(seed)
		for i, f := range c.Faults {
			if f.Peer >= peers || f.Cluster >= len(sizes) || f.At > generatedRanges.each ||
				f.Kind == sim.Leave && f.Peer == 0 || f.At != again.Faults[i].At {
				t.Fatalf("seed %d: %v, and %v", seed, f, again.Faults[i])
			}
		}
	}
	if small < 200 {
		t.Errorf("%d clusters of one or two in 200 swarms: they are the volunteers' usual case", small)
	}
}

// TestFortyProcessors: Table VIII has forty of them, "more than a factor of four" apart.
func TestFortyProcessors(t *testing.T) {
	c, speeds := european(1)
	slowest, fastest, sum, n := math.Inf(1), 0.0, 0.0, 0
	for _, k := range c.Network.Sizes() {
		for range k {
			s := c.Speed(n)
			slowest, fastest, sum, n = min(slowest, s), max(fastest, s), sum+s, n+1
		}
	}
	if n != 40 || fastest <= 4*slowest || math.Abs(sum-speeds) > 1e-9 {
		t.Errorf("%d processors, %v to %v, %v in all of %v", n, slowest, fastest, sum, speeds)
	}
}

// TestLeadsArePaired: what all policies gain or lose by a seed says nothing of who is ahead.
func TestLeadsArePaired(t *testing.T) {
	mean, half := lead(sample{11, 52, 93}, sample{10, 50, 90})
	if math.Abs(mean-2) > 1e-9 || math.Abs(half-4.30/math.Sqrt(3)) > 1e-9 {
		t.Errorf("%v and %v on both sides", mean, half)
	}
}

// TestRivalsSpreadWork: whoever ours is compared with has more than one peer work, or the comparison says nothing.
func TestRivalsSpreadWork(t *testing.T) {
	for _, p := range append([]string{adaptive}, rivals...) {
		model := *raytracer
		model.Sequential = 400 * time.Second
		network := uniform([]int{4, 4}, time.Millisecond, 1e6)
		c := (&Setup{App: &model, Network: network, Overhead: model.Overhead}).Config(1)
		c.Policy = policyNamed(p)
		r, err := sim.Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := speedup(&model)(r); got < 3 {
			t.Errorf("%s is %.1f times as fast on eight peers", p, got)
		}
	}
}
