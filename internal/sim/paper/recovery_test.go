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
		tree.(*sim.Split).Total /= 16
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
	c, err := recoveryConfig(shortTree, plan{sizes: twoClusters, bare: true, policy: "crs"}, 1, noMiddle)
	if err != nil {
		t.Fatal(err)
	}
	if name := c.Policy().Name(); name != "crs" || c.Core.MaxCopied != 0 {
		t.Errorf("%s, copies of %d bytes", name, c.Core.MaxCopied)
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
