package steal

import (
	"cmp"
	"slices"
	"time"
)

// # Masters
//
// The master of a run holds its root. When it is lost, another peer becomes master and starts the root again;
// the jobs that others hold are found again as orphans on the way (orphans.go). Two masters at a time are
// allowed: they cost work, never correctness, since jobs are pure. So nothing here needs a majority, and one
// peer that is left alone goes on alone. What has to hold is only that there is a master again soon after one
// is lost, and that of several that can hear each other one remains.
//
// States. A peer listens, or it is master. A master says so in beacons, one every Config.BeaconEvery, by
// gossip, numbered within its life. Both states may have the answer: a master whose root has finished goes on
// as master with Beacon.Answered set until the run is ended from outside; one that lost the mastership after
// that keeps what it knows.
//
//	listening --> master     a Fresh owner, at its first input; or nothing heard for the lease and the stagger of its
//	                         rank; or the master that is heard has no worker for the root, and this peer has
//	master --> listening     a beacon of a master that comes before it: see below
//	either --> gone          Leave, Cancel
//
// Steps, at every input:
//
//  1. The silence grows by the time since the last input. A core asks to be ticked every half beacon period;
//     if the time since the last input is much more, it did not run itself (a suspended laptop, a starved
//     process): beacons may wait unread behind this very input. The first such stall, and every one of a
//     whole lease, begins the silence anew; further ones before any beacon is heard count only as much as the
//     tick that should have been. So a peer that wakes listens for a lease, and one that is always late comes
//     to act all the same.
//  2. A beacon counts if its sender has the rank it claims, it is not of an earlier life of its sender, and
//     its number is higher than any heard of this life. So a dead master's beacons, repeated, keep nobody
//     waiting. One that counts ends the silence, whoever it is from: a peer that listens does not mind being
//     better than the master it hears. That is why an owner that comes back, or a better peer that joins
//     late, does not take over: its silence begins with its own life, and ends with the sitting master's next
//     beacon.
//  3. A master that hears a beacon of one that comes before it steps down. Before all others come those that have
//     begun the root, with an outcome or without; else the better rank (ranking.before). A master that hears one
//     behind it answers with a beacon at once.
//  4. A peer that listens becomes master when the silence reaches Lease + stagger(n), n being the members of better
//     rank that it does not believe dead, the silent master not counted. The lease is MasterLease, but longer where
//     beacons come from another cluster over a slow link, by what was known of that when one was heard: there they wait
//     behind long results, and what a second master gives away would keep the link full. If the master is known to be
//     gone (a goodbye, or a beacon or message of its next life), all but one beacon period of the lease is taken as
//     over. Half a beacon period before the lease is over two beacons are missing: everybody who has outcomes that the
//     master acknowledged tells of them, so that whoever begins knows of them from the start.
//  5. A master whose engine may use no core at the moment, since its user has paused it for instance, says
//     that the root waits: Beacon.Waiting. A peer that listens to it and may use one becomes master after a
//     sixteenth of its stagger, and the other steps down. (That all workers are busy is no reason to wait:
//     the root begins before what they run, see feedWorkers.) A Fresh owner does not say so before its second
//     beacon, as its engine may be about to be ready. A root that has begun waits again when the engine has
//     been without a core for two leases: runs would else stand still for as long as their owners use their
//     machines. Whoever takes a root that was at work says so at once and starts it half a beacon period later.
//     By then the other has stepped down, and everybody has told of what was its own: what is begun in place
//     before it is known to be at work elsewhere is done twice, to its end.
//
// Why it converges. When faults stop, let beacons take at most d. Masters that can hear each other are
// ordered by (begun, rank, ID), the same order at all of them, as it depends on nothing but the two.
// An entry in that order only ever gets better, once engines that have a core keep it: a root that has begun goes
// on until it has an outcome or its master steps down, and the outcome stays. A master steps down only for one that
// was before it when it sent its beacon and either still is master, or has stepped down for one before it in turn,
// or was lost before faults stopped. (Step 5 makes masters that come before the one that was heard, as long as that
// one has not begun.) So the first of them all never steps down, and the others do within BeaconEvery + d. Zero
// masters: nobody's silence begins anew once no beacon and no stall comes, so after at most Lease +
// 4*RankStagger somebody begins; its beacons keep the others from it, and those that began within d of it are
// the case before. A beacon of a lost master, on its way when faults stopped, can end silences, or a
// mastership, once more: that is the second of the two leases within which the tests want one master.
//
// Rejected: masters with the answer before all others (who says so would have the root of an owner that computes; what
// is finished twice costs work); positions among the members as ranks (see ranking); better ranks taking over from a
// sitting master (each return of the owner would cost a restart); asking for votes (a majority may be gone: the
// submitter and its deputies were switched off for the night, and one volunteer is left); terms as in Raft
// instead of ranks (the newer master would win and the one that has done more work would step down; neither
// is better than the other, and ranks need no state).

