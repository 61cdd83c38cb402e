package gossip

import "sync/atomic"

// Stats counts since Open. Envelopes are combined messages: what travels; messages are what is in them.
type Stats struct {
	Published uint64 // messages that Publish took
	Envelopes uint64 // that they were combined to
	Delivered uint64 // messages given to handlers
	StoodIn   uint64 // envelopes repeated in another topic as the second gateway, because the first had not
	Busy      uint64 // messages that Publish refused because a queue was full or a rate exceeded

	// What was dropped of what others sent.
	Malformed   uint64 // envelopes that are not what they should be, or larger than allowed
	Forged      uint64 // envelopes whose signature is not their author's
	Replayed    uint64 // envelopes that were taken before, or too old to tell
	Throttled   uint64 // envelopes over the rate of their author, their kinds or all strangers'
	Flooded     uint64 // envelopes over the rate of the neighbour they came from, unread
	Refused     uint64 // envelopes with a message that its handler refused
	Ignored     uint64 // calls of neighbours that are not listened to, because of what they sent before
	NotAdmitted uint64 // streams to or from peers that were not admitted in time
	Undelivered uint64 // envelopes that came faster than handlers took them
	Topics      uint64 // that this peer is in now
	Gateway     bool   // whether this peer is one of its cluster now
	Flat        bool   // whether the swarm has only one topic now
	Neighbours  uint64 // admitted peers with a gossip stream now
}

// counters is Stats while it is counted.
type counters struct {
	published, envelopes, delivered, stoodIn, busy  atomic.Uint64
	malformed, forged, replayed, throttled, flooded atomic.Uint64
	refused, ignored, notAdmitted, undelivered      atomic.Uint64
	streams                                         atomic.Int64
}

// Stats returns what was counted so far. It does not block for long.
func (g *Gossip) Stats() Stats {
	c := &g.count
	s := Stats{
		Published: c.published.Load(), Envelopes: c.envelopes.Load(), Delivered: c.delivered.Load(),
		StoodIn: c.stoodIn.Load(), Busy: c.busy.Load(), Malformed: c.malformed.Load(), Forged: c.forged.Load(),
		Replayed: c.replayed.Load(), Throttled: c.throttled.Load(), Flooded: c.flooded.Load(),
		Refused: c.refused.Load(), Ignored: c.ignored.Load(), NotAdmitted: c.notAdmitted.Load(),
		Undelivered: c.undelivered.Load(), Neighbours: uint64(max(0, c.streams.Load())),
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s.Topics = uint64(len(g.rooms))
	s.Gateway, s.Flat = g.standing != standingNone, g.flat
	return s
}
