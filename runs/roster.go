package runs

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"time"
)

// A Roster says who may take part in a run. Who coordinates the run makes one after the other, with higher numbers.
type Roster struct {
	Run    RunID
	Author PeerID
	Number uint64
	// Wanted is the number of peers that the run can use; 0: any number.
	Wanted int
	Out    []Outsider
	// Log is what was decided last, for people, oldest first.
	Log []RosterEntry
	// Until is when the run expires: nobody needs the roster afterwards.
	Until  int64
	Sealed []byte // as it travels
}

// An Outsider is a cluster, or a peer, that is not to take part, or a peer that had to stay away once.
type Outsider struct {
	Cluster string // of a peer: where it was
	Peer    PeerID // "" if it is about a cluster
	// Rate is the bandwidth that an excluded cluster had, or a peer that was one by itself, in bytes a second; 0: none
	// was seen.
	Rate float64
	// Left is for how many of the coordinator's periods more it stays away, and Times how often it had to go.
	Left, Times int
}

// A RosterEntry is one decision and its reason.
type RosterEntry struct {
	At   int64 // seconds since 1970, by the clock of who decided
	Text string
}

const (
	// MaxOutsiders bounds a roster's exclusions, MaxRosterLog its entries.
	MaxOutsiders = 256
	MaxRosterLog = 16
	// MaxRosterText bounds one, in bytes, and maxRosterBytes what is out, roughly.
	MaxRosterText  = 300
	maxRosterBytes = 32 << 10
	// MaxPeers is the greatest number of peers that a run can be said to want.
	MaxPeers = 1 << 20
)

// Excludes says whether a peer is not to take part, for what it is or for where it is.
func (r *Roster) Excludes(id PeerID, cluster string) bool {
	return slices.ContainsFunc(r.Out, func(o Outsider) bool {
		return o.Left > 0 && (o.Peer == id || o.Peer == "" && o.Cluster == cluster)
	})
}

// rosters are what those who may have said of one run. An owner's counts for as long as it repeats it, then that of
// the first deputy that does: so nobody has to compare numbers of different authors, a roster whose author is gone
// lapses, and without a coordinator everybody takes part.
type rosters struct {
	said     map[PeerID]*saying // of the owner and its deputies
	again    repetition         // of this peer's own
	benched  bool               // this peer takes no part because of one
	crowded  time.Time          // since when it is one too many; zero: it is not
	troubled bool               // this peer's own could not be signed

	missing     time.Time // since when the run has had too few peers, or since they were asked for; zero: it has enough
	provisioned int       // machines that were asked for
}

type saying struct {
	*Roster
	heard time.Time
}

// last is when a peer was heard to speak of the roster; since, if it never was.
func (s *rosters) last(id PeerID, since time.Time) time.Time {
	if x := s.said[id]; x != nil && x.heard.After(since) {
		return x.heard
	}
	return since
}

// put takes a roster in whose author may speak; from is who passed it on, and heard is when that peer has heard the
// author, by its own word. A roster that is no newer than its author's last changes nothing, but from its author it is
// a sign that it still counts. Of two with one number everybody who hears both has the same.
func (s *rosters) put(r *Roster, from PeerID, heard time.Time) {
	old := s.said[r.Author]
	switch {
	case old == nil:
		if s.said == nil {
			s.said = map[PeerID]*saying{}
		}
		s.said[r.Author] = &saying{r, heard}
	case cmp.Or(cmp.Compare(r.Number, old.Number), bytes.Compare(r.Sealed, old.Sealed)) > 0:
		s.said[r.Author] = &saying{r, s.last(r.Author, heard)}
	case r.Number == old.Number && from == r.Author:
		old.heard = heard
	}
}

// next is a number that is higher than all that were heard of this peer, in earlier lives too. Others' are not compared
// with it: one of them could have it that no number is higher.
func (s *rosters) next(self PeerID, first uint64) uint64 {
	n := first
	if mine := s.said[self]; mine != nil {
		n = max(n, mine.Number+1)
	}
	return n
}

// seated are the peers that a roster has room for, of those that could take part: its author and the owner, some
// deputies, then cluster after cluster, as a hash has it, and after all others whoever has no core at present: what it
// has begun can be stolen, and it may have visitors. Everybody who knows the same peers comes to the same.
func (r *Roster) seated(m *Manifest, all []PeerID, view View) map[PeerID]bool {
	type seat struct {
		id   PeerID
		rank int
		keys [2][sha256.Size]byte
	}
	in := make(map[PeerID]bool, len(all))
	var list []seat
	for _, id := range all {
		where := view.Cluster(id)
		x := seat{id: id, rank: 2 + seatedDeputies}
		x.keys[0] = sha256.Sum256(append(m.Run[:], where...))
		x.keys[1] = sha256.Sum256(append(m.Run[:], id...))
		switch i := slices.Index(m.Deputies, id); {
		case id == m.Owner:
			x.rank = 0
		case id == r.Author:
			x.rank = 1
		case r.Excludes(id, where):
			continue
		case !view.Computes(id):
			x.rank++
		case i >= 0 && i < seatedDeputies:
			x.rank = 2 + i
		}
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b seat) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), bytes.Compare(a.keys[0][:], b.keys[0][:]),
			bytes.Compare(a.keys[1][:], b.keys[1][:]))
	})
	if r.Wanted > 0 {
		list = list[:min(len(list), r.Wanted)]
	}
	for _, x := range list {
		in[x.id] = true
	}
	return in
}

// seatedDeputies is how many deputies come before others, so that somebody who may go on with the run is among those
// who do it.
const seatedDeputies = 2
