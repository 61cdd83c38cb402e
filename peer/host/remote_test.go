package host_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/satin-peer/satin/peer/host"
)

// Guards that a peer which comes to another network is shown where it is now: its connection goes along. The other
// network is another socket of a relay of datagrams between the two.
func TestRemoteAddr(t *testing.T) {
	const listen = "/ip4/127.0.0.1/udp/0/quic-v1"
	stays, err := libp2p.New(libp2p.ListenAddrStrings(listen), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stays.Close() }()
	moves, err := libp2p.New(libp2p.ListenAddrStrings(listen), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = moves.Close() }()
	address, _ := multiaddr.SplitLast(stays.Addrs()[0])
	to, err := manet.ToNetAddr(address)
	if err != nil {
		t.Fatal(err)
	}
	way := newWay(t, to)
	at, err := manet.FromNetAddr(way.front.LocalAddr())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	quic := multiaddr.StringCast("/quic-v1")
	there := peer.AddrInfo{ID: stays.ID(), Addrs: []multiaddr.Multiaddr{at.Encapsulate(quic)}}
	if err := moves.Connect(ctx, there); err != nil {
		t.Fatal(err)
	}
	answers := ping.Ping(ctx, moves, stays.ID())
	for i := range 2 {
		if i > 0 {
			way.move(t)
		}
		there, err := manet.FromNetAddr(way.back.Load().LocalAddr())
		if err != nil {
			t.Fatal(err)
		}
		want, shown := there.Encapsulate(quic).String(), ""
		for shown != want {
			select {
			case r := <-answers:
				if r.Error != nil {
					t.Fatalf("shown at %s, not at %s: %v", shown, want, r.Error)
				}
			case <-ctx.Done():
				t.Fatalf("shown at %s, not at %s", shown, want)
			}
			shown = host.RemoteAddr(stays.Network().ConnsToPeer(moves.ID())[0]).String()
		}
	}
}

// way carries datagrams from one peer to another and back.
type way struct {
	to    net.Addr
	front net.PacketConn // which the one that moves knows
	back  atomic.Pointer[net.UDPConn]
	from  atomic.Pointer[net.Addr]
}

func newWay(t *testing.T, to net.Addr) *way {
	w := &way{to: to, front: socket(t)}
	w.move(t)
	go carry(w.front, func(b []byte, from net.Addr) {
		w.from.Store(&from)
		_, _ = w.back.Load().WriteTo(b, w.to)
	})
	return w
}

// move has datagrams come from another address.
func (w *way) move(t *testing.T) {
	back := socket(t)
	w.back.Store(back)
	go carry(back, func(b []byte, _ net.Addr) {
		if from := w.from.Load(); from != nil {
			_, _ = w.front.WriteTo(b, *from)
		}
	})
}

func socket(t *testing.T) *net.UDPConn {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// carry ends when the socket is closed.
func carry(from net.PacketConn, each func(b []byte, from net.Addr)) {
	for b := make([]byte, 1<<16); ; {
		n, sender, err := from.ReadFrom(b)
		if err != nil {
			return
		}
		each(b[:n], sender)
	}
}
