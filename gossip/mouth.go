package gossip

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"

	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// A mouth is the stream on which pubsub speaks to a neighbour, each call in one write.
//
// pubsub says once on it which topics this peer is in, and forgets which ones its neighbour is in when it ends, as it
// does when one connection of two is closed. The neighbour's own stream has not ended, so it would not say it again,
// and would be told nothing any more. But a peer that has forgotten opens a stream anew, afterwards: so whoever opens
// one is told again.
type mouth struct {
	network.Stream
	of *gate

	mu sync.Mutex // of writing
}

// sayWithin is how long a neighbour may take to read it: as long as pubsub gives it.
const sayWithin = 30 * time.Second

func (m *mouth) Write(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Stream.Write(b)
}

// Reset is how pubsub ends it in every case.
func (m *mouth) Reset() error {
	m.of.mu.Lock()
	if id := m.Conn().RemotePeer(); m.of.outbound[id] == m {
		delete(m.of.outbound, id)
	}
	m.of.mu.Unlock()
	return m.Stream.Reset()
}

// say says which topics this peer is in. What pubsub says of a change meanwhile may go before: so it looks once more.
func (h *gate) say(to peer.ID) {
	h.mu.Lock()
	m := h.outbound[to]
	h.mu.Unlock()
	if m == nil {
		return // it will be said when there is one
	}
	var said []string
	for in := h.topics(); !slices.Equal(in, said); in = h.topics() {
		var call pb.RPC
		add := func(topic string, is bool) {
			call.Subscriptions = append(call.Subscriptions, &pb.RPC_SubOpts{Topicid: &topic, Subscribe: &is})
		}
		for _, topic := range in {
			add(topic, true)
		}
		for _, topic := range said {
			if !slices.Contains(in, topic) {
				add(topic, false)
			}
		}
		body, err := call.Marshal()
		if err == nil {
			_ = m.SetWriteDeadline(time.Now().Add(sayWithin))
			_, err = m.Write(append(binary.AppendUvarint(nil, uint64(len(body))), body...))
		}
		if err != nil {
			_ = m.Stream.Reset() // it may end in the middle: pubsub opens another one
			return
		}
		said = in
	}
}
