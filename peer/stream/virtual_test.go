package stream_test

import (
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/transport/quicreuse"
	"github.com/marcopolo/simnet"
	"github.com/quic-go/quic-go"

	"github.com/satin-peer/satin/peer/stream"
)

// A world is some libp2p hosts on a simulated network in virtual time: QUIC, 1 ms each way.
type world struct {
	t          *testing.T
	hosts      []host.Host
	quic       []*quicreuse.ConnManager
	dead       []atomic.Bool // hosts whose packets are lost
	transports []*stream.Transport
}

// inVirtualTime runs a test in a bubble with so many hosts.
func inVirtualTime(t *testing.T, n int, test func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, dead: make([]atomic.Bool, n)}
		nw := &simnet.Simnet{LatencyFunc: func(*simnet.Packet) time.Duration { return time.Millisecond }}
		for i := range n {
			w.hosts = append(w.hosts, w.newHost(nw, i))
		}
		introduce(w.hosts)
		nw.Start()
		defer nw.Close()
		defer func() {
			for _, tr := range w.transports {
				tr.Close()
			}
			for _, h := range w.hosts {
				h.Close()
			}
			for _, m := range w.quic {
				m.Close()
			}
		}()
		test(w)
	})
}

func (w *world) newHost(nw *simnet.Simnet, i int) host.Host {
	fast := simnet.LinkSettings{BitsPerSecond: 10_000_000_000}
	ip := simnet.IntToPublicIPv4(i)
	h, err := libp2p.New(
		libp2p.ListenAddrStrings(fmt.Sprintf("/ip4/%s/udp/8000/quic-v1", ip)),
		libp2p.QUICReuse(w.newQUIC,
			quicreuse.OverrideListenUDP(func(_ string, address *net.UDPAddr) (net.PacketConn, error) {
				return &mortalConn{nw.NewEndpoint(address, simnet.NodeBiDiLinkSettings{Downlink: fast, Uplink: fast}), &w.dead[i]}, nil
			}),
			quicreuse.OverrideSourceIPSelector(func() (quicreuse.SourceIPSelector, error) { return sourceIP(ip), nil })),
		libp2p.DisableIdentifyAddressDiscovery(), // it stalls virtual time
		libp2p.DisableRelay(), libp2p.DisableMetrics(),
		libp2p.ResourceManager(&network.NullResourceManager{}),
	)
	if err != nil {
		w.t.Fatal(err)
	}
	return h
}

// newQUIC makes what libp2p does not close if it did not make it.
func (w *world) newQUIC(reset quic.StatelessResetKey, token quic.TokenGeneratorKey, opts ...quicreuse.Option) (*quicreuse.ConnManager, error) {
	m, err := quicreuse.NewConnManager(reset, token, opts...)
	if err == nil {
		w.quic = append(w.quic, m)
	}
	return m, err
}

type sourceIP net.IP

func (ip sourceIP) PreferredSourceIPForDestination(*net.UDPAddr) (net.IP, error) {
	return net.IP(ip), nil
}

// A mortalConn loses what comes and goes while its host is dead, or stopped.
type mortalConn struct {
	net.PacketConn
	dead *atomic.Bool
}

func (c *mortalConn) WriteTo(b []byte, to net.Addr) (int, error) {
	if c.dead.Load() {
		return len(b), nil
	}
	return c.PacketConn.WriteTo(b, to)
}

func (c *mortalConn) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := c.PacketConn.ReadFrom(b)
		if err != nil || !c.dead.Load() {
			return n, from, err
		}
	}
}

// start gives a host a transport.
func (w *world) start(i int, cfg stream.Config, h stream.Handler) *stream.Transport {
	tr := stream.New(w.hosts[i], cfg, h)
	w.transports = append(w.transports, tr)
	return tr
}
