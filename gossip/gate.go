package gossip

import (
	"context"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"golang.org/x/time/rate"
)

// A gate is the host as pubsub sees it: streams are opened to admitted peers only, and taken from them only.
//
// pubsub opens its stream as soon as it knows that a peer has the protocol, which may be before the handshake of the
// swarm is over; and says just once on it which topics it is in. So a stream is not refused at once but waits for the
// handshake.
type gate struct {
	host.Host
	ctx      context.Context // ends when the Gossip is closed
	admitted func(peer.ID) bool
	refused  func()                      // counts
	meter    func(peer.ID) *rate.Limiter // of the bytes that a neighbour sends
	topics   func() []string             // that this peer is in, sorted
	heard    chan any                    // events of peers, for pubsub

	mu       sync.Mutex
	inbound  map[network.Stream]bool // nil when the gate is closed
	outbound map[peer.ID]*mouth
}

// maxHeard is how many words for pubsub may wait.
const maxHeard = 16

const (
	admitWithin    = 15 * time.Second
	admitLookFirst = 5 * time.Millisecond
	admitLookMost  = 200 * time.Millisecond
)

// wait returns nil as soon as the peer is admitted. Nobody says when that is, so it looks, ever more seldom.
func (h *gate) wait(ctx context.Context, id peer.ID) error {
	if h.admitted(id) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, admitWithin)
	defer cancel()
	timer := time.NewTimer(admitLookFirst)
	defer timer.Stop()
	for pause := admitLookFirst; ; pause = min(2*pause, admitLookMost) {
		select {
		case <-ctx.Done():
			h.refused()
			return errNotAdmitted
		case <-timer.C:
		}
		if h.admitted(id) {
			return nil
		}
		if h.Host.Network().Connectedness(id) != network.Connected {
			h.refused()
			return errNotAdmitted
		}
		timer.Reset(pause)
	}
}

// NewStream opens a stream once the peer is admitted.
func (h *gate) NewStream(ctx context.Context, id peer.ID, protocols ...protocol.ID) (network.Stream, error) {
	if err := h.wait(ctx, id); err != nil {
		return nil, err
	}
	s, err := h.Host.NewStream(ctx, id, protocols...)
	if err != nil {
		return nil, err
	}
	m := &mouth{Stream: s, of: h}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.outbound[id] = m
	return m, nil
}

// SetStreamHandler has streams handled once the peer is admitted.
func (h *gate) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	h.Host.SetStreamHandler(id, func(s network.Stream) {
		if err := h.wait(h.ctx, s.Conn().RemotePeer()); err != nil {
			_ = s.Reset()
			return
		}
		if !h.enter(s) {
			return
		}
		h.say(s.Conn().RemotePeer())
		handle(&metered{s, h.meter(s.Conn().RemotePeer()), h.ctx})
		h.mu.Lock()
		delete(h.inbound, s)
		h.mu.Unlock()
	})
}

// metered is a stream of a neighbour's, of which no more is read than what it has a right to. pubsub makes a hundred
// times as much of a call that is a list of nothing, before anybody here may look at it.
type metered struct {
	network.Stream
	rate *rate.Limiter
	ctx  context.Context
}

func (m *metered) Read(b []byte) (int, error) {
	n, err := m.Stream.Read(b[:min(len(b), m.rate.Burst())])
	if late := m.rate.WaitN(m.ctx, n); late != nil {
		return 0, late
	}
	return n, err
}

// EventBus is what pubsub hears of peers by.
func (h *gate) EventBus() event.Bus { return bus{h.Host.EventBus(), h} }

type bus struct {
	event.Bus
	of *gate
}

// Subscribe does not tell pubsub where those are who connect, members or not, by the subscription from which it keeps
// that until they have gone, and for a quarter of an hour: it is for an exchange of peers, which there is not. Into the
// other one, for whom to speak to, the gate says a word itself.
func (b bus) Subscribe(to any, options ...event.SubscriptionOpt) (event.Subscription, error) {
	if all, ok := to.([]any); ok {
		for _, one := range all {
			if _, gone := one.(*event.EvtPeerConnectednessChanged); gone {
				return b.Bus.Subscribe(one, options...)
			}
		}
	}
	sub, err := b.Bus.Subscribe(to, options...)
	if err != nil {
		return nil, err
	}
	go b.of.forward(sub)
	return heard{sub, b.of.heard}, nil
}

// heard is a subscription whose events come by way of the gate.
type heard struct {
	event.Subscription
	out <-chan any
}

func (s heard) Out() <-chan any { return s.out }

// forward ends when pubsub does, which closes the subscription.
func (h *gate) forward(sub event.Subscription) {
	for e := range sub.Out() {
		select {
		case h.heard <- e:
		case <-h.ctx.Done():
		}
	}
}

// remind has pubsub open a stream to those that it could speak to and does not. It tries when a peer is identified: if
// that was by a connection that is closing, or if four streams have ended in ten minutes, it does not try any more.
func (h *gate) remind() {
	for _, id := range h.Host.Network().Peers() {
		h.mu.Lock()
		speaks := h.outbound[id] != nil
		h.mu.Unlock()
		if speaks || !h.admitted(id) || h.Host.Network().Connectedness(id) != network.Connected {
			continue
		}
		if does, err := h.Host.Peerstore().SupportsProtocols(id, Protocol); err != nil || len(does) == 0 {
			continue
		}
		select {
		case h.heard <- event.EvtPeerProtocolsUpdated{Peer: id, Added: []protocol.ID{Protocol}}:
		default: // in a second again
		}
	}
}

func (h *gate) enter(s network.Stream) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.inbound == nil {
		_ = s.Reset()
		return false
	}
	h.inbound[s] = true
	return true
}

// close ends the streams from others, which pubsub leaves open: a Gossip opened later on the same host would not be
// noticed by those who still have one.
func (h *gate) close() {
	h.mu.Lock()
	streams := h.inbound
	h.inbound = nil
	h.mu.Unlock()
	for s := range streams {
		_ = s.Reset()
	}
}
