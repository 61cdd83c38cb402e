package host

import (
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/p2p/host/peerstore/pstoremem"
	ma "github.com/multiformats/go-multiaddr"
)

// identified is libp2p's book of addresses. All of a peer's are dialed, whoever has told of them, so what a peer says
// of itself to libp2p, before anybody knows whether it is a member, counts for no more than what others tell, and as
// long as it is connected; of those that were met as members it stays for a while.
type identified struct {
	peerstore.Peerstore
	peerstore.CertifiedAddrBook
	host *Host
}

func newIdentified(h *Host) (identified, error) {
	book, err := pstoremem.NewPeerstore()
	return identified{book, book, h}, err
}

// AddAddrs is called by libp2p, when a peer has said where it is and when the last connection with it has ended, with
// these times and no others.
func (b identified) AddAddrs(id peer.ID, addrs []ma.Multiaddr, ttl time.Duration) {
	switch ttl {
	case peerstore.ConnectedAddrTTL:
		addrs = b.dialable(id, addrs)
	case peerstore.RecentlyConnectedAddrTTL:
		if !b.host.book.met(id) {
			return
		}
		here := b.Addrs(id)
		addrs = slices.DeleteFunc(slices.Clone(addrs), func(a ma.Multiaddr) bool {
			return !slices.ContainsFunc(here, a.Equal)
		})
	}
	b.Peerstore.AddAddrs(id, addrs, ttl)
}

// UpdateAddrs is how libp2p forgets what stays of a peer when the last connection with it has ended: not what the user
// wants dialed in this moment.
func (b identified) UpdateAddrs(id peer.ID, from, to time.Duration) {
	if to > 0 || b.host.intents.of(id) == nil {
		b.Peerstore.UpdateAddrs(id, from, to)
	}
}

// dialable is Dialable for what a peer says of itself over a connection with it.
func (b identified) dialable(id peer.ID, addrs []ma.Multiaddr) []ma.Multiaddr {
	if !b.host.opened() {
		return nil // those who are members tell where they are in other ways, too
	}
	for _, c := range b.host.inner.Network().ConnsToPeer(id) {
		return b.host.Dialable(addrs, RemoteAddr(c))
	}
	return nil
}

// FilterLocal is for hole punching: what is told of this peer's addresses is for libp2p to say.
func (identified) FilterLocal(_ peer.ID, addrs []ma.Multiaddr) []ma.Multiaddr { return addrs }

// FilterRemote says which of the addresses may be dialed at which a peer behind a relay would have a hole punched.
func (b identified) FilterRemote(_ peer.ID, addrs []ma.Multiaddr) []ma.Multiaddr {
	if !b.host.opened() {
		return nil
	}
	return b.host.Dialable(addrs, nil)
}
