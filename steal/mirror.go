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
//  2. Soon after the first of them, but not in the first second of a job, whose result may come instead, and over a
//     wide-area link after a second, they begin to leave, in a HandOver that says that they are copies: those nearest
//     the root first, as many together as the last acknowledgement says that an eighth of the link carries until the
//     next may leave, at least one. The next leaves when eight times as long has passed as the last needs, so an eighth
//     of the link is used at most. A cluster shares its links to others: of the bytes on them each of its peers has its
//     part of the eighth. What is below another part by then, or under a job that has ended, stays. What is lost, or
//     too much, costs time.
//  3. When all have left, the next begin to leave no sooner than after a heartbeat's period on that link and a
//     sixty-fourth of the time for which the job has been held: so what is lost is at most about that part of it, and a
//     long job costs messages by the logarithm of its length.
//  4. The receiver keeps them like what a leaver has handed over, passes them on by 1, and tells nobody until the
//     sender is lost; the job that is then put back finds them. When the job's result comes they are dropped.
//  5. What came of a whole job for which nobody waits, or perhaps, goes to the master: who did it may be lost before
//     somebody begins the job above it and asks for it.
//  6. Who has which is remembered while there is room. If that peer is lost, what it had leaves again: to whoever
//     adopts the job, who knows nothing of it; until then, from the owner's silence on, to the master, since the job
//     above it may wait for long to be begun; of the root's jobs to the next that they go to.
//
// Rejected: to the root's holder straight away (it is no partner of most, so their loss would pass unseen); all
// deputies (each outcome would cross each link); the nearest peer (a site fails as a whole, and inside a cluster
// thieves have most of it); outcomes of any size (a checkpoint is for the large ones); to repeat what is not
// acknowledged.
type mirror struct {
	*shared
	partners *partners
	segments *segments
	store    *store
	masters  *mastership

	parts   []copied // those that have not left first, once they are sorted
	waiting int      // how many have not left
	bytes   int
	at      time.Duration // when the next leave; 0: there are none
	calm    time.Duration // nothing begins to leave before
	most    int           // bytes of them, if they are several
	last    struct {      // those that left last
		to    *peer
		id    uint64
		bytes int
		at    time.Duration
		users int // peers that share the way they go
	}
}

// copied is a part, and who has had a copy of it last.
type copied struct {
	Partial
	by Address
}

const (
	maxCopies  = 4 << 20  // of what is gathered, in bytes; more is not copied
	mostCopies = 1024     // the same in outcomes; of more those stay that have not left, then those nearest the root
	copiesSent = 16 << 10 // small ones that leave together where it is not known what the link carries
	copyShare  = 8        // the part of a link's time that is not for copies, of that which is
	copyAge    = 64       // the part of a job's time that may be lost with its copies
)

// came gathers the outcome of a job that a frame here waits for. Took is how long a thief had it; 0: it ran in place.
func (mi *mirror) came(p Partial, took time.Duration) {
	s := mi.partOf(p.Path, mi.keeper)
	if s == nil || s.root && mi.masters == nil || !s.root && took > 0 && took < copyShare*mi.way(s, p.Size()) {
		return
	}
	earliest := s.since
	if s.owner == nil || s.owner.cluster != mi.cluster {
		earliest = mi.now // more may come that goes the same long way
	}
	mi.gather(p, earliest+mi.cfg.HeartbeatEvery)
}

// homeless gathers what came of a job here for which nobody waits, or perhaps.
func (mi *mirror) homeless(p Partial) {
	if mi.masters != nil {
		mi.gather(p, 0)
	}
}

func (mi *mirror) gather(p Partial, earliest time.Duration) {
	size := p.Size()
	if !mi.salvaging() || mi.run.Proving || mi.run.Hoard || size > mi.cfg.MaxCopied {
		return
	}
	if len(mi.parts) >= mostCopies || mi.bytes+size > maxCopies {
		mi.sort(mi.keeperNow())
		mi.drop(mostCopies/2, maxCopies/2)
	}
	if mi.bytes+size > maxCopies {
		return
	}
	mi.parts = append(mi.parts, copied{Partial: p})
	mi.waiting, mi.bytes = mi.waiting+1, mi.bytes+size
	mi.begin(max(mi.calm, earliest))
}

// way is how long the way to a job's owner should take, of an orphan the one to somebody in this cluster.
func (mi *mirror) way(s *segment, size int) time.Duration {
	if s.owner == nil {
		return mi.links.expected(mi.cluster, size)
	}
	return mi.links.expected(s.owner.cluster, size)
}

// drop drops what has not room in so many outcomes and bytes; of those that have not left as many as fit stay.
func (mi *mirror) drop(most, bytes int) {
	for n := len(mi.parts); n > most || n > mi.waiting && mi.bytes > bytes; n-- {
		mi.bytes -= mi.parts[n-1].Size()
		mi.parts[n-1] = copied{}
		mi.parts = mi.parts[:n-1]
	}
	mi.waiting = min(mi.waiting, len(mi.parts))
}

// begin has what is gathered leave soon, if that is not too early.
func (mi *mirror) begin(earliest time.Duration) {
	if mi.at == 0 {
		mi.at = max(mi.now+mi.cfg.TellEvery, earliest)
	}
}

// again has leave what a peer had that is lost, or whose job has a new owner.
func (mi *mirror) again() {
	if len(mi.parts) > 0 {
		mi.begin(0)
	}
}

// isHomeless says whether still nobody waits for what came of a job, and this peer has it.
func (mi *mirror) isHomeless(p *Partial) bool {
	if mi.masters == nil {
		return false
	}
	if k := mi.store.find(p.Path, p.Identity); k != nil && k.class == own && !k.inPart {
		return true
	}
	return mi.segments.oldest(p.Path, p.Identity, func(s *segment) bool {
		return s.state == finished && s.inDoubt()
	}) != nil
}

