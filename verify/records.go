package verify

import (
	"cmp"
	"maps"
	"slices"
)

// Records count the outcomes of peers that this machine has had compared and found right, in all its runs: what
// View.Passed is to say. Only what was compared here counts, so nobody can speak for itself or for others. A peer earns
// in one run what it is believed for in the next, until it has lied, or one whom the same member has let in: that is
// remembered with the record, for a liar must not have friends who are away when it is caught, and believed when they
// come back.
type Records struct {
	// Hand is by whom a peer is a member, as far as that is known now; "": it is not, as in an open swarm.
	Hand func(PeerID) PeerID

	of map[PeerID]Record
}

// A Record is that of one peer.
type Record struct {
	Peer   PeerID
	Passed uint64
	Hand   PeerID // by whom it was a member when it passed last; "" if that was not known
}

// MaxRecords bounds the peers that there is a record of; those with the least go first.
const MaxRecords = 4096

// Recall begins with what was kept.
func (s *Records) Recall(list []Record) {
	s.of = map[PeerID]Record{}
	for _, r := range list[:min(len(list), MaxRecords)] {
		s.of[r.Peer] = r
	}
}

// List is what is to be kept.
func (s *Records) List() []Record {
	return slices.SortedFunc(maps.Values(s.of), func(a, b Record) int { return cmp.Compare(a.Peer, b.Peer) })
}

// Passed counts the comparisons that a peer has passed.
func (s *Records) Passed(id PeerID) uint64 { return s.of[id].Passed }

// Pass adds one to the records of peers.
func (s *Records) Pass(list []PeerID) {
	for _, id := range list {
		r, known := s.of[id]
		if !known && len(s.of) >= MaxRecords {
			delete(s.of, s.least())
		}
		s.of[id] = Record{id, r.Passed + 1, cmp.Or(s.Hand(id), r.Hand)}
	}
}

// least is who has the poorest record.
func (s *Records) least() PeerID {
	return slices.MinFunc(slices.Collect(maps.Values(s.of)), func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Passed, b.Passed), cmp.Compare(a.Peer, b.Peer))
	}).Peer
}

// Fall forgets the record of a liar, and of all whom the same member has let in, if that is known.
func (s *Records) Fall(liar PeerID) {
	hand := cmp.Or(s.Hand(liar), s.of[liar].Hand)
	maps.DeleteFunc(s.of, func(id PeerID, r Record) bool {
		return id == liar || hand != "" && (r.Hand == hand || s.Hand(id) == hand)
	})
}
