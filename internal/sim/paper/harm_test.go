package paper

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/steal"
)

// What becomes of a region of Barnes-Hut in a step may be copied to another cluster: else the loss of half of the peers
// takes half of all steps with it. A body's place in double precision had made it larger than a copy was allowed to be.
func TestRegionsMayBeCopied(t *testing.T) {
	list, err := objectsPrograms(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	tree, most := named(list, "barneshut, objects").tree.(sim.Phased), 0
	for phase, parts := 1, tree.Children(tree.Root(), nil); len(parts) > 0; phase++ {
		for _, n := range parts {
			most = max(most, tree.ResultBytes(n))
		}
		parts = tree.Next(tree.Root(), phase, nil)
	}
	if c := steal.LAN(); most > c.MaxCopied || most < c.MaxCopied/4 {
		t.Errorf("a region has %d bytes, and %d may be copied", most, c.MaxCopied)
	}
}
