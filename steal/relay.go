package steal

import (
	"time"

	"github.com/satin-peer/satin/steal/policy"
)

// "It is possible to use source routing for the WAN links at the Satin runtime system level. This way, the
// runtime system could route WAN steal messages around the slow links" (CRS paper, 3.6). A policy that is a
// Router does so for results, the messages that are long and must arrive. The core relays: it wraps the
// result for a peer in between, which sends it on once, and the acknowledgement comes back the same way. A
// relayed message is what it would have been: handles and incarnations are those of its sender and receiver.

// relay chooses the way of messages that must arrive.
type relay struct {
	*shared
	*adviser
	partners *partners
}

// sendHome sends a result to its owner, straight or through another cluster, and says within what time another way
// should be tried; 0: that is not said.
func (rl *relay) sendHome(s *segment, m *Message) (within time.Duration) {
	round := s.via != ""
	s.via = ""
	if r, ok := rl.policy.(policy.Router); ok && s.owner.cluster != rl.cluster {
		var via ClusterID
		if via, within = r.Route(rl.view, s.owner.cluster, len(s.outcome), s.tries, round); via != "" {
			s.via = rl.sendThrough(via, s.owner, m)
		}
		if s.via != "" {
			s.round = true
			return within
		}
	}
	rl.send(s.owner, m)
	return within
}

// detourFailed has a result that could not go round go straight at once: its timer is that of a slow link.
func (b *book) detourFailed(m *Message) {
	owner := b.partners.find(m.To.Peer)
	if owner == nil {
		return
	}
	if i, ok := owner.findHeld(m.Result.Handle); ok && owner.held[i].state == finished && owner.held[i].via != "" {
		owner.held[i].retryAt, b.segments.retryAt = b.now, b.now
	}
}

// sendThrough wraps a message for a peer of the cluster, and says for which; for none if none can be used.
func (rl *relay) sendThrough(via ClusterID, to *peer, m *Message) PeerID {
	id, ok := policy.RandomIn(rl.view, via)
	if !ok {
		return ""
	}
	p := rl.partners.meet(id)
	if p == nil {
		return ""
	}
	m.Run, m.From, m.To = rl.run.ID, rl.self, to.addr()
	rl.send(p, &Message{Relayed: m})
	return id
}

// detourLost sends again at once what was to go on from a peer that is gone, or seems to be.
func (ss *segments) detourLost(p *peer) {
	for _, s := range ss.unacked {
		if s.via == p.id {
			s.retryAt, ss.retryAt = ss.now, ss.now
		}
	}
}

// onRelayed takes in what came round for this peer, and sends on what is for another: once only, so the
// sender of the envelope must be the sender of what is inside.
func (b *book) onRelayed(p *peer, m *Message) {
	switch {
	case m.To == b.self:
		if b.cameRound(m) && m.Result != nil {
			b.send(p, &Message{Relayed: &Message{Run: b.run.ID, From: b.self, To: m.From,
				Ack: &ResultAck{Handle: m.Result.Handle}}})
		}
	case m.From == p.addr() && m.Run == b.run.ID && b.isOther(m.To.Peer):
		if to := b.partners.meet(m.To.Peer); to != nil && !to.lost {
			b.stats.Relayed++
			b.send(to, &Message{Relayed: m})
		}
	default:
		b.stats.DroppedForeign++
	}
}

// cameRound takes in what another peer sends on. That one may have made it up, so it is no sign of life, it does not
// say which life somebody is in, and it acknowledges nothing that was not sent round. What it says of an outcome is
// for the border to judge, which knows who has signed. What is not taken in is not acknowledged: it will come straight.
func (b *book) cameRound(m *Message) (taken bool) {
	from := b.partners.find(m.From.Peer)
	if from == nil || from.shunned || m.Run != b.run.ID || m.Validate() != nil ||
		m.From.Inc != from.inc && !(from.inc == 0 && m.Result != nil && from.adopts(m)) {
		b.stats.DroppedStale++
		return false
	}
	switch {
	case m.Result != nil:
		b.onResult(from, m)
	case m.Ack != nil:
		if i, ok := from.findHeld(m.Ack.Handle); ok && from.held[i].round {
			b.onAck(from, m.Ack)
		} else {
			b.stats.DroppedUnexpected++
		}
	}
	return true
}

// adopts says whether a result is that of an orphan which was asked for, of the life that was asked: the first word of
// a peer that only others have told of may come round.
func (p *peer) adopts(m *Message) bool {
	i, ok := p.findLease(m.Result.Handle)
	return ok && p.leases[i].adopted && p.leases[i].life == m.From.Inc
}
