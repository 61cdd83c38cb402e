package steal

import (
	"slices"
	"time"
)

// Inputs of recovery: gossip, outcomes of the engine and of checkpoints, jobs that are known elsewhere.

// salvaging says whether lost work is made use of.
func (c *Core) salvaging() bool { return c.run.Recovery == Salvage }

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
	if n.Master != nil {
		c.onBeacon(n.From, n.Master)
	}
	if len(n.Tuples) == 0 || !c.salvaging() {
		return
	}
	_, member := c.members.Find(n.From.Peer)
	p := c.peers.find(n.From.Peer)
	switch {
	case !member:
		c.stats.DroppedUnexpected++
		return
	case p != nil && n.From.Inc < max(p.inc, p.floor):
		c.stats.DroppedStale++
		return
	case p != nil && n.From.Inc > p.inc:
		c.reborn(p, n.From.Inc)
	}
	for _, u := range n.Tuples {
		if u.Holder == n.From { // nobody speaks for others
			c.learn(u)
		}
	}
}

// learn takes in who has a job.
func (c *Core) learn(u Tuple) {
	c.stats.TuplesHeard++
	if u.Holder.Peer == c.self.Peer || len(u.Path) == 0 {
		return // the root is for masters to have
	}
	if c.tuples.put(u) {
		c.reconsider = true
	}
}

// Keep takes in the outcomes of long jobs that ran in place here, not of aborted ones.
func (c *Core) Keep(now time.Duration, parts []Partial) Output {
	if !c.begin(now) {
		return c.out
	}
	for _, p := range parts {
		if k := c.keep(p, own, ""); k != nil {
			k.inPart = true
			c.alsoHandOver(k)
		}
	}
	return c.end()
}

// Restore takes in the outcomes of a checkpoint, at any time, and tells of them.
func (c *Core) Restore(now time.Duration, parts []Partial) Output {
	if !c.begin(now) {
		return c.out
	}
	c.restore(parts)
	return c.end()
}

func (c *Core) restore(parts []Partial) {
	for _, p := range parts {
		if k := c.keep(p, own, ""); k != nil {
			c.stats.PartialsRestored++
			k.restored = true
			c.announceOne(k)
			c.reconsider = true
		}
	}
}

// keep puts an outcome into the store; nil if it is not kept, or was before.
func (c *Core) keep(p Partial, class keptClass, owner PeerID) *kept {
	if !c.salvaging() || len(p.Path) == 0 {
		return nil
	}
	k, isNew := c.store.put(p, class, owner)
	if !isNew {
		return nil
	}
	c.stats.PartialsKept++
	if class != handed {
		c.stats.TuplesEvicted += c.tuples.dropBelow(p.Path)
	}
	return k
}

// Found says that the engine was about to begin these jobs under a restarted one, that Orphans knew of them,
// and that they have been taken out of the engine, as though to be given away: a Deliver or PutBack will
// follow for each. They were spawned here: none is a segment's own job. One that was found once is not to be
// looked up again.
func (c *Core) Found(now time.Duration, jobs []Taken) Output {
	if !c.begin(now) {
		c.putBack(jobs, nil)
		return c.out
	}
	for i := range jobs {
		if c.leaving != nil || !c.salvaging() || !c.find(&jobs[i]) {
			c.putBackRestarted(jobs[i].Ref)
		}
	}
	return c.end()
}

// putBackRestarted returns a job to the engine that was taken out under a restarted one.
func (c *Core) putBackRestarted(ref Ref) {
	c.expectRestarted()
	c.order(Order{Kind: PutBack, Ref: ref, Restarted: true})
}

// takeFound answers those jobs that are about to be given away and of which something is known; the others
// are left. The engine asks for jobs that its workers begin, not for those that thieves take. A segment's own
// job, not begun by the engine, must go: it would find itself.
func (c *Core) takeFound(jobs []Taken) []Taken {
	if !c.salvaging() || len(c.store.index)+len(c.tuples.index) == 0 ||
		!slices.ContainsFunc(jobs, func(j Taken) bool { return j.Job.Restarted }) {
		return jobs
	}
	left := make([]Taken, 0, len(jobs))
	for i := range jobs {
		if j := &jobs[i].Job; !j.Restarted || !jobs[i].Spawned && c.runsHere(j.Path, j.Identity) || !c.find(&jobs[i]) {
			left = append(left, jobs[i])
		}
	}
	return left
}
