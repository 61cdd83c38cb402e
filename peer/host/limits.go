package host

import (
	"math"
	"net/netip"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	basic "github.com/libp2p/go-libp2p/p2p/net/connmgr"
	"github.com/libp2p/go-libp2p/x/rate"
)

// What the network may take of this machine. Config.MaxConns scales the connections; these do not depend on it.
const (
	maxNetworkMemory = 512 << 20 // bytes, all connections and streams together
	maxPeerMemory    = 96 << 20  // bytes, for one peer: both bulk and control streams in flight
	maxStreams       = 8192      // all strangers that may be here leave most of them: see maxOutside
	maxPeerStreams   = 256       // with one peer, all protocols together
	maxProtoStreams  = 64        // of one protocol with one peer
	maxStrange       = 16        // that a stranger may open: the handshake, identify, and what waits for its admission
	// What part of the memory that is left one peer may have. A stream over TCP counts as its window, 256 KiB, though
	// nothing may come on it, and one for which there is no room ends its connection. A member alone has as many as it
	// may have of two protocols; twenty who take all that they may leave a newcomer the few of its handshake.
	memberPart, strangerPart = 14, 64
	trimGrace                = 30 * time.Second

	// maxHalfOpen is more than what one address may have. Whoever opens connections from there and says nothing, which
	// lasts 15 s with each, keeps nobody out; nor does who has more addresses, see silent.go.
	maxHalfOpen = 3 * defaultMaxConnsPerAddress

	memberTag   = "satin member" // so that strangers go first when there are too many connections
	memberWorth = 10

	// Peers behind one address: an institute's NAT, or a machine with many peers. libp2p's default is 8.
	addressConnsPerSecond = 20
	siteFactor            = 4 // an IPv6 site (/48) may hold as many as this number of networks (/56)
)

// resourceManager sets every limit that matters, so that a new version of libp2p does not change them.
func resourceManager(maxConns, perAddress int, admitted func(peer.ID) bool) (network.ResourceManager, error) {
	defaults := rcmgr.DefaultLimits
	libp2p.SetDefaultServiceLimits(&defaults)
	conns := rcmgr.LimitVal(2 * maxConns) // the connection manager trims at maxConns
	half := rcmgr.LimitVal(2*maxConns - maxConns/4)
	limits := rcmgr.PartialLimitConfig{
		System: rcmgr.ResourceLimits{
			Memory: maxNetworkMemory, FD: conns, Conns: conns, ConnsInbound: half, ConnsOutbound: half,
			Streams: maxStreams, StreamsInbound: maxStreams, StreamsOutbound: maxStreams,
		},
		Transient: rcmgr.ResourceLimits{ // connections whose handshake is under way, and streams of no protocol yet
			Memory: maxNetworkMemory / 4, FD: maxHalfOpen, Conns: maxHalfOpen, ConnsInbound: maxHalfOpen,
			ConnsOutbound: maxOutside,
			Streams:       maxStreams, StreamsInbound: maxStreams, StreamsOutbound: maxStreams,
		},
		PeerDefault: rcmgr.ResourceLimits{
			Memory: maxPeerMemory, FD: 8, Conns: 8, ConnsInbound: 8, ConnsOutbound: 8,
			Streams: maxPeerStreams, StreamsInbound: maxPeerStreams, StreamsOutbound: maxPeerStreams,
		},
		ProtocolDefault: rcmgr.ResourceLimits{
			Memory: maxNetworkMemory, Streams: maxStreams, StreamsInbound: maxStreams, StreamsOutbound: maxStreams,
		},
		ProtocolPeerDefault: rcmgr.ResourceLimits{
			Memory: maxPeerMemory, Streams: maxProtoStreams, StreamsInbound: maxProtoStreams,
			StreamsOutbound: maxProtoStreams,
		},
	}
	loopback4, loopback6 := netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")
	d := &doorman{Limiter: rcmgr.NewFixedLimiter(limits.Build(defaults.AutoScale())), admitted: admitted}
	m, err := rcmgr.NewResourceManager(d,
		rcmgr.WithLimitPerSubnet(
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 32, ConnCount: perAddress}},
			[]rcmgr.ConnLimitPerSubnet{{PrefixLength: 56, ConnCount: perAddress},
				{PrefixLength: 48, ConnCount: siteFactor * perAddress}},
		),
		rcmgr.WithNetworkPrefixLimit( // this machine trusts itself
			[]rcmgr.NetworkPrefixLimit{{Network: loopback4, ConnCount: math.MaxInt}},
			[]rcmgr.NetworkPrefixLimit{{Network: loopback6, ConnCount: math.MaxInt}},
		),
		rcmgr.WithConnRateLimiters(connRate(perAddress, loopback4, loopback6)),
	)
	d.manager = m
	return m, err
}

// A doorman has strangers open few streams: on one that says nothing libp2p waits for 10 s, as guard does. And it has
// nobody take all memory: each may have a part of what the others leave.
type doorman struct {
	rcmgr.Limiter
	admitted func(peer.ID) bool
	manager  network.ResourceManager
}

func (d *doorman) GetPeerLimits(id peer.ID) rcmgr.Limit {
	return peerLimit{d.Limiter.GetPeerLimits(id), d, func() bool { return d.admitted(id) }}
}

// left is the memory that nobody has taken. Who asks holds the lock of a peer's scope: the system's comes after it in
// the resource manager's order.
func (d *doorman) left() (left int64) {
	_ = d.manager.ViewSystem(func(s network.ResourceScope) error {
		left = maxNetworkMemory - s.Stat().Memory
		return nil
	})
	return left
}

// peerLimit is asked anew for each stream, so it grows when its peer is admitted.
type peerLimit struct {
	rcmgr.Limit
	doorman  *doorman
	admitted func() bool
}

func (l peerLimit) GetMemoryLimit() int64 {
	part := int64(memberPart)
	if !l.admitted() {
		part = strangerPart
	}
	return min(l.Limit.GetMemoryLimit(), l.doorman.left()/part)
}

func (l peerLimit) GetStreamLimit(d network.Direction) int {
	if d == network.DirInbound && !l.admitted() {
		return maxStrange
	}
	return l.Limit.GetStreamLimit(d)
}

// connRate limits new connections per address, in time.
func connRate(perAddress int, unlimited ...netip.Prefix) *rate.Limiter {
	one := rate.Limit{RPS: addressConnsPerSecond, Burst: 2 * perAddress}
	site := rate.Limit{RPS: siteFactor * addressConnsPerSecond, Burst: 2 * siteFactor * perAddress}
	l := &rate.Limiter{SubnetRateLimiter: rate.SubnetLimiter{
		IPv4SubnetLimits: []rate.SubnetLimit{{PrefixLength: 32, Limit: one}},
		IPv6SubnetLimits: []rate.SubnetLimit{{PrefixLength: 56, Limit: one}, {PrefixLength: 48, Limit: site}},
		GracePeriod:      time.Minute,
	}}
	for _, p := range unlimited {
		l.NetworkPrefixLimits = append(l.NetworkPrefixLimits, rate.PrefixLimit{Prefix: p})
	}
	return l
}

// connectionManager closes the least useful connections when there are more than maxConns; protected ones stay.
func connectionManager(maxConns int) (connmgr.ConnManager, error) {
	return basic.NewConnManager(maxConns*3/4, maxConns, basic.WithGracePeriod(trimGrace))
}
