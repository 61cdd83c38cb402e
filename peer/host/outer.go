package host

import (
	"context"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
)

// outer is the libp2p host as the rest of the house sees it: its protocols reach admitted peers only, in both
// directions, and keep to the bandwidth. A stream to or from a peer whose handshake is under way waits for its end.
type outer struct {
	host.Host // what libp2p itself uses: identify, hole punching, relaying, reachability
	own       *Host
	searching bool // it is the search for addresses itself that asks
}

func (g *outer) SetStreamHandler(id protocol.ID, handler network.StreamHandler) {
	g.Host.SetStreamHandler(id, g.guard(handler))
}

func (g *outer) SetStreamHandlerMatch(id protocol.ID, match func(protocol.ID) bool, handler network.StreamHandler) {
	g.Host.SetStreamHandlerMatch(id, match, g.guard(handler))
}

func (g *outer) guard(handler network.StreamHandler) network.StreamHandler {
	return func(s network.Stream) {
		id := s.Conn().RemotePeer()
		if !g.own.Admitted(id) {
			ctx, cancel := context.WithTimeout(g.own.ctx, helloTimeout)
			defer cancel()
			if g.own.visitors.await(ctx, id, s.Stat().Opened) != nil {
				s.ResetWithError(network.StreamGated)
				return
			}
		}
		handler(g.own.pacing.pace(s))
	}
}

func (g *outer) Connect(ctx context.Context, info peer.AddrInfo) error {
	if g.own.Admitted(info.ID) && g.Host.Network().Connectedness(info.ID) == network.Connected {
		return nil
	}
	start := time.Now()
	if err := g.dial(ctx, info); err != nil {
		return err
	}
	if g.own.Admitted(info.ID) {
		return nil
	}
	return g.own.visitors.await(ctx, info.ID, start)
}

// dial connects, and looks for an address if none is known.
func (g *outer) dial(ctx context.Context, info peer.AddrInfo) error {
	if len(info.Addrs) == 0 && g.Host.Network().Connectedness(info.ID) == network.NotConnected {
		info.Addrs = g.own.book.addrs(info.ID)
		if len(info.Addrs) == 0 && len(g.Host.Peerstore().Addrs(info.ID)) == 0 && !g.searching {
			if err := g.own.search.forPeer(ctx, info.ID); err != nil {
				return err
			}
		}
	}
	return dial(ctx, g.Host, info)
}

func (g *outer) NewStream(ctx context.Context, id peer.ID, protocols ...protocol.ID) (network.Stream, error) {
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, connectTimeout)
		defer cancel()
	}
	if !g.own.Admitted(id) {
		start := time.Now()
		if no, _ := network.GetNoDial(ctx); !no {
			if err := g.dial(ctx, peer.AddrInfo{ID: id}); err != nil {
				return nil, err
			}
		}
		if err := g.own.visitors.await(ctx, id, start); err != nil {
			return nil, fmt.Errorf("no stream to %s: %w", id, err)
		}
	}
	s, err := g.Host.NewStream(ctx, id, protocols...)
	if err != nil {
		return nil, err
	}
	return g.own.pacing.pace(s), nil
}
