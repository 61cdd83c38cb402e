package paper

import (
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/sim"
)

// shortTree is a short form of a recovery tree.
var shortTree = recoveryTree{"short", func(seed uint64) (sim.Tree, error) {
	tree, err := recoveryTrees()[0].tree(seed)
	if err == nil {
		tree.(*sim.Split).Total /= 32
		tree.(*sim.Split).Grain /= 4
	}
	return tree, err
}}

// TestPlan: what a plan asks for is what runs.
func TestPlan(t *testing.T) {
	ours, err := recoveryConfig(shortTree, plan{sizes: twoClusters}, 1, noMiddle)
	if err != nil {
		t.Fatal(err)
	}
	if name := ours.Policy().Name(); name != adaptive || ours.Core.MaxCopied == 0 || ours.Speed != nil {
		t.Errorf("%s, copies of %d bytes", name, ours.Core.MaxCopied)
	}
	c, err := recoveryConfig(shortTree, plan{sizes: fourSites, gridlab: true, bare: true, policy: "crs"}, 1, noMiddle)
	if err != nil {
		t.Fatal(err)
	}
	if name := c.Policy().Name(); name != "crs" || c.Core.MaxCopied != 0 {
		t.Errorf("%s, copies of %d bytes", name, c.Core.MaxCopied)
	}
	for peer, want := range map[int]float64{3: 1.7, 4: 1, 12: 0.7, 16: 1, 24: 1} {
		if got := c.Speed(peer); got != want {
			t.Errorf("peer %d has a speed of %v, want %v", peer, got, want)
		}
	}
	links := c.Network.Links() // from Amsterdam to Brno
	if l, ok := links.Conditions(1, 2); !ok || l.Bandwidth != 654e6/8 || l.Latency != 19*time.Millisecond {
		t.Errorf("from Leiden to Brno: %v", l)
	}
}

// TestTestBed makes the part of the recovery page that is on GridLab, of a short tree.
func TestTestBed(t *testing.T) {
	p := &recoveryPage{o: Options{Seeds: 1}}
	one := []*sim.Report{{Elapsed: time.Minute}}
	das := recoveryRuns{"crash": one, "leave": one, "crash, naive": one}
	if err := p.testBed(shortTree, []recoveryRuns{das, das}); err != nil {
		t.Fatal(err)
	}
	p.introduce()
	p.conclude()
	page := p.String()
	if strings.Contains(page, "%!") {
		t.Error("a format does not fit its words")
	}
	if len(p.deviations) != 1 || len(p.deviations[0]) != 2+3*len(recoveryPolicies) {
		t.Errorf("deviations %v", p.deviations)
	}
	columns := 0
	for line := range strings.Lines(page) {
		n := strings.Count(line, "|")
		if columns > 0 && n > 0 && n != columns {
			t.Errorf("%d columns instead of %d: %s", n-1, columns-1, line)
		}
		columns = n
	}
}

// Guards that deviations are of samples, in minutes.
func TestDeviations(t *testing.T) {
	runs := func(minutes ...time.Duration) (list []*sim.Report) {
		for _, m := range minutes {
			list = append(list, &sim.Report{Elapsed: m * time.Minute})
		}
		return list
	}
	got := strings.Join(deviations(runs(2, 4, 6), runs(3, 4, 5)), ", ")
	if want := "2.00 (50.0 %), 1.00 (25.0 %), 2.0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := deviations(runs(1), runs(1))[0]; got != "–" {
		t.Errorf("one run deviates by %s", got)
	}
}
