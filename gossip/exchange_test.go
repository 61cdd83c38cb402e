package gossip_test

import (
	"testing"
	"time"

	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peerstore"

	"github.com/satin-peer/satin/gossip"
)

// A neighbour that takes this peer out of its mesh may name others by pubsub, with whatever addresses they have signed.
// Nobody is dialed for that: else a member would have everybody look names up, and try the doors of its own network.
func TestNobodyIsExchanged(t *testing.T) {
	inSwarm(t, []int{3}, func(s *swarm) {
		s.openOne(0, gossip.Config{})
		s.connect(1, 0)
		here, named, topic := s.hosts[0], s.hosts[2].ID(), gossip.WideTopic("test")
		book, _ := peerstore.GetCertifiedAddrBook(s.hosts[2].Peerstore())
		record, err := book.GetPeerRecord(named).Marshal()
		if err != nil {
			s.t.Fatal(err)
		}
		s.say(1, 0, &pb.RPC{Control: &pb.ControlMessage{Prune: []*pb.ControlPrune{{TopicID: &topic,
			Peers: []*pb.PeerInfo{{PeerID: []byte(named), SignedPeerRecord: record}}}}}})
		time.Sleep(30 * time.Second)
		if here.Network().Connectedness(named) != network.NotConnected {
			s.t.Error("it is dialed whoever a neighbour names")
		}
	})
}