// pass gathers a copy that a thief has sent.
func (mi *mirror) pass(from *peer, p Partial) {
	if from.cluster == mi.cluster {
		mi.came(p, 0)
	}
}

// partOf finds the job at work here for somebody, or given on, that a job belongs to, by its path: the one nearest the
// root. A job may have gone round, and a part of it come back from somebody else in this cluster: for the nearer one
// its copies go on towards the root, for the other they would go round too, and never leave the cluster. The root comes
// last where copies leave without it, and where nobody, by keeper, is there to have its.
func (mi *mirror) partOf(path job.Path, keeper func() *peer) *segment {
	s := mi.segments.highest(path, func(s *segment) bool {
		return !s.root && len(s.job.Path) < len(path) && (s.state == running || s.state == lent) &&
			(s.orphan || s.owner != nil)
	})
	root := mi.segments.root
	if root != nil && root.state == running && len(path) > 0 &&
		(s == nil || (s.owner == nil || s.owner.cluster == mi.cluster) && keeper() != nil) {
		return root
	}
	return s
}

// flush sends some of what was gathered, when it is time.
func (mi *mirror) flush() {
	if mi.at == 0 || mi.now < mi.at {
		return
	}
	keeper := mi.keeperNow()
	mi.sort(keeper)
	most := min(max(copiesSent, mi.most), mi.cfg.MaxHandOver)
	mi.at, mi.most = 0, 0
	if mi.waiting == 0 {
		return
	}
	s := mi.partOf(mi.parts[0].Path, keeper)
	to := mi.receiver(s, keeper)
	var parts []Partial
	size := 0
	for i := range mi.parts[:mi.waiting] {
		p := &mi.parts[i]
		if n := len(parts); n == 0 || n < maxParts && size+p.Size() <= most && mi.partOf(p.Path, keeper) == s {
			parts, size = append(parts, p.Partial), size+p.Size()
			p.by = to.addr()
		}
	}
	mi.waiting -= len(parts)
	mi.handOvers++
	mi.stats.OutcomesCopied += uint64(len(parts))
	mi.send(to, &Message{HandOver: &HandOver{ID: mi.handOvers, Parts: parts, Copy: true}})
	mi.last.to, mi.last.id, mi.last.bytes, mi.last.at, mi.last.users = to, mi.handOvers, size, mi.now, 1
	since := mi.now
	if s != nil {
		since = s.since
	}
	if (s == nil || !s.root) && to.cluster != mi.cluster {
		mi.last.users = max(1, len(mi.members.Cluster(mi.cluster).Members))
	}
	mi.calm = mi.now + max(mi.partners.period(to), min((mi.now-since)/copyAge, mi.cfg.MaxHeartbeatEvery))
	mi.pace(mi.links.expected(to.cluster, size))
}

// sort drops what nobody would want and puts what has not left before the others; of each those nearest the root are
// first.
func (mi *mirror) sort(keeper func() *peer) {
	slices.SortStableFunc(mi.parts, func(a, b copied) int { return a.Path.Compare(b.Path) })
	var above job.Path
	mi.bytes, mi.waiting = 0, 0
	left := make([]copied, 0, len(mi.parts))
	waiting := mi.parts[:0]
	for _, p := range mi.parts {
		s := mi.partOf(p.Path, keeper)
		if s == nil && !mi.isHomeless(&p.Partial) || above != nil && atOrAbove(above, p.Path) {
			continue
		}
		switch to := mi.receiver(s, keeper); {
		case to != nil && !mi.has(s, to, p.by):
			waiting = append(waiting, p)
		case to != nil || s == nil || s.orphan || s.inDoubt():
			left = append(left, p)
		default:
			continue
		}
		above = p.Path
		mi.bytes += p.Size()
	}
	nearest := func(a, b copied) int { return len(a.Path) - len(b.Path) }
	slices.SortStableFunc(waiting, nearest)
	slices.SortStableFunc(left, nearest)
	mi.waiting = len(waiting)
	all := append(waiting, left...)
	clear(mi.parts[len(all):])
	mi.parts = all
}

// has says whether to send there what somebody has had would be in vain. What the root's jobs have come to is sent to
// another only when that one is gone.
func (mi *mirror) has(s *segment, to *peer, had Address) bool {
	if s != nil && s.root && mi.isMember(had.Peer) {
		if to = mi.partners.find(had.Peer); to == nil {
			return true
		}
	}
	return to.id == had.Peer && !to.lost && (had.Inc == 0 || to.inc <= had.Inc)
}

// receiver is who is to have copies of a job's parts; nil: nobody. For a job that nobody waits for, or perhaps, at work
// or done (nil), that is the master: it may take long until somebody begins the job above it, and by then this peer may
// be lost too.
func (mi *mirror) receiver(s *segment, keeper func() *peer) *peer {
	id := PeerID("")
	switch {
	case s == nil:
		id = mi.masters.leader.Peer
	case s.root:
		return keeper()
	case s.owner != nil && !s.owner.suspected():
		id = s.owner.id
	case (s.orphan || s.inDoubt()) && mi.masters != nil:
		id = mi.masters.leader.Peer
	}
	if m, ok := mi.members.Find(id); !ok || id == mi.self.Peer || m.Guest || mi.members.Barred(id) {
		return nil
	}
	return mi.partners.meet(id)
}

// pace has the next leave so that the last, which take that long, use their share of the link.
func (mi *mirror) pace(took time.Duration) {
	if mi.waiting > 0 {
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

// keeperNow is keeper for many parts: it goes through all members once.
func (mi *mirror) keeperNow() func() *peer {
	now := mi.keeper()
	return func() *peer { return now }
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
