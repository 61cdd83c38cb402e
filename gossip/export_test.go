package gossip

import (
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/wire"
)

// What tests of hostile peers need to speak the protocol themselves.

// Seal makes an envelope with one message.
func Seal(swarm string, key crypto.PrivKey, author peer.ID, seq uint64, kind Kind, payload []byte) ([]byte, error) {
	return seal(wire.Control(), swarm, key, envelope{Author: []byte(author), Seq: seq, Items: []item{{kind, payload}}})
}

// WideTopic is the name of the topic of gateways, or of all.
func WideTopic(swarm string) string { return namesOf(swarm).wide }

// Sizes of what is kept of authors and neighbours.
func (g *Gossip) Kept() (members, strangers, neighbours int) {
	g.neighbourMu.Lock()
	defer g.neighbourMu.Unlock()
	g.authors.mu.Lock()
	defer g.authors.mu.Unlock()
	return g.authors.members.len(), g.authors.strangers.len(), g.neighbours.len()
}

// Bounds of Kept.
const (
	MaxStrangerAuthors = maxStrangerAuthors
	MaxMemberAuthors   = maxMemberAuthors
)

// Identity is what pubsub knows a message by.
var Identity = identity

// PeersIn is how many neighbours pubsub knows to be in a topic.
func (g *Gossip) PeersIn(topic string) int { return len(g.ps.ListPeers(topic)) }

// NearTopic is the name of a cluster's topic, and Elected are its gateways in an epoch.
func NearTopic(swarm, cluster string) string { return namesOf(swarm).near(cluster) }

var Elected = elected

// Heeds says whether it counts that a neighbour wants no copies of a message.
func (g *Gossip) Heeds(from peer.ID) bool {
	call := &pubsub.RPC{RPC: pb.RPC{Control: &pb.ControlMessage{Idontwant: []*pb.ControlIDontWant{{}}}}}
	return g.inspect(from, call) == nil && len(call.Control.Idontwant) > 0
}

// MaxHeeded is of how many neighbours it does.
const MaxHeeded = maxHeeded
