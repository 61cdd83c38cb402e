package host

import (
	"context"
	"fmt"

	dht "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"
)

// A search is for the addresses of members, in the swarm's own Kademlia.
type search struct {
	dht *dht.IpfsDHT // nil: there is none
}

// open starts the swarm's own Kademlia, which never meets the public one: another protocol, and admitted
// peers only. It stores nothing; it finds addresses.
func (x *search) open(h *Host) error {
	own := &outer{Host: h.inner, own: h, searching: true}
	d, err := dht.New(own,
		dht.ProtocolPrefix(protocol.ID("/satin")),
		dht.Mode(dht.ModeServer),
		dht.DisableProviders(),
		dht.DisableValues(),
		dht.AddressFilter(func(told []ma.Multiaddr) []ma.Multiaddr { return h.Dialable(told, nil) }),
	)
	if err != nil {
		return fmt.Errorf("starting the swarm's Kademlia: %w", err)
	}
	x.dht = d
	return d.Bootstrap(h.ctx)
}

// forPeer looks for the addresses of a peer that is not known here; libp2p's book has them then.
func (x *search) forPeer(ctx context.Context, id peer.ID) error {
	if x.dht == nil {
		return fmt.Errorf("%w: no address of %s is known", ErrUnreachable, id)
	}
	if _, err := x.dht.FindPeer(ctx, id); err != nil {
		return fmt.Errorf("%w: no address of %s is known, and none was found: %w", ErrUnreachable, id, err)
	}
	return nil
}
