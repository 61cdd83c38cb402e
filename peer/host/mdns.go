package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"
)

// serviceName is what members of a swarm call on the local network: only they hear each other. It does not
// tell the swarm's name.
func serviceName(s standing) string {
	sum := sha256.Sum256(append([]byte("satin mdns 1\n"+s.name+"\n"), s.public...))
	return "_satin-" + hex.EncodeToString(sum[:4]) + "._udp" // a service's name has at most 15 letters
}

// A neighbourhood hears of peers on the local network.
type neighbourhood struct{ seeker *seeker }

// HandlePeerFound is called by libp2p.
func (n neighbourhood) HandlePeerFound(info peer.AddrInfo) { n.seeker.found(info.ID, info.Addrs) }

// callOut makes this peer known on the local network and listens for others, in the swarm that it is in at
// the time. A machine without a network that can multicast is no reason not to start.
func (h *Host) callOut(ctx context.Context) {
	for {
		name := serviceName(h.swarm.standing())
		service := mdns.NewMdnsService(h.inner, name, neighbourhood{h.seeker})
		if err := service.Start(); err != nil {
			h.log.Warn("no discovery on the local network", "error", err)
		}
		for serviceName(h.swarm.standing()) == name && ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-h.moved:
			}
		}
		service.Close()
		if ctx.Err() != nil {
			return
		}
	}
}
