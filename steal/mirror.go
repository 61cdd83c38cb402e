package steal

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
)

// What finished under a job that is still at work is known to whoever works on it, and lost with that peer, or with all
// of its cluster, as when a site loses its power. So outcomes of such parts go home early: copies of them to whoever
// waits for the job, on the way that its result will take. For the root nobody waits elsewhere: copies of its jobs go
// to another cluster, to the peer there that would be master first.
//
//  1. Gathered are outcomes that have come home to a segment's frames here, those of long jobs that ran in place under
//     it, and copies that came from thieves in this cluster. What came from another cluster is safe from the loss of
//     this one. What a job took from a thief must be worth the way: copyShare times as long as the copy should take.
//  2. A heartbeat's period after the first of them they begin to leave, in a HandOver that says that they are copies:
//     those nearest the root first, as many together as the last acknowledgement says that an eighth of the link
//     carries until the next may leave, at least one. The next leaves when eight times as long has passed as the last
//     needs, so an eighth of the link is used at most. A cluster shares its links to others: of the bytes on them each
//     of its peers has its part of the eighth. What is below another part by then, or under a job that has ended,
//     stays. What is lost, or too much, costs time.
//  3. When all have left, the next begin to leave no sooner than after a heartbeat's period on that link and a
//     sixteenth of the time for which the job has been held: so what is lost is at most about that part of it, and a
//     long job costs messages by the logarithm of its length.
//  4. The receiver keeps them like what a leaver has handed over, passes them on by 1, and tells nobody until the
//     sender is lost; the job that is then put back finds them. When the job's result comes they are dropped.
//
// Rejected: to the root's holder straight away (it is no partner of most, so their loss would pass unseen); all
// deputies (each outcome would cross each link); the nearest peer (a site fails as a whole, and inside a cluster
// thieves have most of it); outcomes of any size (a checkpoint is for the large ones); to repeat what is not
// acknowledged.
type mirror struct {
	*shared
	partners *partners
	segments *segments
	masters  *mastership

	parts []Partial // that have not left
	bytes int
	at    time.Duration // when the next leave; 0: there are none
	calm  time.Duration // nothing begins to leave before
	most  int           // bytes of them, if they are several
	last  struct {      // those that left last
		to    *peer
		id    uint64
		bytes int
		at    time.Duration
		users int // peers that share the way they go
	}
}

const (
	maxCopies  = 4 << 20  // what waits to leave, in bytes; more is not copied
	mostCopies = 1024     // the same in outcomes; of more those nearest the root stay, half as many
	copiesSent = 16 << 10 // small ones that leave together where it is not known what the link carries
	copyShare  = 8        // the part of a link's time that is not for copies, of that which is
	copyAge    = 16       // the part of a job's time that may be lost with its copies
)

// came gathers the outcome of a job that a frame here waits for. Took is how long a thief had it; 0: it ran in place.
func (mi *mirror) came(p Partial, took time.Duration) {
	size := p.Size()
	if !mi.salvaging() || mi.run.Proving || mi.run.Hoard || size > mi.cfg.MaxCopied || mi.bytes+size > maxCopies {
		return
	}
	s := mi.partOf(p.Path)
	if s == nil || s.root && mi.masters == nil ||
		!s.root && took > 0 && took < copyShare*mi.links.expected(s.owner.cluster, size) {
		return
	}
	if len(mi.parts) >= mostCopies {
		mi.sort()
		for len(mi.parts) > mostCopies/2 {
			last := len(mi.parts) - 1
			mi.bytes -= mi.parts[last].Size()
			mi.parts = mi.parts[:last]
		}
	}
	if len(mi.parts) == 0 {
		mi.at = max(mi.now+mi.cfg.HeartbeatEvery, mi.calm)
	}
	mi.parts, mi.bytes = append(mi.parts, p), mi.bytes+size
}

// pass gathers a copy that a thief has sent.
func (mi *mirror) pass(from *peer, p Partial) {
	if from.cluster == mi.cluster {
		mi.came(p, 0)
	}
}

// partOf finds the job at work here for somebody, or given on, that a job belongs to, by its path: the one with the
// longest path above it.
func (mi *mirror) partOf(path job.Path) *segment {
	return mi.segments.deepest(path, func(s *segment) bool {
		return len(s.job.Path) < len(path) && (s.state == running || s.state == lent) &&
			(s.root || s.owner != nil && !s.owner.lost)
	})
}

