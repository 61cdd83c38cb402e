package host

import (
	"context"
	"fmt"

	dht "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/protocol"
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
	)
	if err != nil {
		return fmt.Errorf("starting the swarm's Kademlia: %w", err)
	}
	x.dht = d
	return d.Bootstrap(h.ctx)
}

// forPeer looks for the addresses of a peer that is not known here.
func (x *search) forPeer(ctx context.Context, id peer.ID, found peerstore.AddrBook) error {
	if x.dht == nil {
		return fmt.Errorf("%w: no address of %s is known", ErrUnreachable, id)
	}
	info, err := x.dht.FindPeer(ctx, id)
	if err != nil {
		return fmt.Errorf("%w: no address of %s is known, and none was found: %w", ErrUnreachable, id, err)
	}
	found.AddAddrs(id, info.Addrs, learnedAddrTTL)
	return nil
}
