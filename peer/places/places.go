// Package places measures the ways to other members and keeps account of which peer is in which cluster, and which do
// not answer. Package locality decides on the clusters.
package places

import (
	"context"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/locality"
	"github.com/satin-peer/satin/peer/members"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/peer/switchboard"
	"github.com/satin-peer/satin/steal"
)

// A Place is where a peer is, as far as this one knows.
type Place struct {
	Name string        // of the cluster
	Why  string        // it is in it, one line
	RTT  time.Duration // smallest of the last round trips; 0: not measured
}

// Places are those that one peer knows. Who makes them sets the exported fields, and calls Open; the methods may then
// be called at the same time, but for KeepUp, which one goroutine calls.
type Places struct {
	*base.Base
	Board      *switchboard.Board
	Members    *members.Members
	Disconnect func(peer.ID) error
	Changed    func() // is called without the mutex: somebody is elsewhere, or does not answer, or does again

	mu     sync.Mutex
	m      *locality.Map
	was    string    // this peer's cluster when the runs were last told of it
	dialed time.Time // when a member was last connected to only to be measured

	missed map[peer.ID]int  // pings in a row that a connected member has not answered
	away   map[peer.ID]bool // members that could not be reached
	second int              // that KeepUp was last called in

	measuring atomic.Int32
}

const (
	// probesAtOnce is how many members are measured at a time, each second anew, and probeTime how long one may take.
	probesAtOnce = 3
	probeTime    = 3 * time.Second
	// idleSeconds is of how many seconds one is for measuring while there is no run: it wakes this machine and others,
	// and costs more than all else that an idle peer does.
	idleSeconds = 3
	// dialEvery is the least time between two connections that are made only to measure.
	dialEvery = 5 * time.Second
)

// Open begins with this peer alone; label names its cluster, "" lets it find out.
func (s *Places) Open(self peer.ID, label string) (err error) {
	s.missed, s.away = map[peer.ID]int{}, map[peer.ID]bool{}
	s.m, err = locality.New(locality.Config{Self: self.String(), Label: label})
	if err == nil {
		s.m.SetSelf(LocalNetworks(), nil)
	}
	return err
}

// Mine is this peer's place.
func (s *Places) Mine() Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.m.Mine()
	return Place{Name: at.Cluster, Why: at.Why}
}

// Of is another member's place. It says itself where it is; the reason is in its card.
func (s *Places) Of(id peer.ID) Place {
	text := id.String()
	s.mu.Lock()
	at, rtt := s.m.Of(text), s.m.RTT(text)
	s.mu.Unlock()
	where := Place{at.Cluster, at.Why, rtt}
	if c := s.Members.Get(id); c != nil && c.Cluster == at.Cluster && c.Why != "" {
		where.Why = c.Why
	}
	return where
}

// Position is this peer's among the others: see [locality.Map.Position].
func (s *Places) Position() []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m.Position()
}

