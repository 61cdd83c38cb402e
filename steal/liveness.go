package steal

import (
	"slices"
	"time"
)

// liveness decides who is gone: it exchanges heartbeats with partners, and follows their lives.
type liveness struct {
	*shared
	partners    *partners
	segments    *segments
	book        *book
	inventories *inventories
	losses      *losses
	masters     *mastership
}

// noticeStall gives every partner the time for which this peer itself did not run: after a suspended laptop
// or a starved process the others' messages are still in the queue, and a core that looked at the clock first
// would believe them all dead. (Lifeguard's point: suspect yourself first.)
func (lv *liveness) noticeStall() {
	late := lv.now - lv.partners.heartbeatAt
	if lv.partners.heartbeatAt == 0 || late <= lv.cfg.HeartbeatEvery/2 {
		return
	}
	lv.stats.Stalls++
	for _, p := range lv.partners.list {
		p.heard += late
		if p.expects > 0 {
			p.expects += late
		}
	}
	lv.partners.heartbeatAt = lv.now // due at once, and no longer late
}

// beat sends the heartbeats that are due, after looking for partners that have been silent for too long.
// Their jobs are queued again. What is held for them goes on for a while: a partner that is heard again knows
// what it still wants, and only a peer that says so, or stays away, is certainly gone.
func (lv *liveness) beat() {
	if lv.partners.heartbeatAt == 0 || lv.now < lv.partners.heartbeatAt {
		return
	}
	for _, b := range lv.partners.nextRound() {
		if p := b.to; b.at <= lv.now {
			lv.look(p)
			if p.beating = p.partner(lv.now); !p.beating {
				continue
			}
			lv.sendHeartbeat(p)
			b.at = lv.now + lv.partners.period(p)
		}
		lv.partners.beatAgain(b)
	}
}

// look decides whether a partner is lost. What is held for it is told one period before: others, who look at other
// moments, are to know of that when they begin its jobs anew. It is told again then, for what was begun meanwhile, and
// once more when it is lost for good, though a copy of what that peer has may go on here for long.
func (lv *liveness) look(p *peer) {
	silent, limit := lv.now-p.heard, lv.partners.silence(p)
	if !p.matters() || silent <= limit-lv.partners.period(p) {
		return
	}
	if !p.suspected() {
		p.silent = true
		lv.losses.suspectOwner(p)
	}
	if silent <= limit {
		return
	}
	if !p.lost {
		p.lost, p.spoke = true, false
		lv.stats.PeersLost++
		lv.losses.suspectThief(p)
		lv.losses.suspectOwner(p)
	}
	if silent > orphanFactor*limit && len(p.held) > 0 {
		lv.losses.loseOwner(p)
	}
}

// orphanFactor is how much longer than a thief an owner may be silent.
const orphanFactor = 3

// noticing is about how long it takes until a lost owner is noticed everywhere.
func (s *shared) noticing() time.Duration {
	return orphanFactor * time.Duration(s.cfg.HeartbeatMisses) * s.cfg.WideHeartbeatEvery
}

func (lv *liveness) sendHeartbeat(p *peer) {
	lv.partners.beats++
	h := &Heartbeat{Seq: lv.partners.beats, Every: lv.partners.period(p), Seen: p.seen, Leases: len(p.leases),
		Queued: lv.segments.queued(), Still: lv.standsStill(lv.cfg.HeartbeatEvery)}
	if len(p.held) > 0 {
		h.Held = make([]Handle, len(p.held))
		for i, s := range p.held {
			h.Held[i] = s.handle
		}
	}
	lv.send(p, &Message{Heartbeat: h})
}

// onHeartbeat reads a partner's inventory. An old or repeated one would count a miss twice.
func (lv *liveness) onHeartbeat(p *peer, h *Heartbeat) {
	if h.Seq <= p.seen {
		lv.stats.DroppedDuplicate++
		return
	}
	beats := h.Seq - p.seen
	p.seen, p.every, p.still = h.Seq, min(h.Every, lv.cfg.MaxHeartbeatEvery), h.Still
	p.known.Queued, p.known.Heard = h.Queued, lv.now
	if h.Leases > 0 {
		p.expects = lv.now + 5*max(p.every, lv.partners.period(p))/2
		lv.partners.startBeating(p)
	}
	for _, l := range lv.inventories.take(p, h, beats) {
		if l.copy == nil {
			continue // the partner has it as an orphan, which a copy let go before had adopted
		}
		lv.losses.letGo(l.copy)
		lv.book.dropCopy(l)
	}
}

// onGoodbye is the loss of a partner that says so itself, and which parts of the jobs it had from here others have.
func (lv *liveness) onGoodbye(p *peer, parts []Tuple) {
	lv.stats.PeersLeft++
	if !lv.salvaging() || lv.run.Proving {
		parts = nil // no lost work is looked for
	}
	for _, u := range parts {
		if slices.ContainsFunc(p.leases, func(l *lease) bool { return atOrAbove(l.job.Path, u.Path) }) {
			lv.losses.lost.learnFromOther(u)
		}
	}
	lv.losses.lose(p)
	p.floor, p.lost = p.inc+1, true
	lv.masters.over(p.id, p.floor)
	p.begin(0)
}

// reborn notes that a peer has begun a new life, and that everything of the old one is lost.
func (lv *liveness) reborn(p *peer, inc Incarnation) {
	if p.inc != 0 {
		lv.stats.PeersLost++
		lv.losses.lose(p)
	}
	lv.losses.loseAdopted(p, inc)
	lv.masters.over(p.id, inc)
	p.begin(inc)
}

func (lv *liveness) onHunger(p *peer, h *Hunger) {
	if h.Seq <= p.hungerID {
		lv.stats.DroppedDuplicate++
		return
	}
	p.hungerID = h.Seq
	p.known.Queued, p.known.Heard = h.Queued, lv.now
}
