package host_test

import (
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/satin-peer/satin/peer/host"
)

// crossing is a way to a host on which the first n dials meet one from the other side: whoever dials hears what it
// says itself, as from another client. Later ones get through.
func crossing(t *testing.T, to *host.Host, n int64) (addr ma.Multiaddr, dials *atomic.Int64) {
	t.Helper()
	there := ""
	for _, a := range to.Network().Addrs() {
		if port, err := a.ValueForProtocol(ma.P_TCP); err == nil {
			there = net.JoinHostPort("127.0.0.1", port)
		}
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	dials = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if dials.Add(1) <= n {
				go func() { _, _ = io.Copy(c, c); c.Close() }()
				continue
			}
			d, err := net.Dial("tcp4", there)
			if err != nil {
				c.Close()
				continue
			}
			go func() { _, _ = io.Copy(c, d); c.Close() }()
			go func() { _, _ = io.Copy(d, c); d.Close() }()
		}
	}()
	port := l.Addr().(*net.TCPAddr).Port
	return ma.StringCast("/ip4/127.0.0.1/tcp/" + strconv.Itoa(port)), dials
}

// A dial that meets another one from the other side is tried again, at once and not when libp2p forgets it.
func TestDialsThatCross(t *testing.T) {
	for name, connect := range map[string]func(a, b *host.Host, at ma.Multiaddr) error{
		"joining": func(a, b *host.Host, at ma.Multiaddr) error {
			return a.Connect(patience(t), at.String()+"/p2p/"+b.ID().String())
		},
		"stealing": func(a, b *host.Host, at ma.Multiaddr) error {
			return a.Network().Connect(patience(t), peer.AddrInfo{ID: b.ID(), Addrs: []ma.Multiaddr{at}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, host.Config{Swarm: "lab", Trust: host.TrustOpen})
			b := open(t, host.Config{Swarm: "lab", Trust: host.TrustOpen})
			at, dials := crossing(t, b, 2)
			if err := connect(a, b, at); err != nil {
				t.Error(err)
			}
			if n := dials.Load(); n != 3 {
				t.Errorf("dialed %d times", n)
			}
		})
	}
}

// Whoever cannot be spoken to at all is not dialed for ever.
func TestDialsThatAlwaysCross(t *testing.T) {
	a, b := open(t, host.Config{Swarm: "lab", Trust: host.TrustOpen}), open(t, host.Config{Swarm: "lab"})
	at, dials := crossing(t, b, 1<<60)
	wants(t, a.Connect(patience(t), at.String()+"/p2p/"+b.ID().String()), host.ErrUnreachable)
	if n := dials.Load(); n != 3 {
		t.Errorf("dialed %d times", n)
	}
}
