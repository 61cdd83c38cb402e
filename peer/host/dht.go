package host

import (
	"context"
	"errors"
	"fmt"

	dht "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"
)

const (
	searchPrefix   = "/satin"
	searchProtocol = searchPrefix + "/kad/1.0.0"
	maxSearched    = 64 << 10 // bytes of a message of the search: 20 peers with 16 addresses each
)

// A search is for the addresses of members, in the swarm's own Kademlia.
type search struct {
	dht *dht.IpfsDHT // nil: there is none
}

// open starts the swarm's own Kademlia, which never meets the public one: another protocol, and admitted
// peers only. It stores nothing; it finds addresses.
func (x *search) open(h *Host) error {
	own := &outer{Host: h.inner, own: h, searching: true}
	d, err := dht.New(brief{own},
		dht.ProtocolPrefix(searchPrefix),
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

// brief is the host as Kademlia sees it, which reads short messages only: of a list of nothing, of 4 MiB, it would make
// some 300.
type brief struct{ *outer }

func (s brief) SetStreamHandler(id protocol.ID, handler network.StreamHandler) {
	s.outer.SetStreamHandler(id, func(in network.Stream) { handler(&searched{Stream: in}) })
}

func (s brief) NewStream(ctx context.Context, id peer.ID, protocols ...protocol.ID) (network.Stream, error) {
	in, err := s.outer.NewStream(ctx, id, protocols...)
	if err != nil {
		return nil, err
	}
	return &searched{Stream: in}, nil
}

// searched is a stream of messages, each after its length.
type searched struct {
	network.Stream
	length uint64 // of the message that is being read, as far as it is known
	shift  int    // of the next bits of it
	left   uint64 // bytes of the message that have not come
}

func (s *searched) Read(b []byte) (int, error) {
	n, err := s.Stream.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		if s.left > 0 {
			take := min(s.left, uint64(len(rest)))
			s.left, rest = s.left-take, rest[take:]
			continue
		}
		s.length |= uint64(rest[0]&0x7f) << s.shift
		s.shift += 7
		if s.length > maxSearched {
			return 0, errors.New("a message that is too long")
		}
		if rest[0] < 0x80 {
			s.length, s.shift, s.left = 0, 0, s.length
		}
		rest = rest[1:]
	}
	return n, err
}
