package host

import (
	"context"
	"fmt"

	dht "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// openDHT starts the swarm's own Kademlia, which never meets the public one: another protocol, and admitted
// peers only. It stores nothing; it finds addresses.
func (h *Host) openDHT() error {
	own := &gated{Host: h.inner, own: h, searching: true}
	d, err := dht.New(own,
		dht.ProtocolPrefix(protocol.ID("/satin")),
		dht.Mode(dht.ModeServer),
		dht.DisableProviders(),
		dht.DisableValues(),
	)
	if err != nil {
		return fmt.Errorf("starting the swarm's Kademlia: %w", err)
	}
	h.dht = d
	return d.Bootstrap(h.ctx)
}

// search looks for the addresses of a peer that is not known here.
func (h *Host) search(ctx context.Context, id peer.ID) error {
	if h.dht == nil {
		return fmt.Errorf("%w: no address of %s is known", ErrUnreachable, id)
	}
	info, err := h.dht.FindPeer(ctx, id)
	if err != nil {
		return fmt.Errorf("%w: no address of %s is known, and none was found: %w", ErrUnreachable, id, err)
	}
	h.inner.Peerstore().AddAddrs(id, info.Addrs, learnedAddrTTL)
	return nil
}
