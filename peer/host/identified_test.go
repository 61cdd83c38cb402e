package host

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	ma "github.com/multiformats/go-multiaddr"
)

// What a peer says of itself to libp2p is dialed by the rule for what others tell, whether it is connected or asks to
// have a hole punched: else whoever comes by has this peer look names up, and try the doors of its own network. Of one
// that was no member nothing stays, or many that come and go leave no room for anybody's addresses.
func TestIdentifiedIsNotBelieved(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	here, near := ma.StringCast("/ip4/127.0.0.1/tcp/1"), ma.StringCast("/ip4/169.254.169.254/tcp/80")
	said := []ma.Multiaddr{ma.StringCast("/dns4/victim.invalid/tcp/1"), near, here}
	open := func(options ...libp2p.Option) *Host {
		h, err := Open(ctx, Config{StateDir: t.TempDir(), Trust: TrustOpen, Listen: []string{"/ip4/127.0.0.1/tcp/0"},
			Options: options})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		return h
	}
	h, liar := open(), open(libp2p.AddrsFactory(func([]ma.Multiaddr) []ma.Multiaddr { return slices.Clone(said) }))
	at := peer.AddrInfo{ID: liar.id, Addrs: liar.inner.Network().ListenAddresses()}
	if err := h.inner.Connect(ctx, at); err != nil { // and has heard what it says
		t.Fatal(err)
	}
	book := h.inner.Peerstore()
	if got := book.Addrs(liar.id); len(got) != 1 || !got[0].Equal(here) {
		t.Errorf("would dial %v", got)
	}
	if got := h.known.FilterRemote(liar.id, slices.Clone(said)); len(got) != 1 || !got[0].Equal(here) {
		t.Errorf("a hole would be punched at %v", got)
	}
	h.book.meet(mustID(2), nil, time.Now())
	for id, want := range map[peer.ID]int{mustID(1): 0, mustID(2): 1} {
		book.AddAddrs(id, []ma.Multiaddr{here}, time.Hour) // it was connected
		book.UpdateAddrs(id, time.Hour, peerstore.TempAddrTTL)
		book.AddAddrs(id, []ma.Multiaddr{here, near}, peerstore.RecentlyConnectedAddrTTL) // has gone, or says so late
		book.UpdateAddrs(id, peerstore.TempAddrTTL, 0)
		if got := book.Addrs(id); len(got) != want {
			t.Errorf("%v stay of %s", got, id)
		}
	}
}

// Whoever connects as soon as libp2p listens is asked for no address before the host knows its own: libp2p serves who
// comes while Open waits for it.
func TestIdentifiedBeforeOpen(t *testing.T) {
	known, here := identified{host: &Host{listens: make(chan struct{})}}, ma.StringCast("/ip4/127.0.0.1/tcp/1")
	if got := known.dialable(mustID(1), []ma.Multiaddr{here}); len(got) > 0 {
		t.Errorf("would dial %v", got)
	}
	if got := known.FilterRemote(mustID(1), []ma.Multiaddr{here}); len(got) > 0 {
		t.Errorf("a hole would be punched at %v", got)
	}
}

// What is to be dialed now stays though the last connection with that peer has just ended: it was another one, that
// the two had by other means, and was refused.
func TestAskedForAddressesStay(t *testing.T) {
	h, err := Open(t.Context(), Config{StateDir: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	book, id := h.inner.Peerstore(), mustID(1)
	for _, wanted := range []bool{true, false} {
		done := func() {}
		if wanted {
			done = h.intents.note(id, &intent{})
		}
		book.AddAddrs(id, []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/1")}, peerstore.TempAddrTTL)
		book.UpdateAddrs(id, peerstore.TempAddrTTL, 0)
		if got := book.Addrs(id); (len(got) == 1) != wanted {
			t.Errorf("%v stay, wanted: %v", got, wanted)
		}
		done()
	}
}
