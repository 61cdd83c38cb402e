package steal

import (
	"slices"
	"time"
)

// lease is one of this peer's jobs in another peer's hands: the record that is written before the reply leaves. Its
// handle is closed exactly once, by removing the lease.
type lease struct {
	handle   Handle
	thief    *peer
	ref      Ref      // the engine's job, if parent is nil
	parent   *segment // the segment that was passed on, held here for somebody else
	path     Path
	identity Identity
	since    time.Duration
	after    uint64 // a thief that has seen this heartbeat of ours has had the reply too, if order is kept
	misses   int    // consecutive inventories that did not list the handle
}

// lend enters a new lease. Handles only grow, so each thief's leases stay in order.
func (c *Core) lend(p *peer, l *lease) Handle {
	c.lastHandle++
	c.watch(p)
	l.handle, l.thief, l.since, l.after = c.lastHandle, p, c.now, c.beats+1
	p.leases = append(p.leases, l)
	c.leaseN++
	if l.parent == nil {
		c.refs[l.ref] = l
	} else {
		l.parent.state, l.parent.lent = lent, l
	}
	return l.handle
}

// closeLease closes a handle: from here on whatever carries it is stale.
func (c *Core) closeLease(l *lease) {
	if i, ok := l.thief.findLease(l.handle); ok {
		l.thief.leases = slices.Delete(l.thief.leases, i, i+1)
		c.leaseN--
	}
	if l.parent == nil {
		delete(c.refs, l.ref)
	} else {
		l.parent.lent = nil
	}
}

// requeue closes a lease whose job will not come home and queues the job again. Restarted says that another peer may have
// worked on it.
func (c *Core) requeue(l *lease, restarted bool, why *uint64) {
	c.closeLease(l)
	c.stats.JobsPutBack++
	*why++
	if l.parent == nil {
		c.order(Order{Kind: PutBack, Ref: l.ref, Restarted: restarted})
		return
	}
	s := l.parent
	s.state = waiting
	s.job.Restarted = s.job.Restarted || restarted
	c.waiting = slices.Insert(c.waiting, 0, s)
}

// onResult fills the slot of a stolen job, once. Every result is acknowledged, also one that nobody waits for, or the
// thief would send it for ever.
func (c *Core) onResult(p *peer, r *Result) {
	ack := &Message{Ack: &ResultAck{Handle: r.Handle}}
	i, ok := p.findLease(r.Handle)
	switch {
	case !ok:
		c.stats.DroppedDuplicate++
	case !p.leases[i].matches(r):
		c.stats.DroppedForeign++ // the lease stays; the next inventories will free it
	default:
		l := p.leases[i]
		c.closeLease(l)
		c.stats.ResultsUsed++
		if l.parent == nil {
			c.order(Order{Kind: Deliver, Ref: l.ref, Outcome: r.Outcome})
		} else {
			c.finish(l.parent, r.Outcome)
		}
	}
	c.send(p, ack)
}

// matches says whether a result is the one this lease waits for: the run was checked with the envelope.
func (l *lease) matches(r *Result) bool {
	return l.identity == r.Identity && slices.Equal(l.path, r.Path)
}

// onReturn queues again what the thief had no room for.
func (c *Core) onReturn(p *peer, r *Return) {
	for _, h := range r.Handles {
		if i, ok := p.findLease(h); ok {
			c.requeue(p.leases[i], false, &c.stats.PutBackReturned)
		} else {
			c.stats.DroppedUnexpected++
		}
	}
}

// replyFailed queues again what a reply that could not be written would have given away.
func (c *Core) replyFailed(p *peer, r *StealReply) {
	for k := range r.Jobs {
		if i, ok := p.findLease(r.Jobs[k].Handle); ok {
			c.requeue(p.leases[i], false, &c.stats.PutBackUnsent)
		}
	}
}

// abortLeases closes the handles of jobs that are not wanted any more and tells their thieves, one message each. A lost
// message is made good by the next inventory, which lists handles that are closed.
func (c *Core) abortLeases(refs []Ref) {
	var ls []*lease
	for _, r := range refs {
		if l := c.refs[r]; l != nil {
			c.closeLease(l)
			ls = append(ls, l)
		}
	}
	c.tellAborted(ls)
}

// tellAborted sends the closed leases' thieves one Abort each.
func (c *Core) tellAborted(ls []*lease) {
	for len(ls) > 0 {
		thief := ls[0].thief
		var hs []Handle
		ls = slices.DeleteFunc(ls, func(l *lease) bool {
			if l.thief == thief {
				hs = append(hs, l.handle)
			}
			return l.thief == thief
		})
		if slices.Sort(hs); thief.inc != 0 { // a push to a stranger: its first inventory will show the handles
			c.send(thief, &Message{Abort: &Abort{Handles: hs}})
		}
	}
}

// takeInventory compares what a partner says it holds with what it should hold. A lease that is missing from enough
// consecutive inventories is queued again: its reply was lost. A handle that is listed and not leased is aborted: its owner
// has long given it to somebody else, or does not want it.
func (c *Core) takeInventory(p *peer, h *Heartbeat) {
	var stale []Handle
	var missing []*lease
	i := 0
	for _, held := range h.Held {
		for i < len(p.leases) && p.leases[i].handle < held {
			missing = append(missing, p.leases[i])
			i++
		}
		if i < len(p.leases) && p.leases[i].handle == held {
			p.leases[i].misses = 0
			i++
			continue
		}
		stale = append(stale, held)
	}
	missing = append(missing, p.leases[i:]...)
	for _, l := range missing {
		if h.Seen < l.after {
			continue // sent before the reply could have been there
		}
		l.misses++
		if l.misses >= c.cfg.InventoryMisses {
			c.requeue(l, true, &c.stats.PutBackInventory)
		}
	}
	if len(stale) > 0 {
		c.send(p, &Message{Abort: &Abort{Handles: stale}})
	}
}
