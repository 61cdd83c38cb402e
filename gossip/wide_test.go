package gossip_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/satin-peer/satin/gossip"
)

// TestWideBytes compares what goes between clusters for a message of 128 bytes, with one topic for all and
// with gateways. Over links that 64 peers shared, it was 91 KB and 2.7 KB; this network's are not shared. Packets are
// counted, with what is sent while nothing is said.
func TestWideBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison, not a check of anything that the other tests leave out; takes minutes under the race detector")
	}
	perMessage := map[bool]float64{}
	for _, flat := range []bool{true, false} {
		inSwarm(t, []int{8, 8, 8, 8}, func(s *swarm) {
			cfg := gossip.Config{FlatPeers: 16}
			if flat {
				cfg.FlatPeers = 1000
			}
			s.openAll(cfg)
			const seconds, perSecond = 1, 20
			before := s.wideBytes.Load()
			for k := range seconds * perSecond {
				s.publish(k*7%len(s.peers), gossip.KindLoad, fmt.Sprintf("%0128d", k))
				time.Sleep(time.Second / perSecond)
			}
			busy := s.wideBytes.Load() - before
			time.Sleep(2 * time.Second)
			delivered := 0
			for i := range s.peers {
				delivered += len(s.received(i))
			}
			if want := seconds * perSecond * (len(s.peers) - 1); delivered != want {
				t.Errorf("flat %v: %d of %d delivered", flat, delivered, want)
			}
			perMessage[flat] = float64(busy) / (seconds * perSecond)
			t.Logf("flat %v: %.1f KB between clusters for a message", flat, perMessage[flat]/1e3)
		})
	}
	if perMessage[false] > perMessage[true]/2 { // a fourth to a sixth, as the links that peers happened to choose lie
		t.Errorf("gateways save too little: %.0f bytes for a message instead of %.0f", perMessage[false],
			perMessage[true])
	}
	if perMessage[false] > 7500 { // 5 to 6 KB; 9 when the second gateways pass on what the first ones do
		t.Errorf("%.0f bytes for a message with gateways", perMessage[false])
	}
}
