package peer

import (
	"errors"
	"sync/atomic"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/steal"
)

// What goes between the sessions of this peer and those of others.

// trade counts the jobs that went from one peer to another, since the start of this one.
type trade struct{ given, taken atomic.Int64 }

// tradeWith finds the counts of one peer. Only members that were admitted have some, so there are not many.
func (p *Peer) tradeWith(id steal.PeerID) *trade {
	t, ok := p.traded.Load(id)
	if !ok {
		t, _ = p.traded.LoadOrStore(id, &trade{})
	}
	return t.(*trade)
}

// send sends a message of a session.
func (p *Peer) send(m *steal.Message) {
	if m.Reply != nil && len(m.Reply.Jobs) > 0 {
		p.tradeWith(m.To.Peer).given.Add(int64(len(m.Reply.Jobs)))
	}
	p.stream.Send(m)
}

// received takes in a message of the steal protocol.
func (p *Peer) received(m *steal.Message) {
	if m.Reply != nil && len(m.Reply.Jobs) > 0 {
		p.tradeWith(m.From.Peer).taken.Add(int64(len(m.Reply.Jobs)))
	}
	if s := p.runs.sessionOf(m.Run); s != nil {
		s.Received(m)
		return
	}
	if id, err := peer.Decode(string(m.From.Peer)); err == nil && m.Request != nil {
		p.runs.announced(m.Run, id) // somebody works on a run that we have missed, or have not begun yet
		p.runs.await(m)
	}
}

func (p *Peer) failed(m *steal.Message, err error) {
	p.log.Debug("message not delivered", "to", string(m.To.Peer), "kind", m.Kind().String(), "error", err)
	if id, bad := peer.Decode(string(m.To.Peer)); bad == nil && errors.Is(err, stream.ErrUnreachable) {
		p.places.lost(id)
	}
	if s := p.runs.sessionOf(m.Run); s != nil {
		s.SendFailed(m)
	}
}

// isWide says whether a peer is in another cluster, behind a link that many share.
func (p *Peer) isWide(id steal.PeerID) bool {
	other, err := peer.Decode(string(id))
	return err == nil && p.places.of(other).Name != p.places.mine().Name
}

// guard keeps the connections to present partners from being closed when there are too many, and lets go of
// those of the past.
func (p *Peer) guard(past map[peer.ID]bool) map[peer.ID]bool {
	now := map[peer.ID]bool{}
	for _, text := range p.stream.Partners() {
		id, err := peer.Decode(string(text))
		if err != nil {
			continue
		}
		if now[id] = true; !past[id] {
			p.host.Protect(id, partnerTag)
		}
	}
	for id := range past {
		if !now[id] {
			p.host.Unprotect(id, partnerTag)
		}
	}
	return now
}

// partnerTag is why the connection manager is to keep a connection.
const partnerTag = "steal partner"
