package peer

import (
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Deputies come from different clusters where there are some, the own one first, and the best of each; they are
// connected, and no two of them are in one hand.
func TestChooseDeputies(t *testing.T) {
	at := func(id, cluster string, minute int, connected bool, cores int) candidate {
		return candidate{peer.ID(id), cluster, connected, id, time.Unix(int64(60*minute), 0), cores}
	}
	in := func(hand string, c candidate) candidate {
		c.branch = hand
		return c
	}
	list := []candidate{
		at("far-new", "far", 9, true, 4), at("far-old", "far", 1, true, 4),
		at("here-away", "here", 0, false, 4), at("here-paused", "here", 0, true, 0),
		at("here-new", "here", 8, true, 1), at("here-old", "here", 2, true, 1),
		at("third", "third", 5, true, 1),
	}
	for _, c := range []struct {
		list []candidate
		most int
		want []peer.ID
	}{
		{list, 4, []peer.ID{"here-old", "far-old", "third", "here-new"}},
		{list, 9, []peer.ID{"here-old", "far-old", "third", "here-new", "far-new", "here-paused"}},
		{list[:2], 4, []peer.ID{"far-old", "far-new"}},
		{nil, 4, nil},
		{[]candidate{in("mallory", list[1]), in("mallory", list[5]), in("mallory", list[6]), in("bob", list[0]),
			in("bob", list[4])}, 4, []peer.ID{"here-old", "far-new"}},
	} {
		if got := choose(slices.Clone(c.list), "here", c.most); !slices.Equal(got, c.want) {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
}
