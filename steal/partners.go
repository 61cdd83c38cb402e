package steal

import (
	"cmp"
	"slices"
	"time"

	"github.com/satin-peer/satin/steal/policy"
)

// partners are the peers that a core knows, and when it owes which of them a heartbeat: those between which and this
// one jobs are out.
type partners struct {
	*shared
	peerTable
	heartbeatAt time.Duration    // the next round of heartbeats; 0 without partners
	beating     []beat           // to whom, and when: so that a round looks at no other peer
	lastRound   []beat           // its other half: room for the next one
	beats       uint64           // heartbeats sent, to whomever
	talking     func(*peer) bool // says whether a request between the two is being dealt with
}

// beat is the next heartbeat to a peer.
type beat struct {
	at time.Duration
	to *peer
}

func newPartners(s *shared) *partners { return &partners{shared: s} }

// meet finds the peer or enters it; nil if there is no room.
func (ps *partners) meet(id PeerID) *peer {
	if p := ps.find(id); p != nil {
		return p
	}
	return ps.add(ps.stranger(id), ps.cfg.MaxPartners, func(p *peer) bool {
		return p.partner(ps.now) || ps.talking(p) || p.shunned || ps.now < max(p.credit.until, p.rests)
	})
}

// stranger is a peer of which only the membership is known.
func (ps *partners) stranger(id PeerID) *peer {
	m, _ := ps.members.Find(id)
	return &peer{id: id, cluster: m.Cluster, credit: credit{most: firstCredit}}
}

// listenTo makes sure that a peer about to become a partner starts with a full measure of time to be heard, and that
// heartbeats to it are under way.
func (ps *partners) listenTo(p *peer) {
	if !p.matters() {
		p.heard = ps.now
	}
	ps.startBeating(p)
}

// startBeating schedules the first heartbeat to a partner.
func (ps *partners) startBeating(p *peer) {
	if !p.beating {
		p.beating = true
		ps.beatAgain(beat{ps.now + ps.period(p), p})
	}
}

// beatAgain enters a peer for the rounds of heartbeats, of which the next is not later than its own.
func (ps *partners) beatAgain(b beat) {
	ps.beating = append(ps.beating, b)
	if ps.heartbeatAt == 0 || b.at < ps.heartbeatAt {
		ps.heartbeatAt = b.at
	}
}

// beatNow makes the next heartbeat to a partner due at once.
func (ps *partners) beatNow(p *peer) {
	for i := range ps.beating {
		if b := &ps.beating[i]; b.to == p {
			b.at, ps.heartbeatAt = ps.now, ps.now
		}
	}
}

// nextRound returns who is entered, and enters nobody: whoever is to stay, or begins meanwhile, is entered again.
func (ps *partners) nextRound() (round []beat) {
	round = ps.beating
	ps.beating, ps.lastRound, ps.heartbeatAt = ps.lastRound[:0], round, 0
	return round
}

// period is the time between two heartbeats to a peer. Across clusters they share slow links with everything
// else: there one is sent every ten round trips, so when a link is congested and the round trip grows,
// heartbeats get rarer and the link can recover.
func (ps *partners) period(p *peer) time.Duration {
	if p.cluster == ps.cluster {
		return ps.cfg.HeartbeatEvery
	}
	l := ps.links.get(p.cluster)
	return min(max(ps.cfg.WideHeartbeatEvery, 10*l.RTT), ps.cfg.MaxHeartbeatEvery)
}

// silence is how long a partner may be silent before it is lost: so many of its own periods, or of this
// peer's if they are longer, which tell how slow the link is from here.
func (ps *partners) silence(p *peer) time.Duration {
	return time.Duration(ps.cfg.HeartbeatMisses) * max(ps.period(p), p.every)
}

// forgiven says whether a lost peer may be asked for work again. Silence is often mutual: two that have given each
// other up, behind a link that was down, have no job out between them any more, and if both waited to hear of the other
// they would not speak in this run again. So one that is only silent, and still a member, is asked now and then
// (thief.steal counts its silence anew); one that is gone is no member before long.
func (ps *partners) forgiven(p *peer) bool {
	return !p.matters() && !p.shunned && p.inc >= p.floor && ps.now-p.heard >= forgivenAfter*ps.silence(p)
}

// forgivenAfter is how much longer than what makes it lost a peer's silence is when it is asked again.
const forgivenAfter = 10

// rested is when the first peer has rested, unless something else is earlier; 0 is never.
func (ps *partners) rested(at time.Duration) time.Duration {
	for _, p := range ps.list {
		if p.rests > ps.now && (at == 0 || p.rests < at) {
			at = p.rests
		}
	}
	return at
}

