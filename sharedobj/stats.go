package sharedobj

// Stats counts what a core did since it was made.
type Stats struct {
	Fetches    uint64 // versions that came from others
	BytesHeld  uint64 // now
	Pushed     uint64 // bytes, now: held or on their way though nobody here has named them
	PushedMost uint64 // of them, those of one sender
	PiecesSent uint64 // within the cluster and beyond
	PiecesWide uint64 // beyond
	BytesLocal uint64 // of pieces
	BytesWide  uint64
	WritesTold uint64 // by gossip
	Announced  uint64 // announcements begun or passed on
	OffersTold uint64 // by gossip, after joining
	JobsBack   uint64

	Malformed uint64 // inputs that no correct peer sends
	Strangers uint64 // messages of peers that do not take part
	Unsought  uint64 // answers and pieces that nobody asked for
	Wrong     uint64 // pieces that did not hash to what they were to be
	Refused   uint64 // requests beyond a bound
}

func (s *Stats) sent(m *Message, near bool) {
	if m.Piece == nil {
		return
	}
	s.PiecesSent++
	if near {
		s.BytesLocal += uint64(len(m.Piece.Data))
	} else {
		s.PiecesWide++
		s.BytesWide += uint64(len(m.Piece.Data))
	}
}
