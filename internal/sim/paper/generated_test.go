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
		a, c := usual.draw(seed)
		peers, sizes := 0, c.Network.Sizes()
		for _, n := range sizes {
			if peers += n; n <= 2 {
				small++
			}
		}
		if len(sizes) < 2 || len(sizes) > usual.clusters[1] || peers > usual.peers ||
			a.Sequential != usual.each*time.Duration(peers) {
			t.Fatalf("seed %d: %v, %v of work", seed, sizes, a.Sequential)
		}
		_, again := usual.draw(seed)
		for i, f := range c.Faults {
			if f.Peer >= peers || f.Cluster >= len(sizes) || f.At > usual.each ||
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

// TestIntervals: the policy against which the interval begins lowest is not always the best one, and one seed says
// nothing.
func TestIntervals(t *testing.T) {
	of := map[string]sample{"adaptive": {50, 50}, "rs": {49, 49}, "chs": {9, 9}, "crs": {49.5, 49.9}, "cmrs": {40, 56},
		"acrs": {49, 49}}
	published := []string{"rs", "chs", "crs", "cmrs", "acrs"}
	if best, hardest := bestOf(of), hardestOf(of, published); best != "crs" || hardest != "cmrs" {
		t.Errorf("the best is %s, the hardest %s", best, hardest)
	}
	for theirs, want := range map[float64]string{50.3: "yes", 50.4: "no"} {
		if interval, says := reaches(sample{50, 50}, sample{theirs, theirs}); says != want {
			t.Errorf("50 against %v: %s, %s", theirs, interval, says)
		}
	}
	for p := range of {
		of[p] = of[p][:1]
	}
	if interval, says := reaches(of["adaptive"], of["crs"]); says != "–" || interval != "–" ||
		hardestOf(of, published) != "crs" {
		t.Errorf("of one seed: %s, %s, %s", interval, says, hardestOf(of, published))
	}
}

// TestSweep: each range of the sweep is another one than usual, and nothing else is.
func TestSweep(t *testing.T) {
	for i, s := range generatedSweep {
		g := usual
		if s.change(&g); (g == usual) != (i == 0) {
			t.Errorf("%s: %+v", s.what, g)
		}
		for seed := range uint64(20) {
			if _, c := g.draw(seed); len(c.Network.Sizes()) < 2 || len(c.Network.Sizes()) > g.clusters[1] {
				t.Errorf("%s, seed %d: clusters %v", s.what, seed, c.Network.Sizes())
			}
		}
	}
}

// TestRivalsSpreadWork: whoever ours is compared with has more than one peer work, or the comparison says nothing.
func TestRivalsSpreadWork(t *testing.T) {
	for _, p := range append([]string{adaptive}, rivals...) {
		model := *raytracer
		model.Sequential = 400 * time.Second
		network := uniform([]int{4, 4}, time.Millisecond, 1e6)
		c := (&Setup{App: &model, Network: network, Overhead: model.Overhead}).Config(1)
		c.Policy = PolicyNamed(p)
		r, err := sim.Run(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := speedup(&model)(r); got < 3 {
			t.Errorf("%s is %.1f times as fast on eight peers", p, got)
		}
	}
}
