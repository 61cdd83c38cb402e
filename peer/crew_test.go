package peer

import (
	"testing"

	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/steal"
)

// Whoever holds nothing is dry: no job of others, not the root, none that others have and none that waits or runs.
func TestDry(t *testing.T) {
	idle := steal.Load{Workers: 2, Idle: 2}
	for _, c := range []struct {
		stats session.Stats
		dry   bool
	}{
		{session.Stats{Load: idle}, true},
		{session.Stats{}, true}, // without a core
		{session.Stats{Load: idle, Held: 1}, false},
		{session.Stats{Master: true}, false},
		{session.Stats{Load: idle, Given: 1}, false},
		{session.Stats{Load: steal.Load{Queued: 1}}, false},
		{session.Stats{Load: steal.Load{Workers: 2, Idle: 1}}, false},
	} {
		if dry(c.stats) != c.dry {
			t.Errorf("%+v: dry is %v", c.stats, !c.dry)
		}
	}
}
