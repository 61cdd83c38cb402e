package host

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
)

// However many strangers open streams and say nothing on them, a member opens as many as it may, and this peer opens
// one to it.
func TestStreamsOfStrangers(t *testing.T) {
	var two [2]*Host
	for i := range two {
		h, err := Open(t.Context(), Config{StateDir: t.TempDir(), Trust: TrustOpen,
			Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		two[i] = h
	}
	v, member := two[0], two[1]
	fill := func(id peer.ID) (n int) {
		for ; ; n++ {
			s, err := v.inner.Network().ResourceManager().OpenStream(id, network.DirInbound)
			if err != nil {
				return n
			}
			t.Cleanup(s.Done)
		}
	}
	for n := range maxOutside {
		if got := fill(mustID(byte(n))); got != maxStrange {
			t.Fatalf("stranger %d has %d streams", n, got)
		}
	}
	if err := member.Connect(t.Context(), v.Addrs()[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := v.outer.NewStream(t.Context(), member.id, ping.ID); err != nil {
		t.Error(err)
	}
	if got := fill(member.id); got < maxPeerStreams/2 {
		t.Errorf("a member has %d streams", got)
	}
}
