package stream_test

import (
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/marcopolo/simnet"

	"github.com/satin-peer/satin/internal/virtualnet"
	"github.com/satin-peer/satin/peer/stream"
)

// A world is some libp2p hosts on a simulated network in virtual time: QUIC, 1 ms each way.
type world struct {
	t          *testing.T
	hosts      []host.Host
	dead       []atomic.Bool // hosts whose packets are lost
	transports []*stream.Transport
}

// inVirtualTime runs a test in a bubble with so many hosts.
func inVirtualTime(t *testing.T, n int, test func(w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, dead: make([]atomic.Bool, n)}
		nw := virtualnet.New(func(*simnet.Packet) time.Duration { return time.Millisecond })
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
		}()
		test(w)
	})
}

func (w *world) newHost(nw *virtualnet.Net, i int) host.Host {
	mortal := func(c net.PacketConn, _ *net.UDPAddr) net.PacketConn { return &mortalConn{c, &w.dead[i]} }
	h, err := libp2p.New(append(nw.Options(i, mortal), libp2p.DisableRelay(), libp2p.DisableMetrics(),
		libp2p.ResourceManager(&network.NullResourceManager{}))...)
	if err != nil {
		w.t.Fatal(err)
	}
	return h
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
