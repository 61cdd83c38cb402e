package host_test

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/peer/host"
)

// comes returns a channel that says when a host has admitted one peer.
func comes(h *host.Host, id peer.ID) <-chan struct{} {
	c := make(chan struct{}, 16)
	h.OnPeer(func(p peer.ID, up bool) {
		if p == id && up {
			c <- struct{}{}
		}
	})
	return c
}

// Whoever listens late is told of those who are there already.
func TestLateListenersAreTold(t *testing.T) {
	a, b := open(t, host.Config{}), open(t, host.Config{})
	join(t, b, invite(t, a, host.InviteOptions{}))
	await(t, comes(b, a.ID()), "one that came before")
	await(t, comes(b, a.ID()), "the same, by another listener")
}

func await(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-patience(t).Done():
		t.Fatal("waited in vain for " + what)
	}
}

// Members learn of each other from one that both know, and connect.
func TestMembersFindEachOtherThroughACommonOne(t *testing.T) {
	a := open(t, host.Config{})
	line := invite(t, a, host.InviteOptions{Uses: 2})
	b := open(t, host.Config{Bootstrap: []string{line}})
	met := comes(b, a.ID())
	await(t, met, "the bootstrap")
	c := open(t, host.Config{Bootstrap: []string{line}})
	await(t, comes(b, c.ID()), "one that only a third knew")
	await(t, comes(c, b.ID()), "the other side of it")
}

// Two members that start again find each other by what they remember.
func TestAddressesAreRememberedAcrossRestarts(t *testing.T) {
	dirs := []string{t.TempDir(), t.TempDir()}
	a, b := open(t, host.Config{StateDir: dirs[0]}), open(t, host.Config{StateDir: dirs[1]})
	join(t, b, invite(t, a, host.InviteOptions{}))
	var listen []string // the same port again
	for _, addr := range a.Network().Addrs() {
		listen = append(listen, addr.String())
	}
	b.Close()
	a.Close()
	a = open(t, host.Config{StateDir: dirs[0], Listen: listen}) // before, so that no dial has to be tried again
	b = open(t, host.Config{StateDir: dirs[1]})                 // with nothing but what it remembers
	if a.Incarnation() != 2 || b.Incarnation() != 2 {
		t.Errorf("incarnations %d and %d, want 2", a.Incarnation(), b.Incarnation())
	}
	await(t, comes(b, a.ID()), "the remembered peer")
}

// With all ways to find and reach peers on at once a peer joins; on loopback none takes itself for reachable from
// outside.
func TestJoinWithEverythingOn(t *testing.T) {
	all := host.Config{NAT: true, MDNS: true, DHT: true, Relay: true}
	a, b := open(t, all), open(t, all)
	join(t, b, invite(t, a, host.InviteOptions{}))
	if !a.Admitted(b.ID()) || !b.Admitted(a.ID()) {
		t.Error("not admitted")
	}
	if state, why := a.Reachability(); state != host.ReachPrivate {
		t.Errorf("on loopback: %v, %q", state, why)
	}
}
