package host_test

import (
	"net"
	"testing"

	"github.com/satin-peer/satin/peer/host"
)

// Members of a swarm find each other on the local network.
func TestNeighboursFindEachOther(t *testing.T) {
	if !canMulticast(t) {
		t.Skip("no network interface here can multicast, so there is no local network to be found on")
	}
	a := open(t, host.Config{Trust: host.TrustOpen, Swarm: "neighbours", MDNS: true})
	b := open(t, host.Config{Trust: host.TrustOpen, Swarm: "neighbours", MDNS: true})
	await(t, comes(a, b.ID()), "the neighbour")
}

func canMulticast(t *testing.T) bool {
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagMulticast != 0 {
			return true
		}
	}
	return false
}
