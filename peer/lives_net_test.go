package peer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	lp2p "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/gossip"
	"github.com/satin-peer/satin/steal"
)

// errNoWay is what a peer finds that is cut off.
var errNoWay = errors.New("it cannot be reached")

// A lane is a life's way to the others: streams, gossip and messages of sessions. Some of it is lost, late or repeated.
type lane struct {
	lp2p.Host
	w    *livesWorld
	self *being

	mu       sync.Mutex
	cut      bool // for ever
	handlers map[protocol.ID]network.StreamHandler
	pipes    []net.Conn
}

// connections is what a switchboard asks a network.
type connections struct {
	network.Network
	of *lane
}

func (l *lane) Network() network.Network { return connections{of: l} }

func (c connections) Connectedness(id peer.ID) network.Connectedness {
	if c.of.w.way(c.of.self, id) != nil {
		return network.Connected
	}
	return network.NotConnected
}

func (l *lane) SetStreamHandler(id protocol.ID, h network.StreamHandler) { l.handlers[id] = h }

// NewStream opens one, which may come to nothing at any time.
func (l *lane) NewStream(ctx context.Context, id peer.ID, list ...protocol.ID) (network.Stream, error) {
	select {
	case <-time.After(l.w.some(200 * time.Millisecond)):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	to := l.w.way(l.self, id)
	if to == nil || l.w.lost() {
		return nil, errNoWay
	}
	h := to.lane.handlers[list[0]]
	here, there := net.Pipe()
	if h == nil || !l.holds(here) || !to.lane.holds(there) {
		_ = here.Close()
		return nil, errNoWay
	}
	if l.w.lost() { // in the middle
		l.w.after(l.w.some(time.Second), func() { _ = here.Close() })
	}
	go h(newLifeStream(there, l.self.id))
	return newLifeStream(here, id), nil
}

// holds has a pipe end with the life.
func (l *lane) holds(p net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.cut {
		l.pipes = append(l.pipes, p)
	}
	return !l.cut
}

// sever ends all that is under way, and for ever what comes.
func (l *lane) sever(ever bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = l.cut || ever
	for _, p := range l.pipes {
		_ = p.Close()
	}
	l.pipes = nil
}

// A lifeStream is one half of a stream. What is written to it is on its way, also when nobody reads.
type lifeStream struct {
	network.Stream
	pipe net.Conn
	with peer.ID

	mu    sync.Mutex
	queue chan []byte // nil: it is closed
}

func newLifeStream(pipe net.Conn, with peer.ID) *lifeStream {
	s := &lifeStream{pipe: pipe, with: with, queue: make(chan []byte, 64)}
	go func(queue chan []byte) {
		for b := range queue {
			if _, err := pipe.Write(b); err != nil {
				break
			}
		}
		_ = pipe.Close()
	}(s.queue)
	return s
}

func (s *lifeStream) Read(b []byte) (int, error) { return s.pipe.Read(b) }

func (s *lifeStream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue == nil {
		return 0, io.ErrClosedPipe
	}
	select {
	case s.queue <- bytes.Clone(b):
		return len(b), nil
	default:
		return 0, errNoWay // it broke
	}
}

func (s *lifeStream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue != nil {
		close(s.queue)
		s.queue = nil
	}
	return nil
}

func (s *lifeStream) Reset() error {
	s.mu.Lock()
	closed := s.queue == nil
	s.mu.Unlock()
	if closed {
		return nil
	}
	return errors.Join(s.Close(), s.pipe.Close())
}

func (s *lifeStream) SetDeadline(t time.Time) error { return s.pipe.SetDeadline(t) }
func (s *lifeStream) Conn() network.Conn            { return otherEnd{with: s.with} }

type otherEnd struct {
	network.Conn
	with peer.ID
}

func (c otherEnd) RemotePeer() peer.ID { return c.with }

// Publish tells everybody who can be reached, sooner or later, or not at all.
func (l *lane) Publish(k gossip.Kind, b []byte) error {
	for _, m := range l.w.members {
		if m.id == l.self.id {
			continue
		}
		for range 1 + l.w.below(8)/7 {
			if l.w.lost() {
				continue
			}
			late := l.w.some(300 * time.Millisecond)
			if l.w.lost() {
				late = l.w.some(20 * time.Second)
			}
			l.w.after(late, func() {
				if to := l.w.way(l.self, m.id); to != nil {
					to.hear(k, l.self.id, slices.Clone(b))
				}
			})
		}
	}
	return nil
}

func (l *lane) SetMembers(gossip.Members) {}
func (l *lane) Close() error              { return nil }

// hear takes in what somebody tells everybody.
func (x *being) hear(k gossip.Kind, author peer.ID, b []byte) {
	for _, e := range x.peer.voice.ears {
		if e.kind == k && e.check(author, b) == nil {
			e.take(author, b)
		}
	}
}

// send carries a message of a session.
func (l *lane) send(m *steal.Message) {
	l.self.peer.traffic.vouch.Send(m)
	id, err := peer.Decode(string(m.To.Peer))
	if err != nil {
		l.w.fail("a message to %q", m.To.Peer)
		return
	}
	x := l.self
	l.w.after(l.w.some(100*time.Millisecond), func() {
		to := l.w.way(x, id)
		if to == nil || l.w.lost() {
			x.peer.traffic.failed(m, errNoWay)
			return
		}
		again := *m
		to.peer.traffic.received(&again)
	})
}
