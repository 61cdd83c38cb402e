package steal

import "time"

// watch makes sure that a peer about to become a partner starts with a full measure of time to be heard, and that
// heartbeats are under way.
func (c *Core) watch(p *peer) {
	if !p.watched() {
		p.heard = c.now
	}
	c.startBeating()
}

func (c *Core) startBeating() {
	if c.heartbeatAt == 0 {
		c.heartbeatAt = c.now + c.cfg.HeartbeatEvery
	}
}

// noticeStall gives every partner the time for which this peer itself did not run: after a suspended laptop or a starved
// process the others' messages are still in the queue, and a core that looked at the clock first would believe them all dead.
// (Lifeguard's point: suspect yourself first.)
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

// beat sends a round of heartbeats when one is due, after looking for partners that have been silent for too long.
func (c *Core) beat() {
	if c.heartbeatAt == 0 || c.now < c.heartbeatAt {
		return
	}
	silence := time.Duration(c.cfg.HeartbeatMisses) * c.cfg.HeartbeatEvery
	partners := 0
	for _, p := range c.peers.list {
		if p.watched() && c.now-p.heard > silence {
			p.lost = true
			c.stats.PeersLost++
			c.lose(p)
		}
		if p.partner(c.now) {
			partners++
			c.sendHeartbeat(p)
		}
	}
	c.heartbeatAt = 0
	if partners > 0 {
		c.heartbeatAt = c.now + c.cfg.HeartbeatEvery
	}
}

func (c *Core) sendHeartbeat(p *peer) {
	c.beats++
	h := &Heartbeat{Seq: c.beats, Seen: p.seen, Leases: len(p.leases), Queued: c.queued()}
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
	p.seen = h.Seq
	p.known.Queued, p.known.Heard = h.Queued, c.now
	if h.Leases > 0 {
		p.expects = c.now + 5*c.cfg.HeartbeatEvery/2
		c.startBeating()
	}
	c.takeInventory(p, h)
}

// onGoodbye is the loss of a partner that says so itself.
func (c *Core) onGoodbye(p *peer) {
	c.stats.PeersLeft++
	c.lose(p)
	p.floor, p.lost = p.inc+1, true
	p.begin(0)
}

// reborn notes that a peer has begun a new life, and that everything of the old one is lost.
func (c *Core) reborn(p *peer, inc Incarnation) {
	if p.inc != 0 {
		c.stats.PeersLost++
		c.lose(p)
	}
	p.begin(inc)
}

// leave says goodbye to everybody who counts on this peer, and stops.
func (c *Core) leave() {
	for _, p := range c.peers.list {
		if p.partner(c.now) || c.flightTo(p.id) >= 0 || c.asking(p) {
			c.send(p, &Message{Goodbye: &Goodbye{}})
		}
		for _, s := range p.held {
			if s.state == running {
				c.order(Order{Kind: AbortSegment, Segment: s.id})
			}
		}
	}
	c.left = true
}