// MembersChanged takes the cards of the present members.
func (s *Places) MembersChanged() {
	list := s.Members.List()
	known := make([]locality.Member, len(list))
	for i, c := range list {
		known[i] = locality.Member{
			ID: c.Peer.String(), Label: c.Label, Cluster: c.Cluster, Networks: c.Networks,
			Public: publicAddresses(c.Addrs), Position: c.Position,
		}
	}
	var own []string
	for _, a := range s.Board.Net.Addrs() {
		own = append(own, a.String())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m.SetSelf(LocalNetworks(), publicAddresses(own))
	s.m.SetMembers(known)
	gone := func(id peer.ID) bool {
		return !slices.ContainsFunc(list, func(c *members.Card) bool { return c.Peer == id })
	}
	maps.DeleteFunc(s.missed, func(id peer.ID, _ int) bool { return gone(id) })
	maps.DeleteFunc(s.away, func(id peer.ID, _ bool) bool { return gone(id) })
}

// KeepUp measures some members, fewer while there is no run, and has the runs told when this peer finds itself in
// another cluster.
func (s *Places) KeepUp(now time.Time, idle bool) {
	s.mu.Lock()
	name := s.m.Mine().Cluster
	moved := name != s.was
	s.was = name
	var probes []string
	if s.second++; !idle || s.second%idleSeconds == 0 {
		probes = s.m.Probe(probesAtOnce)
	}
	s.mu.Unlock()
	if moved {
		s.Changed()
	}
	if !s.measuring.CompareAndSwap(0, int32(len(probes))) {
		return // the last ones are not back
	}
	for _, text := range probes {
		id, err := peer.Decode(text)
		connected := err == nil && s.Board.Connected(id)
		if err != nil || (!connected && now.Sub(s.dialed) < dialEvery) {
			s.measuring.Add(-1)
			continue
		}
		if !connected {
			s.dialed = now
		}
		s.Spawn(func(ctx context.Context) {
			defer s.measuring.Add(-1)
			s.measure(ctx, id)
		})
	}
}

func (s *Places) measure(ctx context.Context, id peer.ID) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	connected := s.Board.Connected(id)
	rtt, ok := s.ping(ctx, id)
	if ok {
		s.Heard(id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ok {
		s.m.Measured(id.String(), rtt)
		return
	}
	if !connected {
		return // it could not be reached; that is another matter
	}
	if s.missed[id]++; s.missed[id] == pingMisses {
		s.Log.Info("member does not answer", "peer", id)
		// A killed QUIC peer is connected for half a minute more, and cannot be dialed until then.
		s.Spawn(func(context.Context) { _ = s.Disconnect(id) })
		s.Changed()
	}
}

func (s *Places) ping(ctx context.Context, id peer.ID) (time.Duration, bool) {
	select {
	case r, ok := <-ping.Ping(ctx, s.Board.Net, id):
		return r.RTT, ok && r.Error == nil
	case <-ctx.Done():
		return 0, false
	}
}

// IsWide says whether a peer is in another cluster, behind a link that many share.
func (s *Places) IsWide(id steal.PeerID) bool {
	other, err := peer.Decode(string(id))
	return err == nil && s.Of(other).Name != s.Mine().Name
}

// Silent says whether a member that was connected does not answer.
func (s *Places) Silent(id peer.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.missed[id] >= pingMisses || s.away[id]
}

// Lost notes that a member could not be reached: a silent one is not stolen from until it is heard again, by a new card
// or a connection. The runs are told if that is news.
func (s *Places) Lost(id peer.ID) {
	s.mu.Lock()
	news := s.missed[id] < pingMisses && !s.away[id]
	s.away[id] = true
	s.mu.Unlock()
	if news {
		s.Changed()
	}
}

// Heard notes that a member was heard. The runs are told if it had been silent.
func (s *Places) Heard(id peer.ID) {
	s.mu.Lock()
	again, news := s.missed[id] >= pingMisses, s.away[id]
	delete(s.missed, id)
	delete(s.away, id)
	s.mu.Unlock()
	if again {
		s.Log.Info("member is heard again", "peer", id)
	}
	if again || news {
		s.Changed()
	}
}

// pingMisses is how many pings in a row a connected member may miss.
const pingMisses = 3

// publicAddresses are the public IP addresses among multiaddrs, without ports.
func publicAddresses(addrs []string) (list []string) {
	for _, text := range addrs {
		a, err := multiaddr.NewMultiaddr(text)
		if err != nil || !manet.IsPublicAddr(a) {
			continue
		}
		if ip, err := manet.ToIP(a); err == nil {
			list = append(list, ip.String())
		}
	}
	return list
}

// LocalNetworks are the prefixes of this machine's private networks.
func LocalNetworks() (list []string) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsPrivate() && !n.IP.IsLoopback() &&
			len(list) < statement.MaxCardNetworks {
			list = append(list, (&net.IPNet{IP: n.IP.Mask(n.Mask), Mask: n.Mask}).String())
		}
	}
	return list
}
