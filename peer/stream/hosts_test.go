package stream_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peerstore"

	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/steal"
)

// overQUIC and overTCP are where a host on the loopback interface listens.
const (
	overQUIC = "/ip4/127.0.0.1/udp/0/quic-v1"
	overTCP  = "/ip4/127.0.0.1/tcp/0"
)

// loopback makes hosts that know each other's addresses.
func loopback(t testing.TB, n int, listen string) []host.Host {
	t.Helper()
	var hosts []host.Host
	for range n {
		h, err := libp2p.New(libp2p.ListenAddrStrings(listen), libp2p.DisableRelay(), libp2p.DisableMetrics(),
			libp2p.ResourceManager(&network.NullResourceManager{}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		hosts = append(hosts, h)
	}
	introduce(hosts)
	return hosts
}

func introduce(hosts []host.Host) {
	for _, h := range hosts {
		for _, g := range hosts {
			if h != g {
				h.Peerstore().AddAddrs(g.ID(), g.Addrs(), peerstore.PermanentAddrTTL)
			}
		}
	}
}

func name(h host.Host) steal.PeerID { return steal.PeerID(h.ID().String()) }

// heartbeat is a message that carries a number.
func heartbeat(from, to host.Host, seq uint64) *steal.Message {
	return &steal.Message{From: steal.Address{Peer: name(from), Inc: 1}, To: steal.Address{Peer: name(to), Inc: 1},
		Heartbeat: &steal.Heartbeat{Seq: seq}}
}

func result(from, to host.Host, handle steal.Handle, outcome []byte) *steal.Message {
	return &steal.Message{From: steal.Address{Peer: name(from), Inc: 1}, To: steal.Address{Peer: name(to), Inc: 1},
		Result: &steal.Result{Handle: handle, Outcome: outcome}}
}

// An inbox takes what a transport hands out.
type inbox struct {
	mu       sync.Mutex
	changed  *sync.Cond
	received []*steal.Message
	lost     []*steal.Message
	failed   []error // why each of them was lost
	shared   []*stream.Shared
}

func newInbox() *inbox {
	b := new(inbox)
	b.changed = sync.NewCond(&b.mu)
	return b
}

func (b *inbox) handler() stream.Handler {
	return stream.Handler{
		Received: func(m *steal.Message) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.received = append(b.received, m)
			b.changed.Broadcast()
		},
		Failed: func(m *steal.Message, err error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.lost = append(b.lost, m)
			b.failed = append(b.failed, fmt.Errorf("%v: %w", m.Kind(), err))
			b.changed.Broadcast()
		},
		Shared: func(m *stream.Shared) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.shared = append(b.shared, m)
			b.changed.Broadcast()
		},
		SharedFailed: func(m *stream.Shared, err error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.failed = append(b.failed, err)
			b.changed.Broadcast()
		},
	}
}

// sharedMessages waits for so many.
func (b *inbox) sharedMessages(n int) []*stream.Shared {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.shared) < n {
		b.changed.Wait()
	}
	return b.shared
}

// messages waits for so many.
func (b *inbox) messages(n int) []*steal.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.received) < n {
		b.changed.Wait()
	}
	return b.received
}

// settle waits until so many have come or failed, or until ctx ends.
func (b *inbox) settle(ctx context.Context, n int) {
	defer context.AfterFunc(ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.changed.Broadcast()
	})()
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.received)+len(b.lost) < n && ctx.Err() == nil {
		b.changed.Wait()
	}
}

// snapshot does not wait.
func (b *inbox) snapshot() []*steal.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.received
}

// failures waits for so many.
func (b *inbox) failures(n int) []error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.failed) < n {
		b.changed.Wait()
	}
	return b.failed
}

// start makes a transport that ends with the test.
func start(t testing.TB, h host.Host, cfg stream.Config, handler stream.Handler) *stream.Transport {
	tr := stream.New(h, cfg, handler)
	t.Cleanup(func() { tr.Close() })
	return tr
}
