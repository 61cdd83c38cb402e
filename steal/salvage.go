package steal

import "time"

// Hear takes gossip in.
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
}

// Keep takes in the outcomes of long jobs that ran in place here.
func (c *Core) Keep(now time.Duration, parts []Partial) Output {
	if !c.begin(now) {
		return c.out
	}
	return c.end()
}

// Restore takes in the outcomes of a checkpoint, at any time.
func (c *Core) Restore(now time.Duration, parts []Partial) Output {
	if !c.begin(now) {
		return c.out
	}
	return c.end()
}

// Found says that the engine was about to begin these jobs under a restarted one, that Orphans knew of them, and that they have been
// taken out of the engine, as though to be given away.
func (c *Core) Found(now time.Duration, jobs []Taken) Output {
	if !c.begin(now) {
		c.putBack(jobs, nil)
		return c.out
	}
	c.putBack(jobs, nil)
	return c.end()
}

// Orphans is what is known of lost work at the moment, the work kept here included.
func (c *Core) Orphans() *Orphans { return &Orphans{} }

// onAdopt returns what is not here.
func (c *Core) onAdopt(p *peer, a *Adopt) {
	hs := make([]Handle, len(a.Jobs))
	for i := range a.Jobs {
		hs[i] = a.Jobs[i].Handle
	}
	c.send(p, &Message{Return: &Return{Handles: hs}})
}

// onHandOver acknowledges what was handed over.
func (c *Core) onHandOver(p *peer, h *HandOver) {
	c.send(p, &Message{HandOverAck: &HandOverAck{ID: h.ID, Leaving: true}})
}

// onHandOverAck ends a transfer.
func (c *Core) onHandOverAck(*peer, *HandOverAck) { c.stats.DroppedUnexpected++ }
