package host

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/host/autorelay"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/proto"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
	ma "github.com/multiformats/go-multiaddr"
)

// What a member that relays gives. libp2p's defaults (128 KB in 2 minutes) are for saying hello; ours leave
// room for steals of small jobs while a hole is being punched, and for nothing that would hurt the one who
// relays.
const (
	relayedBytes      = 4 << 20 // of one circuit, in each direction
	relayedTime       = 10 * time.Minute
	relayReservations = 64
	relayCircuits     = 16 // of one peer
	relayPerAddress   = 32 // reservations; an institute may be behind one
)

// relayFor begins to relay for members.
func relayFor(h *Host) (io.Closer, error) {
	resources := relay.DefaultResources()
	resources.Limit = &relay.RelayLimit{Duration: relayedTime, Data: relayedBytes}
	resources.MaxReservations = relayReservations
	resources.MaxCircuits = relayCircuits
	resources.MaxReservationsPerIP = relayPerAddress
	resources.MaxReservationsPerASN = relayReservations
	return relay.New(h.inner, relay.WithResources(resources), relay.WithACL(membersOnly{h}))
}

// membersOnly has the relay serve admitted peers, at both ends of a circuit.
type membersOnly struct{ host *Host }

// AllowReserve is asked by libp2p.
func (m membersOnly) AllowReserve(id peer.ID, _ ma.Multiaddr) bool { return m.host.Admitted(id) }

// AllowConnect is asked by libp2p.
func (m membersOnly) AllowConnect(from peer.ID, _ ma.Multiaddr, to peer.ID) bool {
	return m.host.Admitted(from) && m.host.Admitted(to)
}

func relayOptions() []autorelay.Option {
	return []autorelay.Option{
		autorelay.WithMinCandidates(1),
		autorelay.WithNumRelays(2),
		autorelay.WithBootDelay(10 * time.Second),
		autorelay.WithBackoff(5 * time.Minute),
		autorelay.WithMinInterval(30 * time.Second),
	}
}

// relays are members that relay, for libp2p to choose from.
func (h *Host) relays(_ context.Context, n int) <-chan peer.AddrInfo {
	found := make(chan peer.AddrInfo, max(n, 0))
	defer close(found)
	if !h.opened() {
		return found
	}
	for _, id := range h.visitors.admitted() {
		if len(found) == cap(found) {
			break
		}
		protocols, err := h.inner.Peerstore().SupportsProtocols(id, proto.ProtoIDv2Hop)
		if err == nil && slices.Contains(protocols, proto.ProtoIDv2Hop) {
			found <- h.inner.Peerstore().PeerInfo(id)
		}
	}
	return found
}

// watchRecords keeps the addresses that peers sign for themselves, to pass them on.
func (h *Host) watchRecords() error {
	return hear(h, "peers' records", func(e any) {
		h.exchange.identified(e.(event.EvtPeerIdentificationCompleted))
	}, new(event.EvtPeerIdentificationCompleted))
}
