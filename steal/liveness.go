package steal

import "time"

// watch makes sure that a peer about to become a partner starts with a full measure of time to be heard, and that
// heartbeats to it are under way.
func (c *Core) watch(p *peer) {
	if !p.watched() {
		p.heard = c.now
	}
	c.startBeating(p)
}

// startBeating schedules the first heartbeat to a partner.
func (c *Core) startBeating(p *peer) {
	if p.beatAt == 0 {
		p.beatAt = c.now + c.period(p)
		c.beatSoon(p.beatAt)
	}
}

// beatSoon sees to it that the next round of heartbeats is not later than that.
func (c *Core) beatSoon(at time.Duration) {
	if c.heartbeatAt == 0 || at < c.heartbeatAt {
		c.heartbeatAt = at
	}
}

// period is the time between two heartbeats to a peer. Across clusters they share slow links with everything
// else: there one is sent every ten round trips, so when a link is congested and the round trip grows,
// heartbeats get rarer and the link can recover.
func (c *Core) period(p *peer) time.Duration {
	if p.cluster == c.cluster {
		return c.cfg.HeartbeatEvery
	}
	l := c.links.get(p.cluster)
	return min(max(c.cfg.WideHeartbeatEvery, 10*l.RTT), c.cfg.MaxHeartbeatEvery)
}

// silence is how long a partner may be silent before it is lost: so many of its own periods, or of this
// peer's if they are longer, which tell how slow the link is from here.
func (c *Core) silence(p *peer) time.Duration {
	return time.Duration(c.cfg.HeartbeatMisses) * max(c.period(p), p.every)
}

// noticeStall gives every partner the time for which this peer itself did not run: after a suspended laptop
// or a starved process the others' messages are still in the queue, and a core that looked at the clock first
// would believe them all dead. (Lifeguard's point: suspect yourself first.)
func (c *Core) noticeStall() {
	late := c.now - c.heartbeatAt
	if c.heartbeatAt == 0 || late <= c.cfg.HeartbeatEvery/2 {
		return
	}
	c.stats.Stalls++
	for _, p := range c.peers.list {
		p.heard += late
		if p.expects > 0 {
			p.expects += late
		}
	}
	c.heartbeatAt = c.now // due at once, and no longer late
}

// beat sends the heartbeats that are due, after looking for partners that have been silent for too long.
// Their jobs are queued again. What is held for them goes on for a while: a partner that is heard again knows
// what it still wants, and only a peer that says so, or stays away, is certainly gone.
func (c *Core) beat() {
	if c.heartbeatAt == 0 || c.now < c.heartbeatAt {
		return
	}
	c.heartbeatAt = 0
	for _, p := range c.peers.list {
		if p.beatAt == 0 {
			continue
		}
		if p.beatAt <= c.now {
			c.look(p)
			p.beatAt = 0
			if p.partner(c.now) {
				c.sendHeartbeat(p)
				p.beatAt = c.now + c.period(p)
			}
		}
		if p.beatAt > 0 {
			c.beatSoon(p.beatAt)
		}
	}
}

// look decides whether a partner is lost.
func (c *Core) look(p *peer) {
	silent, limit := c.now-p.heard, c.silence(p)
	if !p.watched() || silent <= limit {
		return
	}
	if !p.lost {
		p.lost = true
		c.stats.PeersLost++
		c.suspectThief(p)
		c.suspectOwner(p)
	}
	if silent > orphanFactor*limit {
		c.loseOwner(p)
	}
}

// orphanFactor is how much longer than a thief an owner may be silent.
const orphanFactor = 3

func (c *Core) sendHeartbeat(p *peer) {
	c.beats++
	h := &Heartbeat{Seq: c.beats, Every: c.period(p), Seen: p.seen, Leases: len(p.leases), Queued: c.queued()}
	if len(p.held) > 0 {
		h.Held = make([]Handle, len(p.held))
		for i, s := range p.held {
			h.Held[i] = s.handle
		}
	}
	c.send(p, &Message{Heartbeat: h})
}

// onHeartbeat reads a partner's inventory. An old or repeated one would count a miss twice.
func (c *Core) onHeartbeat(p *peer, h *Heartbeat) {
	if h.Seq <= p.seen {
		c.stats.DroppedDuplicate++
		return
	}
	p.seen, p.every = h.Seq, min(h.Every, c.cfg.MaxHeartbeatEvery)
	p.known.Queued, p.known.Heard = h.Queued, c.now
	if h.Leases > 0 {
		p.expects = c.now + 5*max(p.every, c.period(p))/2
		c.startBeating(p)
	}
	c.takeInventory(p, h)
}

// onGoodbye is the loss of a partner that says so itself.
func (c *Core) onGoodbye(p *peer) {
	c.stats.PeersLeft++
	c.lose(p)
	p.floor, p.lost = p.inc+1, true
	c.masters.over(p.id, p.floor)
	p.begin(0)
}

// reborn notes that a peer has begun a new life, and that everything of the old one is lost.
func (c *Core) reborn(p *peer, inc Incarnation) {
	if p.inc != 0 {
		c.stats.PeersLost++
		c.lose(p)
	}
	c.loseAdopted(p, inc)
	c.masters.over(p.id, inc)
	p.begin(inc)
}