// mastership is one peer's part in this, as a machine of its own: inputs are time, beacons and what the core
// knows of lives and members; outputs are decisions. Nil is a run whose root is no business of the core: it
// has no deputies.
type mastership struct {
	cfg     *Config
	self    PeerID
	ranks   ranking
	members *Members
	rivals  []PeerID // members of better rank, if looked for since the members changed
	looked  bool
	heralds []herald // from whom beacons were heard

	// Lease is how long no master must have been heard: Config.MasterLease, and longer where the master's beacons have
	// to come over a slow link.
	Lease time.Duration

	begun    bool          // there was an input
	fresh    bool          // begin as master
	master   bool          // in that state
	seen     time.Duration // the last input
	silence  time.Duration // listened for so long without a beacon
	patience time.Duration // how much silence it takes, as of the last look
	forgiven bool          // a stall has begun the silence anew since a beacon was heard
	leader   Address       // the master, or the first of several
	claims   claim         // what it said
	leaderAt time.Duration // when it was last heard
	second   Address       // the last other master that had begun while the leader came first
	secondAt time.Duration
	ended    PeerID // the last one of which that was said
	endedAt  time.Duration
	seq      uint64        // of the last beacon sent
	beaconAt time.Duration // the next one, at a master
	sentAt   time.Duration
	answered *[16]byte // the hash of the root's outcome, once it was finished here

	able    bool          // the engine here may use a core
	runs    bool          // the root has begun here
	grace   time.Duration // until then a fresh owner does not say that it waits
	offerAt time.Duration // when to take the root of a master that waits; 0: not decided
	worked  bool          // a master was heard that had begun: the first beacon of a new owner does not count
	starts  bool          // the root is to be started here
	startAt time.Duration // when
}

// herald is a peer that has sent a beacon.
type herald struct {
	id    PeerID
	inc   Incarnation
	seq   uint64
	heard time.Duration
}

// maxHeralds bounds the senders of beacons that are told apart. Masters are few, so this is a great many; the
// one heard longest ago is forgotten first, and its old beacons would count once more.
const maxHeralds = 64

// maxSeq is the highest number of a beacon: no honest master gets there in a thousand years.
const maxSeq = 1 << 48

// decision is what an input makes of the mastership.
type decision struct {
	Start    bool    // start the root again, or for the first time
	StepDown bool    // give it up
	Send     *Beacon // tell everybody
	// this one's root has ended or is about to, perhaps this peer's: what it was given is needed by another
	// now
	Ended PeerID
	// Newcomer says that this beacon is the first from its sender's life: what was told before, it has not heard
	Newcomer bool
}

// newMastership returns nil for a run without deputies, or without a root that could be started.
func newMastership(cfg *Config, run *Run, self PeerID, members *Members) *mastership {
	if len(run.Deputies) == 0 || run.Root.Function == "" {
		return nil
	}
	m := &mastership{cfg: cfg, self: self, ranks: ranking{run.ID, run.Deputies}, fresh: run.Fresh,
		Lease: cfg.MasterLease, patience: cfg.MasterLease}
	m.setMembers(members)
	return m
}

// setMembers, pass and over may be called where there is no mastership.
func (m *mastership) setMembers(members *Members) {
	if m != nil {
		m.members, m.rivals, m.looked = members, nil, false
	}
}

// tickEvery is how often a peer that listens wants to see time pass, so that it notices when it does not.
func (m *mastership) tickEvery() time.Duration { return m.cfg.BeaconEvery / 2 }

// pass lets time go by: step 1. It comes before every other input at that time.
func (m *mastership) pass(now time.Duration) {
	if m == nil {
		return
	}
	gap := now - m.seen
	m.seen = now
	switch late := m.tickEvery() + m.cfg.BeaconEvery/4; {
	case !m.begun:
		m.begun = true
	case gap <= late:
		m.silence += gap
	case gap >= m.Lease || !m.forgiven:
		m.silence, m.forgiven = 0, true
	default:
		m.silence += m.tickEvery()
	}
}

