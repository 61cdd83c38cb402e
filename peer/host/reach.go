package host

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"github.com/libp2p/go-libp2p/p2p/protocol/holepunch"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// ReachState says whether peers elsewhere can connect to this one.
type ReachState int

const (
	// ReachUnknown: nobody has tried, or not enough have.
	ReachUnknown ReachState = iota
	// ReachPublic: others have connected from outside when asked to.
	ReachPublic
	// ReachPrivate: they tried in vain, or there is no address to try.
	ReachPrivate
)

func (s ReachState) String() string {
	switch s {
	case ReachPublic:
		return "reachable"
	case ReachPrivate:
		return "private"
	}
	return "unknown"
}

// reach is what libp2p has found out so far.
type reach struct {
	mu          sync.Mutex
	whole       network.Reachability
	reachable   []ma.Multiaddr
	unreachable []ma.Multiaddr
	mapping     map[network.NATTransportProtocol]network.NATDeviceType
}

// watchReach listens to what libp2p finds out.
func (h *Host) watchReach() error {
	if !h.cfg.NAT {
		return nil
	}
	return hear(h, "reachability", h.reach.note, new(event.EvtLocalReachabilityChanged),
		new(event.EvtHostReachableAddrsChanged), new(event.EvtNATDeviceTypeChanged))
}

// hear calls note with libp2p's events of some types, until the host is closed.
func hear(h *Host, what string, note func(event any), types ...any) error {
	sub, err := h.inner.EventBus().Subscribe(types, eventbus.Name("satin "+what))
	if err != nil {
		return fmt.Errorf("listening for %s: %w", what, err)
	}
	h.spawn(func(ctx context.Context) {
		defer sub.Close()
		for {
			select {
			case <-ctx.Done():
				return
			case e, ok := <-sub.Out():
				if !ok {
					return
				}
				note(e)
			}
		}
	})
	return nil
}

func (r *reach) note(e any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := e.(type) {
	case event.EvtLocalReachabilityChanged:
		r.whole = e.Reachability
	case event.EvtHostReachableAddrsChanged:
		r.reachable, r.unreachable = e.Reachable, e.Unreachable
	case event.EvtNATDeviceTypeChanged:
		if r.mapping == nil {
			r.mapping = map[network.NATTransportProtocol]network.NATDeviceType{}
		}
		r.mapping[e.TransportProtocol] = e.NatDeviceType
	}
}

// Reachability says how this peer can be reached, as far as is known, and in a sentence why not and what to do about
// it.
func (h *Host) Reachability() (ReachState, string) {
	h.reach.mu.Lock()
	defer h.reach.mu.Unlock()
	return h.reach.describe(h.inner.Addrs(), h.cfg.NAT)
}

// describe puts the findings into words. The lock is held.
func (r *reach) describe(addrs []ma.Multiaddr, looked bool) (ReachState, string) {
	public, relayed, onlyLoopback := false, false, true
	for _, a := range slices.Concat(addrs, r.unreachable) { // which libp2p does not advertise
		_, err := a.ValueForProtocol(ma.P_CIRCUIT)
		relayed = relayed || err == nil
		onlyLoopback = onlyLoopback && err != nil && manet.IsIPLoopback(a)
		public = public || manet.IsPublicAddr(a)
	}
	return r.verdict(public, relayed, onlyLoopback, looked)
}

func (r *reach) verdict(public, relayed, onlyLoopback, looked bool) (ReachState, string) {
	aid := "forward the port on the router, or have a member that is reachable start with --relay"
	if relayed {
		aid = "members reach it through a relay and try to punch a hole"
	}
	switch {
	case onlyLoopback:
		return ReachPrivate, "it listens on this machine's own address only: listen on 0.0.0.0 to be reached by others"
	case len(r.reachable) > 0:
		return ReachPublic, "members have connected from outside"
	case !looked:
		return ReachUnknown, "not looked into: NAT is off in the configuration"
	case len(r.unreachable) > 0:
		return ReachPrivate, fmt.Sprintf("members could not connect from outside%s: %s", r.natKind(), aid)
	case r.whole == network.ReachabilityPublic:
		return ReachPublic, "members have connected from outside"
	case r.whole == network.ReachabilityPrivate:
		return ReachPrivate, fmt.Sprintf("members could not connect from outside%s: %s", r.natKind(), aid)
	case !public:
		return ReachUnknown,
			"it knows no public address of its own: peers on the local network reach it; from outside, " + aid
	}
	return ReachUnknown, "no member outside has tried to connect yet"
}

// natKind says what kind of NAT there is, if that is known.
func (r *reach) natKind() string {
	for _, kind := range r.mapping {
		if kind == network.NATDeviceTypeEndpointDependent {
			return ", and the router uses another port for each peer, so holes cannot be punched"
		}
	}
	return ""
}

// reachOptions are libp2p's options for being reached from outside.
func reachOptions(nat bool, relays func(context.Context, int) <-chan peer.AddrInfo,
	holes holepunch.AddrFilter) []libp2p.Option {
	if !nat {
		return []libp2p.Option{libp2p.EnableRelay()} // to dial others through relays
	}
	return []libp2p.Option{
		libp2p.EnableRelay(),
		libp2p.EnableAutoNATv2(),
		libp2p.EnableNATService(), // the older way to ask, which is what the search for relays listens to
		libp2p.EnableHolePunching(holepunch.WithAddrFilter(holes)),
		libp2p.NATPortMap(),
		libp2p.EnableAutoRelayWithPeerSource(relays, relayOptions()...),
	}
}
