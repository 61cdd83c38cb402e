package steal

import "time"

// Whoever holds the root gets most of what a run has found, and others have the rest: what they finished themselves.
// When it is lost with all of its cluster, as when a site loses its power, what that cluster had finished for it is
// lost too, of all steps of a program that goes on in steps. So the holder has outcomes of the root's jobs kept in
// another cluster as well, by the peer there that would be master first.
//
//  1. Outcomes that have come home to the root here, or are of long jobs that ran in place under it, are gathered.
//  2. A heartbeat's period after the first of them they begin to leave, in a HandOver that says that they are copies:
//     as many together as the last acknowledgement says that an eighth of the link carries until the next may leave,
//     at least one. The next leaves when eight times as long has passed as the last needs, so an eighth of the link is
//     used at most. What is lost, or too much, costs time.
//  3. The receiver keeps them like what a leaver has handed over, and tells nobody until the sender is lost.
//
// Rejected: all deputies (each outcome would cross each link); the nearest peer (a site fails as a whole, and inside
// a cluster thieves have most of it); outcomes of any size (a checkpoint is for the large ones).
type mirror struct {
	*shared
	partners *partners
	segments *segments
	masters  *mastership

	parts []Partial // that have not left, oldest first
	bytes int
	at    time.Duration // when the next leave; 0: there are none
	most  int           // bytes of them, if they are several
	last  struct {      // those that left last
		to    *peer
		id    uint64
		bytes int
		at    time.Duration
	}
}

const (
	maxCopies  = 4 << 20  // what waits to leave, in bytes; more is not copied
	copiesSent = 16 << 10 // small ones that leave together where it is not known what the link carries
	copyShare  = 8        // the part of a link's time that is not for copies, of that which is
)

// came gathers the outcome of a job of the root.
func (mi *mirror) came(p Partial) {
	size, root := p.Size(), mi.segments.root
	if mi.masters == nil || !mi.salvaging() || mi.run.Proving || mi.run.Hoard || root == nil ||
		size > mi.cfg.MaxCopied || mi.bytes+size > maxCopies || mi.segments.spawnedUnder(p.Path) != root {
		return
	}
	if len(mi.parts) == 0 {
		mi.at = mi.now + mi.cfg.HeartbeatEvery
	}
	mi.parts, mi.bytes = append(mi.parts, p), mi.bytes+size
}

// flush sends some of what was gathered, when it is time.
func (mi *mirror) flush() {
	if mi.at == 0 || mi.now < mi.at {
		return
	}
	to, n, size, most := mi.keeper(), 0, 0, min(max(copiesSent, mi.most), mi.cfg.MaxHandOver)
	for n < min(len(mi.parts), maxParts) && (n == 0 || size+mi.parts[n].Size() <= most) {
		size += mi.parts[n].Size()
		n++
	}
	m := &Message{HandOver: &HandOver{Parts: mi.parts[:n:n], Copy: true}}
	mi.parts, mi.bytes, mi.at, mi.most = mi.parts[n:], mi.bytes-size, 0, 0
	if to == nil {
		mi.parts, mi.bytes = nil, 0
		return
	}
	mi.handOvers++
	m.HandOver.ID = mi.handOvers
	mi.stats.OutcomesCopied += uint64(n)
	mi.send(to, m)
	mi.last.to, mi.last.id, mi.last.bytes, mi.last.at = to, mi.handOvers, size, mi.now
	mi.pace(mi.links.expected(to.cluster, size))
}

// pace has the next leave so that the last, which take that long, use their share of the link.
func (mi *mirror) pace(took time.Duration) {
	if len(mi.parts) > 0 {
		mi.at = mi.last.at + max(mi.cfg.TellEvery, copyShare*took)
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
	mi.most = int(float64(mi.last.bytes) * float64(mi.cfg.TellEvery) / float64(copyShare*max(took, 1)))
	mi.pace(took)
	return true
}

// keeper is the first of those in other clusters who would be master; nil if all are here.
func (mi *mirror) keeper() *peer {
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
