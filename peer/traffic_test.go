package peer

import (
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/peer/places"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/vouching/vouchtest"
	"github.com/satin-peer/satin/steal"
)

// The jobs of those who are no members any more are not counted for good: members may come and go without an end.
func TestTradesOfTheGone(t *testing.T) {
	here, gone := vouchtest.New(t, nil, nil).Self, vouchtest.New(t, nil, nil).Self
	x := &traffic{places: &places.Places{Members: someMembers(0, time.Now())}}
	x.places.Members.Learn(&statement.SignedCard{Peer: here}, nil, time.Now())
	for _, id := range []peer.ID{here, gone} {
		x.tradeWith(steal.PeerID(id.String())).given.Add(1)
	}
	x.forget()
	n := 0
	x.trades.Range(func(id, _ any) bool { n++; return id == steal.PeerID(here.String()) })
	if n != 1 || x.tradeWith(steal.PeerID(here.String())).given.Load() != 1 {
		t.Errorf("%d are counted, not the member alone", n)
	}
}