// flush sends some of what was gathered, when it is time.
func (mi *mirror) flush() {
	if mi.at == 0 || mi.now < mi.at {
		return
	}
	s, to := mi.sort()
	most := min(max(copiesSent, mi.most), mi.cfg.MaxHandOver)
	mi.at, mi.most = 0, 0
	if to == nil {
		return
	}
	var parts, left []Partial
	size := 0
	for _, p := range mi.parts {
		if n := len(parts); n == 0 || n < maxParts && size+p.Size() <= most && mi.partOf(p.Path) == s {
			parts, size = append(parts, p), size+p.Size()
		} else {
			left = append(left, p)
		}
	}
	mi.parts, mi.bytes = left, mi.bytes-size
	mi.handOvers++
	mi.stats.OutcomesCopied += uint64(len(parts))
	mi.send(to, &Message{HandOver: &HandOver{ID: mi.handOvers, Parts: parts, Copy: true}})
	mi.last.to, mi.last.id, mi.last.bytes, mi.last.at, mi.last.users = to, mi.handOvers, size, mi.now, 1
	if !s.root && to.cluster != mi.cluster {
		mi.last.users = max(1, len(mi.members.Cluster(mi.cluster).Members))
	}
	mi.calm = mi.now + max(mi.partners.period(to), min((mi.now-s.since)/copyAge, mi.cfg.MaxHeartbeatEvery))
	mi.pace(mi.links.expected(to.cluster, size))
}

// sort puts those nearest the root first and drops what nobody would want. It returns the job that the first is part
// of, and who is to have it; nil if nothing is left.
func (mi *mirror) sort() (first *segment, to *peer) {
	slices.SortStableFunc(mi.parts, func(a, b Partial) int { return a.Path.Compare(b.Path) })
	var above *Partial
	keeper := mi.keeper()
	mi.bytes = 0
	mi.parts = slices.DeleteFunc(mi.parts, func(p Partial) bool {
		s := mi.partOf(p.Path)
		if s == nil || above != nil && above.Path.Above(p.Path) || mi.receiver(s, keeper) == nil {
			return true
		}
		above = &p
		mi.bytes += p.Size()
		return false
	})
	slices.SortStableFunc(mi.parts, func(a, b Partial) int { return len(a.Path) - len(b.Path) })
	if len(mi.parts) == 0 {
		return nil, nil
	}
	first = mi.partOf(mi.parts[0].Path)
	return first, mi.receiver(first, keeper)
}

// receiver is who is to have copies of a job's parts; nil: nobody.
func (mi *mirror) receiver(s *segment, keeper *peer) *peer {
	if s.root {
		return keeper
	}
	if m, ok := mi.members.Find(s.owner.id); !ok || m.Guest || mi.members.Barred(m.ID) {
		return nil
	}
	return s.owner
}

// pace has the next leave so that the last, which take that long, use their share of the link.
func (mi *mirror) pace(took time.Duration) {
	if len(mi.parts) > 0 {
		shared := max(0, took-mi.links.get(mi.last.to.cluster).RTT) // the rest is the way, not what goes there
		mi.at = mi.last.at + max(mi.cfg.TellEvery, copyShare*(took+time.Duration(mi.last.users-1)*shared))
	}
}

// acked learns how long copies took; false if it is no acknowledgement of the last.
func (mi *mirror) acked(p *peer, a *HandOverAck) bool {
	if a.ID != mi.last.id || p != mi.last.to {
		return false
	}
	took := mi.now - mi.last.at
	mi.links.resultAcked(p.cluster, took, mi.last.bytes)
	mi.last.id = 0
	mi.most = int(float64(mi.last.bytes) * float64(mi.cfg.TellEvery) /
		float64(copyShare*max(took, 1)*time.Duration(mi.last.users)))
	mi.pace(took)
	return true
}

// keeper is the first of those in other clusters who would be master; nil if all are here.
func (mi *mirror) keeper() *peer {
	if mi.masters == nil || mi.segments.root == nil {
		return nil
	}
	best := PeerID("")
	for i := range mi.members.Len() {
		m := mi.members.At(i)
		if p := mi.partners.find(m.ID); m.Cluster == mi.cluster || m.Guest || mi.members.Barred(m.ID) ||
			p != nil && p.lost {
			continue
		}
		if best == "" || mi.masters.ranks.compare(m.ID, best) < 0 {
			best = m.ID
		}
	}
	if best == "" {
		return nil
	}
	return mi.partners.meet(best)
}
