package gossip_test

import (
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/gossip"
)

func TestTwoPeers(t *testing.T) {
	inSwarm(t, []int{2}, func(s *swarm) {
		s.open(gossip.Config{})
		s.connect(0, 1)
		time.Sleep(time.Second)
		s.publish(0, gossip.KindRun, "run")
		s.publish(0, gossip.KindLoad, "load")
		s.publish(1, gossip.KindCard, "card")
		time.Sleep(time.Second)
		if got := s.received(1); !slices.Equal(got, []string{"0:load", "0:run"}) {
			t.Errorf("1 got %q", got)
		}
		if got := s.received(0); !slices.Equal(got, []string{"1:card"}) {
			t.Errorf("0 got %q", got)
		}
		if st := s.peers[0].Stats(); st.Envelopes != 1 || st.Published != 2 || st.Neighbours != 1 || !st.Flat {
			t.Errorf("stats: %+v", st)
		}
	})
}
