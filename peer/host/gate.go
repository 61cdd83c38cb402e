package host

import (
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/control"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

const (
	maxOutside = 128 // strangers that may wait for a handshake at a time
	// maxIdlers is how many may before the one is put out that has waited longest where most are from: strangers
	// that say nothing must not keep out who was invited.
	maxIdlers = 96

	// One peer ID may make attemptBurst attempts at once and then one every attemptEvery; a connection is
	// one, and a handshake. What one address may do is in limits.go.
	attemptBurst = 40
	attemptEvery = 2 * time.Second
	maxCounted   = 1024 // peer IDs whose attempts are counted
)

// A gate is asked about each connection before libp2p uses it. It keeps out peers that were revoked or try too
// often, and strangers while too many of them wait (members that were met before pass). All others may speak
// the handshake and nothing else of ours (see outer.go).
type gate struct {
	host   *Host
	silent silents

	mu       sync.Mutex
	attempts map[peer.ID]bucket
}

type bucket struct {
	tokens float64
	at     time.Time
}

func (g *gate) InterceptPeerDial(id peer.ID) bool { return !g.host.roll.out(id) }

func (g *gate) InterceptAddrDial(peer.ID, ma.Multiaddr) bool { return true }

func (g *gate) InterceptAccept(c network.ConnMultiaddrs) bool {
	g.silent.opened(c, time.Now())
	return true
}

func (g *gate) InterceptSecured(dir network.Direction, id peer.ID, c network.ConnMultiaddrs) bool {
	g.silent.spoke(c)
	switch {
	case g.host.roll.out(id):
		return false
	case dir == network.DirOutbound:
		return true
	case g.host.visitors.crowded() && !g.host.book.met(id) && !g.host.allowed.has(id):
		return false
	}
	return g.mayTry(id, time.Now())
}

func (g *gate) InterceptUpgraded(network.Conn) (bool, control.DisconnectReason) { return true, 0 }

// mayTry takes a token from a peer's bucket.
func (g *gate) mayTry(id peer.ID, now time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	b, ok := g.attempts[id]
	if !ok {
		g.forget(now)
		b = bucket{attemptBurst, now}
	}
	b.tokens = min(attemptBurst, b.tokens+float64(now.Sub(b.at))/float64(attemptEvery))
	b.at = now
	may := b.tokens >= 1
	if may {
		b.tokens--
	}
	g.attempts[id] = b
	return may
}

// forget makes room for one more bucket: full ones say nothing, and if there are none, all are forgotten. (A
// crowd of fresh peer IDs is held back by what one address may do.)
func (g *gate) forget(now time.Time) {
	if len(g.attempts) < maxCounted {
		return
	}
	for id, b := range g.attempts {
		if now.Sub(b.at) > attemptBurst*attemptEvery {
			delete(g.attempts, id)
		}
	}
	if len(g.attempts) >= maxCounted {
		clear(g.attempts)
	}
}
