package host

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	libp2pswarm "github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
)

// An error names the address that was asked for; and, if it is about another one that is known of the same
// peer, that one too.
func TestErrorsNameTheAddressThatTheyAreAbout(t *testing.T) {
	asked, known := ma.StringCast("/ip4/192.0.2.1/tcp/4001"), ma.StringCast("/ip4/192.0.2.2/tcp/4001")
	named := ma.StringCast("/dns4/nohost.invalid/tcp/4001")
	refused := errors.New("connection refused")
	fails := func(cause error, at ...ma.Multiaddr) error {
		all := &libp2pswarm.DialError{Peer: mustID(1), Cause: cause}
		for _, a := range at {
			all.DialErrors = append(all.DialErrors, libp2pswarm.TransportError{Address: a, Cause: refused})
		}
		return all
	}
	for name, c := range map[string]struct {
		asked ma.Multiaddr
		err   error
		says  string
	}{
		"the one that was asked for": {asked, fails(nil, known, asked),
			"at /ip4/192.0.2.1/tcp/4001 cannot be reached: connection refused"},
		"another one": {asked, fails(nil, known),
			"at /ip4/192.0.2.1/tcp/4001, tried at /ip4/192.0.2.2/tcp/4001, cannot be reached: connection refused"},
		"where a name leads": {named, fails(nil, known),
			"at /dns4/nohost.invalid/tcp/4001, tried at /ip4/192.0.2.2/tcp/4001, cannot be reached"},
		"a name that leads nowhere": {named, fails(libp2pswarm.ErrNoGoodAddresses),
			"nohost.invalid/tcp/4001 cannot be reached: failed to dial " + mustID(1).String() +
				": no good addresses: the name has no address"},
	} {
		err := explainDial(peer.AddrInfo{ID: mustID(1), Addrs: []ma.Multiaddr{c.asked}}, c.err)
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whoever is refused at another address than it asked for is told both, and one that nobody answered at leaves no
// address for the next attempt.
func TestRefusalNamesWhereThePeerWasReached(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	var hosts []*Host
	for range 2 {
		h, err := Open(ctx, Config{StateDir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		hosts = append(hosts, h)
	}
	a, b := hosts[0], hosts[1]
	const dead = "/ip4/127.0.0.1/tcp/1"
	refuse := func(id peer.ID, says string) {
		t.Helper()
		err := a.Connect(ctx, dead+"/p2p/"+id.String())
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the message does not say %q: %v", says, err)
		}
	}
	a.inner.Peerstore().AddAddrs(b.id, b.inner.Addrs(), peerstore.TempAddrTTL)
	refuse(b.id, "at "+dead+", reached at "+b.inner.Addrs()[0].String()+": not a member")
	// Whoever asks when the connection has gone is told the same.
	met, err := a.visitors.awaitMet(ctx, b.id, time.Time{})
	if err == nil || len(met) == 0 || !met[0].dialed || !met[0].at.Equal(b.inner.Addrs()[0]) {
		t.Errorf("it was met at %v: %v", met, err)
	}
	// Nobody was met under this name: of b an identification under way may still tell an address.
	nobody := mustID(1)
	refuse(nobody, "at "+dead+" cannot be reached")
	if left := a.inner.Peerstore().Addrs(nobody); len(left) != 0 {
		t.Errorf("the next attempt would be at %v too", left)
	}
}
