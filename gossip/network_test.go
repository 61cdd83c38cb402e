package gossip_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/marcopolo/simnet"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/internal/virtualnet"
)

// Latencies of the simulated network, one way.
const (
	lan = 500 * time.Microsecond
	wan = 25 * time.Millisecond
)

// A swarm is a number of hosts in clusters on a simulated network in virtual time, and the peers on them.
type swarm struct {
	t         *testing.T
	hosts     []host.Host
	peers     []*gossip.Gossip
	got       []chan string // what each peer was delivered, as author and text
	clusters  []string
	down      []atomic.Bool // hosts whose packets are lost
	wideBytes atomic.Int64  // in packets from one cluster to another
}

// inSwarm runs a test in a bubble of virtual time, with the given number of hosts in each cluster.
func inSwarm(t *testing.T, sizes []int, test func(s *swarm)) {
	synctest.Test(t, func(t *testing.T) {
		s := &swarm{t: t}
		for c, n := range sizes {
			for range n {
				s.clusters = append(s.clusters, fmt.Sprint("c", c))
			}
		}
		s.down = make([]atomic.Bool, len(s.clusters))
		nw := virtualnet.New(func(p *simnet.Packet) time.Duration {
			if s.clusterAt(p.From) == s.clusterAt(p.To) {
				return lan
			}
			return wan
		})
		for i := range s.clusters {
			s.hosts = append(s.hosts, s.newHost(nw, i))
		}
		nw.Start()
		defer nw.Close()
		defer func() {
			for _, g := range s.peers {
				if g != nil {
					g.Close()
				}
			}
			time.Sleep(time.Second) // pubsub's first heartbeat waits for nobody
			for _, h := range s.hosts {
				h.Close()
			}
		}()
		test(s)
	})
}

func (s *swarm) newHost(nw *virtualnet.Net, i int) host.Host {
	counting := func(c net.PacketConn, at *net.UDPAddr) net.PacketConn { return &countedConn{c, s, at} }
	h, err := libp2p.New(append(nw.Options(i, counting), libp2p.ResourceManager(&network.NullResourceManager{}))...)
	if err != nil {
		s.t.Fatal(err)
	}
	return h
}

// A countedConn counts what goes to other clusters.
type countedConn struct {
	net.PacketConn
	s    *swarm
	from *net.UDPAddr
}

func (c *countedConn) WriteTo(b []byte, to net.Addr) (int, error) {
	if c.s.down[virtualnet.Index(c.from)].Load() || c.s.down[virtualnet.Index(to)].Load() {
		return len(b), nil
	}
	if c.s.clusterAt(c.from) != c.s.clusterAt(to) {
		c.s.wideBytes.Add(int64(len(b)))
	}
	return c.PacketConn.WriteTo(b, to)
}

func (s *swarm) clusterAt(a net.Addr) string {
	return s.clusters[virtualnet.Index(a)]
}

// open opens a Gossip on every host. A peer's index is its host's.
func (s *swarm) open(cfg gossip.Config) {
	s.t.Helper()
	for i := range s.hosts {
		s.openOne(i, cfg)
	}
}

