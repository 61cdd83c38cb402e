package steal

import (
	"time"
)

// Inputs of recovery: gossip, outcomes of the engine and of checkpoints, jobs that are known elsewhere.

// Hear takes gossip in. It may be anything at all: what does not make sense is counted and dropped. What it
// says of its sender is believed, so the adapter has to see to it that it comes from there.
func (c *Core) Hear(now time.Duration, n *News) Output {
	if !c.begin(now) {
		return c.out
	}
	c.hear(n)
	return c.end()
}

func (c *Core) hear(n *News) {
	switch {
	case n.Run != c.run.ID || n.From.Peer == c.self.Peer:
		c.stats.DroppedForeign++
		return
	case n.Validate() != nil:
		c.stats.DroppedMalformed++
		return
	}
	if n.Master != nil && !c.run.Proving {
		c.leading.onBeacon(n.From, n.Master)
	}
	if len(n.Tuples) == 0 && !n.Goodbye || !c.salvaging() || c.run.Proving {
		return
	}
	member := c.isMember(n.From.Peer)
	p := c.partners.find(n.From.Peer)
	switch {
	case !member && !(n.Goodbye && p != nil): // whoever is no member any more has gone all the same
		c.stats.DroppedUnexpected++
		return
	case p != nil && n.Goodbye && n.From.Inc+1 == p.floor:
		return // it has said so to this peer itself
	case p != nil && (p.shunned || n.From.Inc < max(p.inc, p.floor)):
		c.stats.DroppedStale++
		return
	case p != nil && n.From.Inc > p.inc:
		c.liveness.reborn(p, n.From.Inc)
	}
	if p != nil && p.lost && p.inc == n.From.Inc && !n.Goodbye {
		p.spoke, c.lost.reconsider = true, true
	}
	for _, u := range n.Tuples {
		if u.Holder == n.From { // nobody speaks for others
			c.lost.learn(u)
		}
	}
	c.losses.answerOrphans(n.From, n.Tuples)
	switch {
	case n.Goodbye && p != nil:
		c.liveness.onGoodbye(p, nil)
	case n.Goodbye:
		if p = c.partners.meet(n.From.Peer); p != nil { // it is a member until the membership says otherwise
			p.floor, p.lost = n.From.Inc+1, true
		}
		c.Masters.over(n.From.Peer, n.From.Inc+1)
		c.lost.tuples.dropHolder(n.From.Peer, n.From.Inc+1)
		c.lost.announceKept(n.From.Peer)
	}
}

// Keep takes in the outcomes of long jobs that ran in place here, not of aborted ones.
func (c *Core) Keep(now time.Duration, parts []Partial) Output {
	if !c.begin(now) {
		return c.out
	}
	for _, p := range parts {
		if k := c.lost.keep(p, own, ""); k != nil {
			k.inPart = true
			c.mirror.came(p, 0)
			c.departure.alsoHandOver(k)
		}
	}
	return c.end()
}

// Restore takes in the outcomes of a checkpoint, at any time, and tells of them.
func (c *Core) Restore(now time.Duration, parts []Partial) Output {
	if !c.begin(now) {
		return c.out
	}
	c.lost.restore(parts)
	return c.end()
}

// Found says that the engine was about to begin these jobs under a restarted one, that Orphans knew of them,
// and that they have been taken out of the engine, as though to be given away: a Deliver or PutBack will
// follow for each. They were spawned here: none is a segment's own job. One that was found once is not to be
// looked up again.
func (c *Core) Found(now time.Duration, jobs []Taken) Output {
	if !c.begin(now) {
		c.victim.putBack(jobs, false)
		return c.out
	}
	for i := range jobs {
		if c.leaving || !c.salvaging() || !c.adoption.find(&jobs[i]) {
			c.adoption.putBackRestarted(jobs[i].Ref)
		}
	}
	return c.end()
}

// Orphans is what is known of lost work at the moment, the work kept here included. Call it between two inputs.
func (c *Core) Orphans() *Orphans { return c.lost.orphans() }