// peer is what the core remembers of another peer. It is a partner while jobs are out between the two, in
// either direction, or while the other believes so; only partners are listened to and sent heartbeats. Others are
// acquaintances, and make room for new ones in turn. A core may know hundreds, most of them acquaintances: so each byte
// of it is memory (TestPeerIsSmall).
type peer struct {
	id       PeerID
	cluster  ClusterID
	inc      Incarnation // its present life; 0 while it has not been heard
	floor    Incarnation // lives below this one are over
	heard    time.Duration
	lost     bool // fell silent as a partner, or said goodbye; cleared by any message of a life that counts
	silent   bool // will be lost unless it is heard within a period; cleared by any message
	spoke    bool // it was lost, and has told everybody something since: so it can be asked for that
	shunned  bool // it was caught: nothing is cleared
	mute     bool // it has never been heard, and has not answered: it may be gone
	farewell bool // it is to hear the goodbye of this peer, which leaves
	beating  bool // a heartbeat to it is under way
	still    bool // it has no core, as it said last

	rests  time.Duration // until then it gives no job that names something, since one went back
	wasted time.Duration // for how long what its jobs name was waited for in vain, up to mostTrial

	leases []*lease   // my jobs that it holds, by handle
	held   []*segment // its jobs that I hold, by handle
	done   []Handle   // its handles that were closed here most recently, so that a repeated reply is known

	disowned []Handle // handles of mine that it was told to be disowned, last ones

	credit   credit        // what it may have of this peer's jobs
	askSeq   RequestID     // the highest request of its present life
	expects  time.Duration // until when it counts on heartbeats from here
	every    time.Duration // the period that its last heartbeat announced
	seen     uint64        // Seq of the last heartbeat from it
	hungerID uint64        // Seq of the last Hunger from it
	known    policy.Acquaintance
}

// partner says whether jobs are out between the two, or the other believes so.
func (p *peer) partner(now time.Duration) bool {
	return p.matters() || now < p.expects
}

// matters says whether the peer's silence would matter here.
func (p *peer) matters() bool { return len(p.leases) > 0 || len(p.held) > 0 }

// suspected says that it is lost, or will be soon: others are to know what is at work here for it.
func (p *peer) suspected() bool { return p.lost || p.silent }

func (p *peer) addr() Address { return Address{Peer: p.id, Inc: p.inc} }

// mayGive says whether it may give a job that names something: not while it rests nor, on trial, while what another one
// of it names is on its way.
func (p *peer) mayGive(now time.Duration) bool {
	return now >= p.rests &&
		(!p.onTrial(now) || !slices.ContainsFunc(p.held, func(s *segment) bool { return s.state == fetching }))
}

// onTrial says whether it gives one job at a time, as its jobs were waited for in vain, for as long again.
func (p *peer) onTrial(now time.Duration) bool { return now < p.rests+p.wasted }

// inVain counts that what one of its jobs names was waited for: not what was counted for the last one that went back,
// nor time in which nobody would have waited, as this peer did not run.
func (p *peer) inVain(since, now time.Duration) {
	p.wasted = min(p.wasted+min(max(0, now-max(since, p.rests)), mostWait), mostTrial)
}

// begin opens a life: all that was numbered in the last one starts again.
func (p *peer) begin(inc Incarnation) {
	p.inc = inc
	p.askSeq, p.seen, p.hungerID, p.done, p.still = 0, 0, 0, nil, false
}

// findLease and findHeld look a handle up.
func (p *peer) findLease(h Handle) (int, bool) {
	return slices.BinarySearchFunc(p.leases, h, func(l *lease, h Handle) int { return cmp.Compare(l.handle, h) })
}

func (p *peer) findHeld(h Handle) (int, bool) {
	return slices.BinarySearchFunc(p.held, h, func(s *segment, h Handle) int { return cmp.Compare(s.handle, h) })
}

// closed remembers that the peer's handle is finished with here.
func (p *peer) closed(h Handle) {
	if len(p.done) == mostDone {
		p.done = slices.Delete(p.done, 0, 1)
	}
	p.done = append(p.done, h)
}

const mostDone = 8

// peerTable holds the peers in a fixed order. Iteration follows that order, never a map's.
type peerTable struct {
	list  []*peer
	index map[PeerID]*peer
	hand  int // where the search for one to forget goes on
}

func (t *peerTable) find(id PeerID) *peer { return t.index[id] }

// add enters a peer. In a full table it takes the place of the next acquaintance in turn; nil if all are in use.
func (t *peerTable) add(p *peer, limit int, inUse func(*peer) bool) *peer {
	if t.index == nil {
		t.index = make(map[PeerID]*peer)
	}
	if len(t.list) < limit {
		t.list = append(t.list, p)
		t.index[p.id] = p
		return p
	}
	for range t.list {
		t.hand = (t.hand + 1) % len(t.list)
		if old := t.list[t.hand]; !inUse(old) {
			delete(t.index, old.id)
			t.list[t.hand] = p
			t.index[p.id] = p
			return p
		}
	}
	return nil
}
