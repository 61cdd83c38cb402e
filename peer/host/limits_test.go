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

// Twenty members have as many streams as they may, over TCP, where each counts as its window, and say nothing on them.
// A member that comes later is admitted, as a stranger until then, and opens as many as eight runs need: without room
// its first one would end its connection.
func TestSilentStreamsLeaveRoom(t *testing.T) {
	const window = 256 << 10 // what yamux takes for a stream
	open := func() *Host {
		h, err := Open(t.Context(), Config{StateDir: t.TempDir(), Trust: TrustOpen,
			Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		return h
	}
	v := open()
	connect := func() *Host {
		member := open()
		if err := member.Connect(t.Context(), v.Addrs()[0]); err != nil {
			t.Fatal(err)
		}
		return member
	}
	for range 20 {
		silent := connect()
		err := v.inner.Network().ResourceManager().ViewPeer(silent.id, func(scope network.PeerScope) error {
			for range maxPeerStreams {
				stream, err := scope.BeginSpan()
				if err != nil {
					return err
				}
				t.Cleanup(stream.Done)
				if stream.ReserveMemory(window, network.ReservationPriorityAlways) != nil {
					break
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	member := connect()
	for n := range 32 {
		s, err := member.inner.Network().NewStream(t.Context(), v.id)
		if err != nil {
			t.Fatalf("stream %d: %v", n, err)
		}
		if _, err := s.Write([]byte{1}); err != nil {
			t.Fatalf("stream %d: %v", n, err)
		}
	}
	if _, err := v.outer.NewStream(t.Context(), member.id, ping.ID); err != nil {
		t.Error(err)
	}
}
