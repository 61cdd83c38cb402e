package gossip_test

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/gossip"
)

// reset ends the streams of gossip that a host has opened, as a connection does that is closed beside another one.
func (s *swarm) reset(i int) (n int) {
	for _, c := range s.hosts[i].Network().Conns() {
		for _, stream := range c.GetStreams() {
			if stream.Protocol() == gossip.Protocol && stream.Stat().Direction == network.DirOutbound {
				_ = stream.Reset()
				n++
			}
		}
	}
	return n
}

// Two hear each other although streams of one, or of both, have ended and the connection has not: pubsub forgets then
// which topics its neighbour is in, who has no reason to say it again.
func TestStreamsEndAlone(t *testing.T) {
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 0))
		inSwarm(t, []int{2}, func(s *swarm) {
			s.open(gossip.Config{})
			s.connect(0, 1)
			time.Sleep(time.Second)
			ended := s.reset(0)
			for range random.IntN(20) { // pubsub opens no more in ten minutes than four
				time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
				ended += s.reset(random.IntN(2))
			}
			if ended == 0 {
				t.Errorf("seed %d: no stream has ended", seed)
			}
			time.Sleep(time.Minute)
			s.hearEachOther(time.Minute, fmt.Sprintf("seed %d, %d have ended", seed, ended))
		})
	}
}

// Two that are connected for long before they are admitted hear each other afterwards: by then pubsub has tried to
// speak to the other, and does not try again.
func TestAdmittedVeryLate(t *testing.T) {
	inSwarm(t, []int{2}, func(s *swarm) {
		var admitted atomic.Bool
		s.open(gossip.Config{Admitted: func(peer.ID) bool { return admitted.Load() }})
		s.connect(0, 1)
		time.Sleep(2 * time.Minute)
		admitted.Store(true)
		time.Sleep(time.Minute)
		s.hearEachOther(time.Minute, "admitted after two minutes")
	})
}
