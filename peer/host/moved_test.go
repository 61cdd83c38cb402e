package host

import (
	"bytes"
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/satin-peer/satin/internal/wire"
)

// A movedConn is a connection, of this machine, with a peer that was on another network when it began.
type movedConn struct{ network.Conn }

func (movedConn) RemoteMultiaddr() ma.Multiaddr {
	return ma.StringCast("/ip4/198.51.100.1/udp/4001/quic-v1")
}

// A movedStream is one of it, that says what it is given to.
type movedStream struct {
	network.Stream
	says io.Reader
	over network.Conn
}

func (s movedStream) Read(b []byte) (int, error) { return s.says.Read(b) }
func (s movedStream) Conn() network.Conn         { return s.over }

// Guards that addresses which a peer tells are judged by where it is when it tells them, not by where its connection
// began: one that came to this machine may tell of this machine, in a list and of itself.
func TestToldFromWhereItIsNow(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	var both [2]*Host
	listen := []string{"/ip4/127.0.0.1/udp/0/quic-v1"}
	for i := range both {
		h, err := Open(ctx, Config{StateDir: t.TempDir(), Trust: TrustOpen, Listen: listen})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		both[i] = h
	}
	h, guest := both[0], both[1]
	if err := h.Connect(ctx, guest.Addrs()[0]); err != nil {
		t.Fatal(err)
	}
	over := movedConn{h.inner.Network().ConnsToPeer(guest.id)[0]}
	here := ma.StringCast("/ip4/127.0.0.1/tcp/9")
	knows := func(id peer.ID) bool { return slices.ContainsFunc(h.book.addrs(id), here.Equal) }

	var list bytes.Buffer
	records := encode(t, peerList{Records: [][]byte{signedRecord(t, 1, 1, here.String())}})
	if err := wire.WriteFrame(&list, records, maxExchangeFrame); err != nil {
		t.Fatal(err)
	}
	if err := h.exchange.hear(movedStream{says: &list, over: over}); err != nil || !knows(mustID(1)) {
		t.Errorf("of another peer: %v, %v", h.book.addrs(mustID(1)), err)
	}
	own := &peer.PeerRecord{PeerID: guest.id, Seq: 1 << 62, Addrs: []ma.Multiaddr{here}}
	signed, err := record.Seal(own, guest.inner.Peerstore().PrivKey(guest.id))
	if err != nil {
		t.Fatal(err)
	}
	h.exchange.identified(event.EvtPeerIdentificationCompleted{Peer: guest.id, Conn: over, SignedPeerRecord: signed})
	if !knows(guest.id) {
		t.Errorf("of itself: %v", h.book.addrs(guest.id))
	}
}
