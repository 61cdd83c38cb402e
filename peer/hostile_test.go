package peer_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"io"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	lpeer "github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/host"
)

// rogue is a member of the swarm that speaks by hand.
func rogue(t *testing.T, victim *peer.Peer) (*host.Host, lpeer.ID) {
	t.Helper()
	h, err := host.Open(context.Background(), host.Config{
		StateDir: t.TempDir(), Swarm: "test", Trust: host.TrustOpen, Listen: []string{"/ip4/127.0.0.1/tcp/0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	addr := address(t, victim)
	if err := h.Connect(deadline(t), addr); err != nil {
		t.Fatal(err)
	}
	info, err := host.ParseAddr(addr)
	if err != nil {
		t.Fatal(err)
	}
	return h, info.ID
}

func frame(payload []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(payload))), payload...)
}

// Whatever a member says on the protocols of a peer, it gets no answer to it, and the peer goes on.
func TestGarbageOnTheProtocols(t *testing.T) {
	t.Parallel()
	p := open(t)
	h, id := rogue(t, p)
	deep := bytes.Repeat([]byte{0x81}, 200) // an array in an array in an array
	for name, said := range map[string][]byte{
		"nothing":   {},
		"garbage":   frame([]byte("GET / HTTP/1.1\r\n\r\n")),
		"truncated": {0, 0, 1, 0, 1, 2, 3},
		"oversized": {0xff, 0xff, 0xff, 0xff, 1},
		"deep":      frame(deep),
		"empty":     frame(nil),
	} {
		for _, proto := range []protocol.ID{"/satin/meet/1", "/satin/run/1", "/satin/run/2", "/satin/keep/1", "/satin/answer/1",
			"/satin/collect/1"} {
			s, err := h.Network().NewStream(network.WithNoDial(deadline(t), "connected"), id, proto)
			if err != nil {
				t.Fatalf("%s: %v", proto, err)
			}
			_, _ = s.Write(said) // the other side may have hung up
			_ = s.CloseWrite()
			if b, err := io.ReadAll(s); err == nil && len(b) > 0 {
				t.Errorf("%s on %s is answered with %d bytes", name, proto, len(b))
			}
			_ = s.Reset()
		}
	}
	if got := await[int](t, p, submit(t, p, "fib", 20)); got != 6765 {
		t.Errorf("afterwards fib(20) = %d", got)
	}
}

// A member that announces runs that do not exist keeps nobody from real ones.
func TestFloodOfFakeRuns(t *testing.T) {
	t.Parallel()
	a, b := open(t), open(t)
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	h, _ := rogue(t, a)
	g, err := gossip.Open(context.Background(), h.Network(), gossip.Config{
		Swarm: "test", Incarnation: h.Incarnation(), Admitted: h.Admitted,
		AuthorRate: gossip.Rate{PerSecond: 1e6, Burst: 1e6},
		KindRates:  map[gossip.Kind]gossip.Rate{gossip.KindRun: {PerSecond: 1e6, Burst: 1e6}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	stall := make(chan struct{}) // it never answers who asks for a manifest
	defer close(stall)
	h.Network().SetStreamHandler("/satin/run/1", func(s network.Stream) {
		<-stall
		_ = s.Reset()
	})
	for range 2000 {
		var id [16]byte
		_, _ = rand.Read(id[:])
		_ = g.Publish(gossip.KindRun, id[:]) // full queues are the flooder's own affair
	}
	share(t, a, b)
	if n := len(runs(t, b)); n > 64 {
		t.Errorf("%d runs are remembered", n)
	}
}

// Whatever a member sends, what is read of it can be written again: nothing is half read.
func FuzzMember(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0xa1, 0x01, 0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, v := range peer.Messages() {
			if err := wire.Value().Decode(b, v); err == nil {
				if _, err := wire.Value().Encode(v); err != nil {
					t.Errorf("%T was read and cannot be written: %v", v, err)
				}
			}
		}
	})
}
