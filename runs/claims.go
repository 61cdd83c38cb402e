package runs

import (
	"slices"
	"time"
)

// claims are those about one run that are not believed, or whose answer has not been fetched yet. Each author has one,
// its last; a deputy's takes the place of another member's when there is no room.
type claims struct {
	list []pendingClaim
}

type pendingClaim struct {
	Claim
	from    PeerID              // who passed it on last
	sayToo  map[PeerID]struct{} // who said that the run is over by it
	tried   time.Time           // when its answer was last tried to fetch
	tries   int
	pursued bool // the answer is being fetched
}

// add takes one in; endorsed says that whoever passed it on has ended the run by it. It says whether there was room.
func (s *claims) add(m *Manifest, c *Claim, from PeerID, endorsed bool, most int) bool {
	i := slices.IndexFunc(s.list, func(p pendingClaim) bool { return p.Author == c.Author })
	switch {
	case i >= 0 && s.list[i].Hash == c.Hash, i >= 0 && s.list[i].pursued:
	case i >= 0:
		s.list[i] = pendingClaim{Claim: *c}
	case len(s.list) < most:
		s.list = append(s.list, pendingClaim{Claim: *c})
		i = len(s.list) - 1
	default:
		if !m.isDeputy(c.Author) {
			return false
		}
		i = slices.IndexFunc(s.list, func(p pendingClaim) bool { return !m.isDeputy(p.Author) && !p.pursued })
		if i < 0 {
			return false
		}
		s.list[i] = pendingClaim{Claim: *c}
	}
	p := &s.list[i]
	p.from = from
	if endorsed && p.Hash == c.Hash && len(p.sayToo) < maxEndorsements {
		if p.sayToo == nil {
			p.sayToo = map[PeerID]struct{}{}
		}
		p.sayToo[from] = struct{}{}
	}
	return true
}

// maxEndorsements is enough for an owner and all its deputies.
const maxEndorsements = 64

// inTheWay lists who must be silent, or say the same, before a claim counts for a peer that takes part, and is not.
// The peer itself stands in the way only while it holds the root.
func (p *pendingClaim) inTheWay(m *Manifest, self PeerID, holdsRoot bool, alive func(PeerID) bool) (list []PeerID) {
	for _, id := range m.before(p.Author) {
		_, same := p.sayToo[id]
		switch {
		case same, id == self && !holdsRoot, id != self && !alive(id):
		default:
			list = append(list, id)
		}
	}
	return list
}

// ownerBelieves says whether the owner goes after a claim: see the package's doc.
func (p *pendingClaim) ownerBelieves(m *Manifest, holdsRoot, returned bool) bool {
	return !holdsRoot && (returned || m.isDeputy(p.Author))
}

// drop removes an author's claim.
func (s *claims) drop(author PeerID) {
	s.list = slices.DeleteFunc(s.list, func(p pendingClaim) bool { return p.Author == author })
}