func (s *swarm) openOne(i int, cfg gossip.Config) *gossip.Gossip {
	s.t.Helper()
	cfg.Swarm = "test"
	if cfg.Admitted == nil {
		cfg.Admitted = func(peer.ID) bool { return true }
	}
	g, err := gossip.Open(s.t.Context(), s.hosts[i], cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	got := make(chan string, 4096)
	for _, kind := range []gossip.Kind{gossip.KindRun, gossip.KindTombstone, gossip.KindCard, gossip.KindLoad,
		gossip.KindShared} {
		g.Handle(kind, nil, func(author peer.ID, payload []byte) {
			got <- fmt.Sprintf("%d:%s", s.index(author), payload)
		})
	}
	for len(s.peers) <= i {
		s.peers, s.got = append(s.peers, nil), append(s.got, nil)
	}
	s.peers[i], s.got[i] = g, got
	return g
}

func (s *swarm) index(id peer.ID) int {
	return slices.IndexFunc(s.hosts, func(h host.Host) bool { return h.ID() == id })
}

func (s *swarm) connect(i, j int) {
	s.t.Helper()
	if err := s.hosts[i].Connect(s.t.Context(), s.hosts[j].Peerstore().PeerInfo(s.hosts[j].ID())); err != nil {
		s.t.Fatal(err)
	}
}

// dialer connects hosts as the peer does for Gossip: it knows everybody's address.
func (s *swarm) dialer(i int) func(context.Context, peer.ID) error {
	return func(ctx context.Context, id peer.ID) error {
		j := s.index(id)
		return s.hosts[i].Connect(ctx, s.hosts[j].Peerstore().PeerInfo(id))
	}
}

// received takes what a peer was delivered so far, sorted.
func (s *swarm) received(i int) []string {
	synctest.Wait()
	var all []string
	for {
		select {
		case text := <-s.got[i]:
			all = append(all, text)
			continue
		default:
		}
		slices.Sort(all)
		return all
	}
}

func (s *swarm) publish(i int, kind gossip.Kind, text string) {
	s.t.Helper()
	if err := s.peers[i].Publish(kind, []byte(text)); err != nil {
		s.t.Fatal(err)
	}
}

// hearEachOther has the first two tell each other something, which both must have heard by then, and nothing else.
func (s *swarm) hearEachOther(within time.Duration, when string) {
	s.t.Helper()
	s.publish(0, gossip.KindRun, "run")
	s.publish(1, gossip.KindCard, "card")
	time.Sleep(within)
	if one, other := s.received(1), s.received(0); !slices.Equal(one, []string{"0:run"}) ||
		!slices.Equal(other, []string{"1:card"}) {
		s.t.Errorf("%s: 1 got %q, 0 got %q", when, one, other)
	}
}

// meet tells every open peer who there is.
func (s *swarm) meet(without ...int) {
	for i, g := range s.peers {
		if g == nil {
			continue
		}
		m := gossip.Members{Cluster: s.clusters[i]}
		for j, h := range s.hosts {
			if !slices.Contains(without, j) {
				m.Peers = append(m.Peers, gossip.Member{ID: h.ID(), Cluster: s.clusters[j], Reachable: true})
			}
		}
		g.SetMembers(m)
	}
}

// openAll opens peers that connect to whom gossip wants, tells them who there is, and lets that settle.
func (s *swarm) openAll(cfg gossip.Config) {
	for i := range s.hosts {
		cfg.Connect = s.dialer(i)
		s.openOne(i, cfg)
	}
	s.meet()
	time.Sleep(15 * time.Second)
}

// kill ends a peer without a goodbye: its packets stop, and no connection is closed.
func (s *swarm) kill(i int) {
	s.down[i].Store(true)
}

// gateways lists the peers that take themselves for gateways of a cluster.
func (s *swarm) gateways(cluster string) (list []int) {
	for i, g := range s.peers {
		if g != nil && s.clusters[i] == cluster && g.Stats().Gateway {
			list = append(list, i)
		}
	}
	return list
}

// roles returns the gateways that cluster c0 elects when so many epochs have passed, and another one of it.
func (s *swarm) roles(epochs int64, every time.Duration) (first, second, other int) {
	var cluster []gossip.Member
	for i, h := range s.hosts {
		cluster = append(cluster, gossip.Member{ID: h.ID(), Cluster: s.clusters[i], Reachable: true})
	}
	ids := gossip.Elected("c0", cluster, time.Now().UnixNano()/int64(every)+epochs)
	first, second = s.index(ids[0]), s.index(ids[1])
	for other == first || other == second {
		other++
	}
	return first, second, other
}

// others lists the open peers but some.
func (s *swarm) others(but ...int) (list []int) {
	for i, g := range s.peers {
		if g != nil && !slices.Contains(but, i) {
			list = append(list, i)
		}
	}
	return list
}
