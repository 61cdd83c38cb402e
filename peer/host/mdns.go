package host

import (
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"
)

// serviceName is what members of a swarm of a name call on the local network. It does not tell the name.
func serviceName(swarm string) string {
	sum := sha256.Sum256([]byte("satin mdns 1\n" + swarm))
	return "_satin-" + hex.EncodeToString(sum[:4]) + "._udp" // a service's name has at most 15 letters
}

// A neighbourhood hears of peers on the local network.
type neighbourhood struct{ seeker *seeker }

// HandlePeerFound is called by libp2p.
func (n neighbourhood) HandlePeerFound(info peer.AddrInfo) { n.seeker.found(info.ID, info.Addrs) }

// callOut makes this peer known on the local network and listens for others.
func (h *Host) callOut() (io.Closer, error) {
	service := mdns.NewMdnsService(h.inner, serviceName(h.SwarmName()), neighbourhood{h.seeker})
	return service, service.Start()
}