// verdict says whether a beacon counts.
type verdict uint8

const (
	counts   verdict = iota
	repeated         // an old one
	forged           // one that no honest master sends
)

// work tells what the engine here does. It comes before hear, look and next.
func (m *mastership) work(able, runs bool) { m.able, m.runs = able, runs }

// hear takes a beacon in: steps 2 and 3.
func (m *mastership) hear(from Address, b *Beacon) (d decision, v verdict) {
	if from.Peer == m.self || b.Seq == 0 || b.Seq > maxSeq || b.Rank != m.ranks.of(from.Peer) {
		return d, forged
	}
	fresh, first := m.note(from, b.Seq)
	if !fresh {
		return d, repeated
	}
	d.Newcomer = first
	m.worked = m.worked || !first && !b.Waiting
	m.silence, m.forgiven = 0, false
	its := claim{from.Peer, b.Waiting}
	d.StepDown = m.master && m.ranks.before(its, m.claim())
	d.Ended = m.follow(from, its, d.StepDown)
	switch {
	case d.StepDown:
		m.master = false
	case m.master && m.seen-m.sentAt >= m.cfg.BeaconEvery/4:
		d.Send = m.beacon()
	}
	return d, counts
}

// follow notes who is master, and says whose root has ended if that is news: of several masters it is that of
// all but the first.
func (m *mastership) follow(from Address, its claim, instead bool) (ended PeerID) {
	old := m.leader.Peer
	switch {
	case instead:
		old = m.self
	case m.master:
		return m.hasEnded(from.Peer)
	case old == from.Peer:
		old = ""
	case old != "" && m.ranks.before(m.claims, its) && m.seen-m.leaderAt < m.Lease/2:
		if !its.waiting {
			m.second, m.secondAt = from, m.seen
		}
		return m.hasEnded(from.Peer) // the old one has not fallen silent, and comes first
	}
	m.leader, m.claims, m.leaderAt = from, its, m.seen
	if its.waiting && m.second.Peer != "" && m.seen-m.secondAt < m.Lease/2 {
		m.leader, m.claims = m.second, claim{id: m.second.Peer} // it has taken what waits, and was heard before that
		old = from.Peer
	}
	return m.hasEnded(old)
}

// Who is master, as far as is known here; of several the first. It is "" if none was heard for a lease, and for others
// than the owner of a run that is verified, who hear of none.
func (m *mastership) Who() PeerID {
	switch {
	case m == nil:
		return ""
	case m.master:
		return m.self
	case m.leader.Peer != "" && m.seen-m.leaderAt < m.Lease:
		return m.leader.Peer
	}
	return ""
}

// follows is whose beacons are waited for: the owner's until another's are heard.
func (m *mastership) follows() PeerID { return cmp.Or(m.leader.Peer, m.ranks.deputies[0]) }

// hasEnded says so once a lease of each.
func (m *mastership) hasEnded(id PeerID) PeerID {
	if id == "" || m.hasJustEnded(id, m.Lease) {
		return ""
	}
	m.ended, m.endedAt = id, m.seen
	return id
}

// hasJustEnded says whether a peer's root has ended within the last d, as far as is known here.
func (m *mastership) hasJustEnded(id PeerID, d time.Duration) bool {
	return m != nil && id == m.ended && m.seen-m.endedAt < d
}

// claim is what this peer says of itself as master.
func (m *mastership) claim() claim {
	waits := m.answered == nil && !m.runs && !m.able && m.seen >= m.grace
	return claim{m.self, waits}
}

// note enters a beacon's number: whether it is news, and the first of its sender's life.
func (m *mastership) note(from Address, seq uint64) (fresh, first bool) {
	i := slices.IndexFunc(m.heralds, func(h herald) bool { return h.id == from.Peer })
	if i < 0 {
		i = len(m.heralds)
		if i < maxHeralds {
			m.heralds = append(m.heralds, herald{})
		} else {
			i = 0
			for k := range m.heralds {
				if m.heralds[k].heard < m.heralds[i].heard {
					i = k
				}
			}
		}
		m.heralds[i] = herald{id: from.Peer}
	}
	h := &m.heralds[i]
	if from.Inc < h.inc || from.Inc == h.inc && seq <= h.seq {
		return false, false
	}
	first = from.Inc > h.inc || h.seq == 0
	h.inc, h.seq, h.heard = from.Inc, seq, m.seen
	return true, first
}

