package runs

import (
	"slices"
	"time"
)

// claims are those about one run that are not believed, or whose answer has not been fetched yet. Each author has one,
// its last; a deputy's takes the place of another member's when there is no room.
type claims struct {
	list   []pendingClaim
	led    []PeerID // who was heard as master, each while none that comes before it was
	leader PeerID   // the last of them
	leads  time.Time
	since  time.Time // it leads
}

type pendingClaim struct {
	Claim
	from    PeerID              // who passed it on last
	sayToo  map[PeerID]struct{} // who said that the run is over by it
	tried   time.Time           // when its answer was last tried to fetch
	tries   int
	pursued bool      // the answer is being fetched
	clear   time.Time // since when nobody has stood in its way or been heard to hold the root
	sought  time.Time // when others were last asked what they know, by an owner that was away
	against bool      // one of them has said that the run goes on
	alone   time.Time // since when there has been nobody to ask but its author; zero: there is somebody
}

// add takes one in; endorsed says that whoever passed it on has ended the run by it. It says whether there was room.
func (s *claims) add(m *Manifest, c *Claim, from PeerID, endorsed bool, now time.Time, most int) bool {
	i := slices.IndexFunc(s.list, func(p pendingClaim) bool { return p.Author == c.Author })
	switch {
	case i >= 0 && s.list[i].Hash == c.Hash, i >= 0 && s.list[i].pursued:
	case i >= 0 && from != c.Author && c.At <= s.list[i].At:
		return true // what it has said before goes round
	case i >= 0: // who was asked about it, and when, was asked about its author
		s.list[i].Claim, s.list[i].sayToo, s.list[i].clear = *c, nil, now
	case len(s.list) < most:
		s.list = append(s.list, pendingClaim{Claim: *c, clear: now})
		i = len(s.list) - 1
	default:
		if !m.isDeputy(c.Author) {
			return false
		}
		i = slices.IndexFunc(s.list, func(p pendingClaim) bool { return !m.isDeputy(p.Author) && !p.pursued })
		if i < 0 {
			return false
		}
		s.list[i] = pendingClaim{Claim: *c, clear: now}
	}
	p := &s.list[i]
	p.from = from
	if endorsed && from != c.Author && p.Hash == c.Hash && len(p.sayToo) < maxEndorsements {
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

// heard notes who says that it holds the root and has begun it. That shows nothing of one while another that comes
// before it was heard to lead.
func (s *claims) heard(m *Manifest, id PeerID, now time.Time, cfg *Config) {
	for i := range s.list {
		if p := &s.list[i]; p.Author != id {
			p.clear = now
		}
	}
	if slices.Contains(m.before(id), s.leader) && now.Sub(s.leads) < cfg.LeadsFor {
		return
	}
	if s.leader != id {
		s.since = now
	}
	if s.leader, s.leads = id, now; slices.Contains(s.led, id) {
		return
	}
	s.led = append(s.led, id)
	if len(s.led) > len(m.Deputies)+cfg.Claims {
		i := slices.IndexFunc(s.led, func(id PeerID) bool { return !m.isDeputy(id) })
		s.led = slices.Delete(s.led, i, i+1)
	}
}

// shown says whether there is more than an author's word that it has had the root: it was heard as master, another
// peer has ended the run by its claim, or nobody who could have it instead was heard for so long since.
func (s *claims) shown(p *pendingClaim, now time.Time, vacant time.Duration) bool {
	return s.hasLed(p.Author) || p.seconded(now, vacant)
}

func (s *claims) hasLed(id PeerID) bool { return slices.Contains(s.led, id) }

// seconded is shown but for what the author has said itself.
func (p *pendingClaim) seconded(now time.Time, vacant time.Duration) bool {
	return len(p.sayToo) > 0 || now.Sub(p.clear) >= vacant
}

// ownerBelieves says whether an owner goes after a claim: see the package's doc. Answered says that nobody whom it has
// asked is still to answer.
func (s *claims) ownerBelieves(m *Manifest, p *pendingClaim, holdsRoot, returned, answered bool, now time.Time,
	cfg *Config) bool {
	switch {
	case holdsRoot && !(returned && m.isDeputy(p.Author)):
		return false
	case !holdsRoot && m.isDeputy(p.Author) && s.shown(p, now, cfg.Vacant):
		return true
	case !returned:
		return false
	case !p.sought.IsZero() && answered && !p.against:
		since := p.clear
		switch {
		case holdsRoot:
			since = p.alone
		case s.leader == p.Author:
			since = s.since
		}
		return p.alone.IsZero() || now.Sub(since) >= cfg.LeadsFor
	}
	return p.seconded(now, cfg.Vacant)
}

// opposed notes that somebody says that the run goes on, whoever may have claimed what.
func (s *claims) opposed(by PeerID) {
	for i := range s.list {
		if p := &s.list[i]; p.Author != by {
			p.against = true
		}
	}
}

// drop removes an author's claim.
func (s *claims) drop(author PeerID) {
	s.list = slices.DeleteFunc(s.list, func(p pendingClaim) bool { return p.Author == author })
}
