package steal

import "slices"

// carryOutPlan asks the policy what to do and does it, within the bounds. While the gap after a failed steal
// runs, the policy is not asked at all: the tick at its end will.
func (c *Core) carryOutPlan() {
	if c.now < c.notBefore {
		c.wakeAt = c.notBefore
		return
	}
	p := &c.planned
	p.reset()
	c.policy.Plan(&c.view, p)
	c.wakeAt = p.wake
	for _, id := range p.refuses {
		c.refuseAsk(id)
	}
	for _, to := range p.tells {
		c.tell(to)
	}
	for _, x := range p.pushes {
		c.push(x.thief, x.max)
	}
	for _, s := range p.steals {
		c.steal(s)
	}
}

// room is how many more stolen jobs this peer may hold.
func (c *Core) room() int {
	if c.unackedN >= c.cfg.MaxUnackedBytes || c.leaving != nil {
		return 0
	}
	return min(c.cfg.MaxWaiting-len(c.waiting), c.cfg.MaxSegments-len(c.segments))
}

// steal sends one request.
func (c *Core) steal(s plannedSteal) {
	if _, ok := c.members.Find(s.victim); !ok || s.victim == c.self.Peer || c.flightTo(s.victim) >= 0 {
		return
	}
	n := max(0, min(s.max, c.room(), c.cfg.MaxBatch))
	if s.max > 0 && n <= 0 || len(c.flights) >= c.cfg.MaxFlights {
		return
	}
	p := c.meet(s.victim)
	if p == nil {
		return
	}
	c.lastReq++
	f := Flight{Victim: p.id, Cluster: p.cluster, Wide: p.cluster != c.cluster, Max: n, Since: c.now,
		Patience: s.patience, request: c.lastReq}
	f.Deadline = c.now + s.patience + max(c.cfg.StealTimeout, 4*c.links.lastSteal(p.cluster))
	c.flights = append(c.flights, f)
	if f.Wide {
		c.stats.StealsSentWide++
	} else {
		c.stats.StealsSentLocal++
	}
	c.send(p, &Message{Request: &StealRequest{ID: f.request, Max: n, Patience: s.patience}})
}

// onReply takes stolen jobs in. A reply that comes after its request was given up, and a push, are as welcome
// as one that was waited for: the victim has given the jobs away and entered the lease.
func (c *Core) onReply(p *peer, m *Message) {
	r := m.Reply
	i := slices.IndexFunc(c.flights, func(f Flight) bool { return f.request == r.ID && f.Victim == p.id })
	switch {
	case i >= 0:
		f := c.flights[i]
		c.flights = slices.Delete(c.flights, i, i+1)
		c.links.stole(p.cluster, c.now-f.Since-r.Waited, m.Size())
		c.landed(&f, len(r.Jobs) > 0)
	case r.ID != 0:
		c.stats.LateReplies++
	}
	p.known.Queued, p.known.Heard = r.Queued, c.now
	if len(r.Jobs) == 0 {
		p.known.Refused = c.now
		return
	}
	var noRoom []Handle
	for k := range r.Jobs {
		g := &r.Jobs[k]
		switch _, held := p.findHeld(g.Handle); {
		case held || slices.Contains(p.done[:], g.Handle):
			c.stats.DroppedDuplicate++
		case c.room() <= 0:
			noRoom = append(noRoom, g.Handle)
		default:
			c.hold(p, g)
			if p.cluster == c.cluster {
				c.stats.JobsTakenLocal++
			} else {
				c.stats.JobsTakenWide++
			}
		}
	}
	if len(noRoom) > 0 {
		slices.Sort(noRoom)
		c.send(p, &Message{Return: &Return{Handles: slices.Compact(noRoom)}})
	}
}

// landed counts how a request ended; a probe cannot fail.
func (c *Core) landed(f *Flight, won bool) {
	if f.Max == 0 {
		c.reports++ // what was learned may let waiting requests through
		return
	}
	c.links.ended(f.Cluster, won)
	if !won {
		c.failed()
		return
	}
	c.failures = 0
	if f.Wide {
		c.stats.StealsWonWide++
	} else {
		c.stats.StealsWonLocal++
	}
}

// failed notes a steal that brought nothing: the next one has to wait for the gap.
func (c *Core) failed() {
	c.failures++
	c.notBefore = c.now + c.cfg.StealGap
}

// flightTo finds the request to a victim, or -1.
func (c *Core) flightTo(victim PeerID) int {
	return slices.IndexFunc(c.flights, func(f Flight) bool { return f.Victim == victim })
}

// expireFlights gives up requests that were not answered in time.
func (c *Core) expireFlights() {
	c.flights = slices.DeleteFunc(c.flights, func(f Flight) bool {
		if c.now < f.Deadline {
			return false
		}
		c.stats.StealsTimedOut++
		c.links.timedOut(f.Cluster, c.now-f.Since-f.Patience)
		c.landed(&f, false)
		return true
	})
}

// flightFailed ends the request that could not be written.
func (c *Core) flightFailed(victim PeerID, id RequestID) {
	if i := c.flightTo(victim); i >= 0 && c.flights[i].request == id {
		c.dropFlight(victim)
	}
}

// dropFlight ends the request to a victim that is gone.
func (c *Core) dropFlight(victim PeerID) {
	if i := c.flightTo(victim); i >= 0 {
		f := c.flights[i]
		c.flights = slices.Delete(c.flights, i, i+1)
		c.landed(&f, false)
	}
}

// tell sends this peer's load to another one.
func (c *Core) tell(to PeerID) {
	if _, ok := c.members.Find(to); !ok || to == c.self.Peer {
		return
	}
	if p := c.meet(to); p != nil {
		c.hunger++
		c.send(p, &Message{Hunger: &Hunger{Seq: c.hunger, Queued: c.queued(), Idle: c.idle()}})
	}
}
