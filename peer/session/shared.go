package session

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
)

// What jobs share has a core of its own beside that of stealing, and a way of its own into the loop: a flood of pieces
// holds up who sends them and no steal.

// sharedIn is what waits for the loop.
type sharedIn struct {
	inbox  chan *sharedobj.Message
	gossip chan sharedNews
}

type sharedNews struct {
	from sharedobj.PeerID
	news *sharedobj.News
}

func newSharedIn() sharedIn {
	return sharedIn{make(chan *sharedobj.Message, inboxLength), make(chan sharedNews, gossipLength)}
}

func newShared(cfg *Config, random *rand.Rand) (*sharedobj.Core, error) {
	if cfg.Shared == (sharedobj.Config{}) {
		cfg.Shared = sharedobj.Default()
	}
	c, err := sharedobj.NewCore(cfg.Shared, sharedobj.PeerID(cfg.Self.Peer), driver.SharedMembers(cfg.Members), random)
	if err == nil && len(cfg.Run.Deputies) > 0 {
		c.SetMaster(sharedobj.PeerID(cfg.Run.Deputies[0])) // the owner, who probably shared it
	}
	return c, err
}

// ReceivedShared takes a message in, as Received does.
func (s *Session) ReceivedShared(m *sharedobj.Message) {
	select {
	case s.shared.inbox <- m:
	case <-s.quit:
	}
}

// HearShared takes gossip of this run in, as Hear does.
func (s *Session) HearShared(from sharedobj.PeerID, n *sharedobj.News) {
	select {
	case s.shared.gossip <- sharedNews{from, n}:
	default:
	}
}

// Value gives the order that brings a version that is here to another engine; nil if it is not here, or nobody says so
// before ctx ends.
func (s *Session) Value(ctx context.Context, d sharedobj.Digest) *port.Order {
	got := make(chan *port.Order, 1)
	s.tell(func(time.Duration) {
		name, value, ok := s.driver.SharedValue(d)
		if !ok {
			got <- nil
			return
		}
		got <- &port.Order{Kind: port.Here, Shared: &port.Shared{Digest: d, Name: name, Data: value.Bytes()}}
	})
	select {
	case o := <-got:
		return o
	case <-ctx.Done():
	case <-s.quit:
	}
	return nil
}

// SharedSendFailed says that a message given to Config.SendShared was certainly not delivered.
func (s *Session) SharedSendFailed(m *sharedobj.Message) {
	s.tell(func(now time.Duration) { s.driver.SharedSendFailed(now, m) })
}

// Lend says that this peer has something that the root's argument names.
func (s *Session) Lend(r *sharedobj.Recipe, state *sharedobj.Body) {
	s.tell(func(now time.Duration) { s.driver.Lend(now, r, state) })
}

// SendShared sends a message.
func (x sides) SendShared(m *sharedobj.Message) {
	if x.s.cfg.SendShared != nil {
		x.s.cfg.SendShared(m)
	}
}

// TellShared tells news.
func (x sides) TellShared(n *sharedobj.News) {
	if x.s.cfg.TellShared != nil {
		x.s.cfg.TellShared(n)
	}
}

// Note tells the user something of what is shared.
func (x sides) Note(text string) { x.s.cfg.Log.Warn(text) }
