package peer

import (
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Guards what the figures of an answer wait for: for all that took part, for this peer's own engine, not for those of
// which nothing was heard for long, and for nobody for ever; and that it says who has not told what it did last.
func TestHeardOut(t *testing.T) {
	end := time.Unix(1_000_000, 0)
	works := load{Workers: 2, until: end.Add(loadLife)}
	for _, c := range []struct {
		name    string
		loads   []load
		settled bool
		late    int
		after   time.Duration
		heard   bool
		unheard int
	}{
		{"all have told", []load{{}, {}}, true, 0, 0, true, 0},
		{"one works still", []load{{}, works}, true, 0, 0, false, 1},
		{"one is too slow", []load{{}, works, works}, true, 0, lastWords, true, 2},
		{"one is gone", []load{{Workers: 1, until: end}}, true, 0, 0, true, 1},
		{"a worker of one was in a leaf", []load{{Late: 1}}, true, 0, 0, true, 1},
		{"so was one here", []load{{}}, true, 3, 0, true, 1},
		{"here nothing is counted yet", []load{{}}, false, 0, 0, false, 1},
		{"and never will be", []load{{}}, false, 0, lastWords, true, 1},
	} {
		r := part{ended: end, settled: c.settled, late: c.late, loads: map[peer.ID]*load{}}
		for i := range c.loads {
			r.loads[peer.ID(rune('a'+i))] = &c.loads[i]
		}
		if heard, unheard := r.heardOut(end.Add(c.after)), r.unheard(); heard != c.heard || unheard != c.unheard {
			t.Errorf("%s: heard %v, %d not, want %v, %d", c.name, heard, unheard, c.heard, c.unheard)
		}
	}
}
