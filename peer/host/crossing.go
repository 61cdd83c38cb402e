package host

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/sec"
	libp2pswarm "github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
)

// Dials that cross
//
// Peers dial from the port that they listen on. So if two dial each other over TCP at the same moment the system may
// make one connection of both dials (TCP's simultaneous open), in which each takes itself for the client. Then the
// handshake fails at both ends, and libp2p leaves the address alone for five seconds. Who sees that dials again
// after a pause: it is random, so that one of the two comes first, and the other is connected by then.
const (
	crossTries    = 3
	crossPauseMin = 5 * time.Millisecond
	crossPauseMax = 100 * time.Millisecond
)

// dial connects like h.Connect, and again if another dial has crossed it.
func dial(ctx context.Context, h host.Host, info peer.AddrInfo) error {
	for try := 1; ; try++ {
		err := h.Connect(ctx, info)
		if err == nil || try == crossTries || !crossed(err) {
			return err
		}
		select {
		case <-time.After(crossPauseMin + rand.N(crossPauseMax-crossPauseMin)):
		case <-ctx.Done():
			return err
		}
		if s, ok := h.Network().(*libp2pswarm.Swarm); ok {
			s.Backoff().Clear(info.ID)
		}
	}
}

// crossed says whether a dial may have failed because of another one in the opposite direction: it reached somebody
// over TCP, but the two did not agree on who begins. libp2p has no name for that error.
func crossed(err error) bool {
	var all *libp2pswarm.DialError
	var other sec.ErrPeerIDMismatch
	if !errors.As(err, &all) || errors.As(err, &other) {
		return false
	}
	for _, e := range all.DialErrors {
		if _, no := e.Address.ValueForProtocol(ma.P_TCP); no == nil &&
			strings.Contains(e.Cause.Error(), "failed to negotiate security protocol") {
			return true
		}
	}
	return false
}
