package peer

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/depot"
	"github.com/satin-peer/satin/peer/places"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/peer/vouching"
	"github.com/satin-peer/satin/steal"
)

// A trade counts the jobs that went from one peer to another, since the start of this one, or since it has become a
// member again.
type trade struct{ given, taken atomic.Int64 }

// traffic carries messages between the sessions of this peer and those of others, and counts the jobs in them.
type traffic struct {
	*base.Base
	stream  *stream.Transport // of Open
	runs    *conductor
	places  *places.Places
	modules *modules
	depot   *depot.Depot
	vouch   *vouching.Border
	guests  *visitors
	voice   *voice
	protect interface {
		Protect(id peer.ID, tag string)
		Unprotect(id peer.ID, tag string)
	}
	trades  sync.Map         // steal.PeerID -> *trade
	guarded map[peer.ID]bool // partners whose connections are protected
}

// tradeWith finds the counts of one peer. Only members that were admitted have some, until forget.
func (x *traffic) tradeWith(id steal.PeerID) *trade {
	t, ok := x.trades.Load(id)
	if !ok {
		t, _ = x.trades.LoadOrStore(id, &trade{})
	}
	return t.(*trade)
}

// forget drops the counts of those who are no members any more.
func (x *traffic) forget() {
	x.trades.Range(func(id, _ any) bool {
		if p, err := peer.Decode(string(id.(steal.PeerID))); err != nil || x.places.Members.Get(p) == nil {
			x.trades.Delete(id)
		}
		return true
	})
}

// send sends a message of a session, signed for if it brings outcomes.
func (x *traffic) send(m *steal.Message) {
	x.vouch.Send(m)
	if here, sent := x.guests.carry(m); here {
		if s := x.runs.sessions.of(m.Run); s != nil && !sent {
			s.SendFailed(m)
		}
		return
	}
	if m.Reply != nil && len(m.Reply.Jobs) > 0 {
		x.tradeWith(m.To.Peer).given.Add(int64(len(m.Reply.Jobs)))
	}
	x.stream.Send(m)
}

// received takes in a message of the steal protocol.
func (x *traffic) received(m *steal.Message) {
	if m.Reply != nil && len(m.Reply.Jobs) > 0 {
		x.tradeWith(m.From.Peer).taken.Add(int64(len(m.Reply.Jobs)))
	}
	if s := x.runs.sessions.of(m.Run); s != nil {
		if x.vouch.Receive(m) {
			s.Received(m)
		}
		return
	}
	if id, err := peer.Decode(string(m.From.Peer)); err == nil && m.Request != nil {
		x.runs.announced(m.Run, id) // somebody works on a run that we have missed, or have not begun yet
		x.runs.sessions.await(m)
	}
}

func (x *traffic) failed(m *steal.Message, err error) {
	x.Log.Debug("message not delivered", "to", string(m.To.Peer), "kind", m.Kind().String(), "error", err)
	if id, bad := peer.Decode(string(m.To.Peer)); bad == nil && errors.Is(err, stream.ErrUnreachable) {
		x.places.Lost(id)
	}
	if s := x.runs.sessions.of(m.Run); s != nil {
		s.SendFailed(m)
	}
}

// keepUp keeps the connections to present partners from being closed when there are too many, and lets go of those of
// the past. It is for one goroutine.
func (x *traffic) keepUp() {
	now := map[peer.ID]bool{}
	for _, text := range x.stream.Partners() {
		id, err := peer.Decode(string(text))
		if err != nil {
			continue
		}
		if now[id] = true; !x.guarded[id] {
			x.protect.Protect(id, partnerTag)
		}
	}
	for id := range x.guarded {
		if !now[id] {
			x.protect.Unprotect(id, partnerTag)
		}
	}
	x.guarded = now
}

// close ends all streams.
func (x *traffic) close() {
	if x.stream != nil {
		_ = x.stream.Close()
	}
}

// partnerTag is why the connection manager is to keep a connection.
const partnerTag = "steal partner"
