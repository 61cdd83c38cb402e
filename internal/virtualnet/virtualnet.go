// Package virtualnet puts libp2p hosts on a simulated network in virtual time, for the tests of the rooms
// that know libp2p.
//
// It is used inside a testing/synctest bubble, where sleeping costs nothing and is exact; a busy loop costs
// no virtual time there. Runs are not seed-exact: the scheduling of goroutines is real.
package virtualnet

import (
	"fmt"
	"net"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/p2p/transport/quicreuse"
	"github.com/marcopolo/simnet"
	"github.com/quic-go/quic-go"
)

// A Net is a simulated network and what its hosts use of it.
type Net struct {
	sim     *simnet.Simnet
	closers []func()
}

// New makes a network on which a packet takes the time that latency says.
func New(latency func(*simnet.Packet) time.Duration) *Net {
	return &Net{sim: &simnet.Simnet{LatencyFunc: latency}}
}

// Start lets packets through. Hosts may be made before and after.
func (n *Net) Start() { n.sim.Start() }

// Later has f called by Close, before all that was registered earlier.
func (n *Net) Later(f func()) { n.closers = append(n.closers, f) }

// Close ends everything, the newest first, and then the network.
func (n *Net) Close() {
	for i := len(n.closers) - 1; i >= 0; i-- {
		n.closers[i]()
	}
	n.sim.Close()
}

// IP is the address of the i-th host.
func IP(i int) net.IP { return simnet.IntToPublicIPv4(i) }

// Index is IP backwards: which host an address belongs to.
func Index(a net.Addr) int {
	ip := a.(*net.UDPAddr).IP.To4()
	return (int(ip[1])<<16 | int(ip[2])<<8 | int(ip[3])) - 1
}

// A Cable wraps what a host sends and receives through, to count or lose packets.
type Cable func(c net.PacketConn, at *net.UDPAddr) net.PacketConn

// linkSpeed is that of each host's link, in bits a second.
const linkSpeed = 10_000_000_000

// QUIC connects a libp2p host to the network at an address. The host must be closed before the network is, by
// Later for instance. cable may be nil.
func (n *Net) QUIC(ip net.IP, cable Cable) libp2p.Option {
	fast := simnet.LinkSettings{BitsPerSecond: linkSpeed}
	return libp2p.QUICReuse(
		func(reset quic.StatelessResetKey, token quic.TokenGeneratorKey,
			opts ...quicreuse.Option) (*quicreuse.ConnManager, error) {
			m, err := quicreuse.NewConnManager(reset, token, opts...)
			if err == nil {
				n.Later(func() { _ = m.Close() }) // libp2p closes only what it made itself
			}
			return m, err
		},
		quicreuse.OverrideListenUDP(func(_ string, at *net.UDPAddr) (net.PacketConn, error) {
			var c net.PacketConn = n.sim.NewEndpoint(at, simnet.NodeBiDiLinkSettings{Downlink: fast, Uplink: fast})
			if cable != nil {
				c = cable(c, at)
			}
			return c, nil
		}),
		quicreuse.OverrideSourceIPSelector(func() (quicreuse.SourceIPSelector, error) { return sourceIP(ip), nil }),
	)
}

// Options are those of the i-th host: QUIC, its address, and nothing that would stall virtual time.
func (n *Net) Options(i int, cable Cable) []libp2p.Option {
	return []libp2p.Option{
		n.QUIC(IP(i), cable), Quiet(),
		libp2p.ListenAddrStrings(fmt.Sprintf("/ip4/%s/udp/8000/quic-v1", IP(i))),
	}
}

// Quiet switches off what stalls virtual time.
func Quiet() libp2p.Option { return libp2p.DisableIdentifyAddressDiscovery() }

type sourceIP net.IP

func (ip sourceIP) PreferredSourceIPForDestination(*net.UDPAddr) (net.IP, error) {
	return net.IP(ip), nil
}