// over notes that a peer's lives below floor are over. If the master was one of them, nothing is to be waited
// for but another master's beacon.
func (m *mastership) over(id PeerID, floor Incarnation) {
	if m == nil {
		return
	}
	if i := slices.IndexFunc(m.heralds, func(h herald) bool { return h.id == id }); i >= 0 && m.heralds[i].inc < floor {
		m.heralds[i].inc, m.heralds[i].seq = floor, 0
	}
	if m.leader.Peer == id && m.leader.Inc < floor {
		m.leader.Inc = floor // its next life listens for a lease first and is no rival either
		m.claims.waiting = false
		m.Lease = m.cfg.MasterLease
		m.silence = max(m.silence, m.Lease-m.cfg.BeaconEvery)
	}
}

// look decides whether it is time to begin, or to send: step 4.
func (m *mastership) look(alive func(PeerID) bool) (d decision) {
	if !m.master && !m.due(alive) {
		if m.silence >= m.warning() {
			d.Ended = m.hasEnded(m.leader.Peer)
		}
		return d
	}
	if !m.master {
		if m.fresh {
			m.grace = m.seen + m.cfg.BeaconEvery
		}
		m.master, m.fresh = true, false
		m.starts = m.answered == nil // one that has the answer has only to say so
		if m.startAt = m.seen; m.worked && m.offered() {
			m.startAt += m.cfg.BeaconEvery / 2
		}
		d.Ended = m.hasEnded(m.leader.Peer)
		m.beaconAt = m.seen
	}
	if d.Start = m.starts && m.seen >= m.startAt; d.Start {
		m.starts = false
	}
	if m.seen >= m.beaconAt {
		d.Send = m.beacon()
	}
	return d
}

// warning is the silence after which two beacons are missing: time to tell of what the next master could use,
// before it begins.
func (m *mastership) warning() time.Duration { return m.Lease - m.cfg.BeaconEvery/2 }

// due says whether it is time to begin.
func (m *mastership) due(alive func(PeerID) bool) bool {
	if m.fresh || m.mayTake(alive) {
		return true
	}
	m.patience = m.Lease
	if m.silence < m.patience {
		return false
	}
	m.patience += stagger(m.ahead(alive), m.cfg.RankStagger)
	return m.silence >= m.patience
}

// mayTake is step 5.
func (m *mastership) mayTake(alive func(PeerID) bool) bool {
	switch {
	case !m.offered():
		m.offerAt = 0
		return false
	case m.offerAt == 0:
		m.offerAt = m.seen + stagger(m.ahead(alive), m.cfg.RankStagger/16)
	}
	return m.seen >= m.offerAt
}

// offered says whether the master may use no core, and this peer may.
func (m *mastership) offered() bool { return m.able && m.claims.waiting }

// ahead counts the members that rank before this peer and might act, but the master.
func (m *mastership) ahead(alive func(PeerID) bool) (n int) {
	if !m.looked { // ranking all members takes a hash of each, and most changes of membership meet no silent master
		m.rivals, m.looked = m.ranks.better(m.members, m.self), true
	}
	for _, id := range m.rivals {
		if id != m.leader.Peer && alive(id) {
			n++
		}
	}
	return n
}

// beacon numbers the next one.
func (m *mastership) beacon() *Beacon {
	m.seq++
	m.sentAt, m.beaconAt = m.seen, m.seen+m.cfg.BeaconEvery
	return &Beacon{Rank: m.ranks.of(m.self), Seq: m.seq, Answered: m.answered, Waiting: m.claim().waiting}
}

// finished says that the root has an outcome here. The next look tells everybody.
func (m *mastership) finished(outcome [16]byte) {
	m.answered = &outcome
	m.beaconAt = m.seen
}

// next is when to look again.
func (m *mastership) next() time.Duration {
	if m.master {
		if m.starts {
			return min(m.beaconAt, m.startAt)
		}
		return m.beaconAt
	}
	if m.fresh {
		return m.seen
	}
	if m.offered() {
		return max(m.seen, m.offerAt)
	}
	until := m.patience
	if warning := m.warning(); m.silence < warning {
		until = warning
	}
	return m.seen + min(m.tickEvery(), max(until-m.silence, 0))
}
