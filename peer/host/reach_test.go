package host

import (
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
)

// What is known of how a peer can be reached comes out as a state and a sentence.
func TestReachabilityIsPutIntoWords(t *testing.T) {
	addrs := func(texts ...string) (all []ma.Multiaddr) {
		for _, text := range texts {
			all = append(all, ma.StringCast(text))
		}
		return all
	}
	const (
		public   = "/ip4/8.8.8.8/udp/4001/quic-v1"
		other    = "/ip4/8.8.4.4/tcp/4001"
		lan      = "/ip4/192.168.1.5/tcp/4001"
		loopback = "/ip4/127.0.0.1/tcp/4001"
		circuit  = "/ip4/8.8.1.1/tcp/4001/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA/p2p-circuit"
	)
	for _, c := range []struct {
		name   string
		addrs  []ma.Multiaddr
		off    bool
		events []any
		state  ReachState
		says   string
	}{
		{name: "loopback only", addrs: addrs(loopback), state: ReachPrivate, says: "0.0.0.0"},
		{name: "not looked into", addrs: addrs(public), off: true, state: ReachUnknown, says: "NAT is off"},
		{name: "nobody tried", addrs: addrs(public, lan), state: ReachUnknown, says: "no member outside"},
		{name: "local network", addrs: addrs(lan, loopback), state: ReachUnknown, says: "forward the port"},
		{name: "reached", addrs: addrs(public, other),
			events: []any{event.EvtHostReachableAddrsChanged{Reachable: addrs(public), Unreachable: addrs(other)}},
			state:  ReachPublic, says: "from outside"},
		{name: "not reached", addrs: addrs(lan),
			events: []any{event.EvtHostReachableAddrsChanged{Unreachable: addrs(public)}}, state: ReachPrivate,
			says: "forward the port"},
		{name: "not reached, relayed", addrs: addrs(lan, circuit),
			events: []any{event.EvtLocalReachabilityChanged{Reachability: network.ReachabilityPrivate}},
			state:  ReachPrivate, says: "through a relay"},
		{name: "a router that cannot be punched", addrs: addrs(lan), events: []any{
			event.EvtLocalReachabilityChanged{Reachability: network.ReachabilityPrivate},
			event.EvtNATDeviceTypeChanged{TransportProtocol: network.NATTransportUDP,
				NatDeviceType: network.NATDeviceTypeEndpointDependent},
		}, state: ReachPrivate, says: "holes cannot be punched"},
		{name: "the older way says so", addrs: addrs(public),
			events: []any{event.EvtLocalReachabilityChanged{Reachability: network.ReachabilityPublic}},
			state:  ReachPublic, says: "from outside"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &reach{}
			for _, e := range c.events {
				r.note(e)
			}
			if state, why := r.describe(c.addrs, !c.off); state != c.state || !strings.Contains(why, c.says) {
				t.Errorf("%v, %q; want %v and %q", state, why, c.state, c.says)
			}
		})
	}
}
