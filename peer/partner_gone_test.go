package peer_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/p2p/transport/quicreuse"
	"github.com/multiformats/go-multiaddr"
	"github.com/quic-go/quic-go"

	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
)

// A deaf socket sends nothing to one port.
type deaf struct {
	net.PacketConn
	port int
}

func (d deaf) WriteTo(b []byte, to net.Addr) (int, error) {
	if to.(*net.UDPAddr).Port == d.port {
		return len(b), nil
	}
	return d.PacketConn.WriteTo(b, to)
}

// A peer whose one partner is gone for good finds another member in its next life, that it had only heard of.
func TestPartnerGoneForGood(t *testing.T) {
	t.Parallel()
	quicOnly := func(c *peer.Config) { c.Host.Listen = []string{"/ip4/127.0.0.1/udp/0/quic-v1"} }
	a, b, dir := open(t, quicOnly), open(t, quicOnly), t.TempDir()
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	at, err := multiaddr.StringCast(address(t, b)).ValueForProtocol(multiaddr.P_UDP)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(at)
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, quicOnly, in(dir), func(c *peer.Config) {
		c.Host.Options = append(c.Host.Options, libp2p.QUICReuse(
			func(reset quic.StatelessResetKey, token quic.TokenGeneratorKey,
				opts ...quicreuse.Option) (*quicreuse.ConnManager, error) {
				m, err := quicreuse.NewConnManager(reset, token, opts...)
				if err == nil {
					t.Cleanup(func() { _ = m.Close() }) // libp2p closes only what it made itself
				}
				return m, err
			},
			quicreuse.OverrideListenUDP(func(network string, at *net.UDPAddr) (net.PacketConn, error) {
				socket, err := net.ListenUDP(network, at)
				return deaf{socket, port}, err
			})))
	})
	if _, err := c.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	until(t, "it has heard of the other", func() bool { return of(c, b) != nil })
	if of(c, b).Connected {
		t.Fatal("they have met")
	}
	until(t, "it has written down where the other is", func() bool { // what is heard while it closes is lost
		text, _ := os.ReadFile(filepath.Join(dir, "peers"))
		return strings.Contains(string(text), b.ID().String())
	})
	c.Close()
	a.Close()
	c = open(t, quicOnly, in(dir))
	until(t, "it finds the other", func() bool {
		k := of(c, b)
		return k != nil && k.Connected
	})
}

// of is what a peer knows of another, nil if nothing.
func of(p, other *peer.Peer) *control.PeerInfo {
	list, _ := p.Peers(context.Background())
	i := slices.IndexFunc(list, func(k control.PeerInfo) bool { return k.Peer == other.ID().String() })
	if i < 0 {
		return nil
	}
	return &list[i]
}
