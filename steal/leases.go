package steal

import (
	"slices"
	"time"
)

// lease is one of this peer's jobs in another peer's hands: the record that is written before the reply leaves. Its
// handle is closed exactly once, by removing the lease.
type lease struct {
	handle Handle
	thief  *peer    // nil once it is certain that the thief will not send a result
	ref    Ref      // the engine's job, if parent is nil
	parent *segment // the segment that was passed on, held here for somebody else
	job    Job
	copy   *segment // what runs here in the silent thief's stead; nil while it is trusted
	since  time.Duration
	after  uint64 // a thief that has seen this heartbeat of ours has had the reply too, if order is kept
	misses int    // consecutive inventories that did not list the handle

	// when the job left the engine, a segment ran here that is this very job: perhaps it was that one's, not
	// begun
	ofSegment bool

	adopted bool        // the thief did not steal it but had it as an orphan
	life    Incarnation // of that thief, as was told
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

// detach gives the thief up: from here on whatever carries the handle is stale.
func (c *Core) detach(l *lease) {
	if l.thief == nil {
		return
	}
	if i, ok := l.thief.findLease(l.handle); ok {
		l.thief.leases = slices.Delete(l.thief.leases, i, i+1)
	}
	l.thief = nil
}

// closeLease ends a lease, with the copy if there is one.
func (c *Core) closeLease(l *lease) {
	c.detach(l)
	c.leaseN--
	if l.copy != nil {
		c.dropCopy(l)
	}
	if l.parent == nil {
		delete(c.refs, l.ref)
	} else {
		l.parent.lent = nil
	}
}

// requeue queues a job again that certainly will not come home from its thief. Restarted says that the thief
// may have worked on it. If a copy has taken its place already, the copy goes on. If lost work is made use
// of, a restarted job becomes a copy, too, instead of going back to the engine, so that it can be given up
// again when somebody turns out to have it as an orphan.
func (c *Core) requeue(l *lease, restarted bool, why *uint64) {
	if l.adopted {
		restarted = true
		c.tuples.forget(l.job.Path, l.job.Identity, l.thief.id)
	}
	switch {
	case l.copy != nil:
		c.detach(l)
		return
	case restarted && l.parent == nil && !l.adopted && c.salvaging():
		c.replace(l, why)
		c.detach(l)
		return
	}
	c.closeLease(l)
	c.stats.JobsPutBack++
	*why++
	if l.parent == nil {
		if restarted {
			c.expectRestarted()
		}
		c.order(Order{Kind: PutBack, Ref: l.ref, Restarted: restarted})
		return
	}
	s := l.parent
	s.state = waiting
	s.job.Restarted = s.job.Restarted || restarted
	c.reconsider = c.reconsider || s.job.Restarted
	c.waiting = slices.Insert(c.waiting, 0, s)
}

// replace queues a copy of a job whose thief is silent, and keeps the lease: silence is not proof. If the
// thief is heard again before the copy has its result, the copy is dropped and next to nothing was lost;
// otherwise the first result wins.
func (c *Core) replace(l *lease, why *uint64) {
	if l.copy != nil {
		return
	}
	c.stats.JobsPutBack++
	*why++
	c.reconsider = true
	c.lastSeg++
	s := &segment{id: c.lastSeg, copyOf: l, job: l.job, since: c.now}
	s.job.Restarted = true
	l.copy = s
	c.segments[s.id] = s
	c.waiting = slices.Insert(c.waiting, 0, s)
}

// dropCopy ends a copy wherever it has got to.
func (c *Core) dropCopy(l *lease) {
	s := l.copy
	l.copy, s.copyOf = nil, nil
	c.stop(s)
	delete(c.segments, s.id)
}

// settle closes a lease with the job's outcome.
func (c *Core) settle(l *lease, outcome []byte) {
	c.closeLease(l)
	if l.parent == nil {
		c.order(Order{Kind: Deliver, Ref: l.ref, Outcome: outcome})
	} else {
		c.finish(l.parent, outcome)
	}
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
		c.stats.ResultsUsed++
		if p.leases[i].adopted {
			c.stats.OrphansReused++
		}
		c.settle(p.leases[i], r.Outcome)
	}
	c.send(p, ack)
}

// matches says whether a result is the one this lease waits for: the run was checked with the envelope.
func (l *lease) matches(r *Result) bool {
	return l.job.Identity == r.Identity && slices.Equal(l.job.Path, r.Path)
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

// abortLeases closes the handles of jobs that are not wanted any more and tells their thieves, one message
// each. A lost message is made good by the next inventory, which lists handles that are closed.
func (c *Core) abortLeases(refs []Ref) {
	var ls []*lease
	for _, r := range refs {
		if l := c.refs[r]; l != nil {
			ls = append(ls, l)
		}
	}
	c.tellAborted(ls)
	for _, l := range ls {
		c.closeLease(l)
	}
}

// tellAborted sends the leases' thieves one Abort each.
func (c *Core) tellAborted(ls []*lease) {
	ls = slices.Clone(ls)
	for len(ls) > 0 {
		thief := ls[0].thief
		var hs []Handle
		ls = slices.DeleteFunc(ls, func(l *lease) bool {
			if l.thief == thief {
				hs = append(hs, l.handle)
			}
			return l.thief == thief
		})
		slices.Sort(hs)
		if thief != nil && thief.inc != 0 { // one that was never heard will show the handles in its first inventory
			c.send(thief, &Message{Abort: &Abort{Handles: hs}})
		}
	}
}

// takeInventory compares what a partner says it holds with what it should hold. A lease that is missing from
// enough consecutive inventories is queued again: its reply was lost. A handle that is listed and not leased
// is aborted: its owner has long given it to somebody else, or does not want it.
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
			l := p.leases[i]
			if l.misses = 0; l.copy != nil { // it was only silent, and is further than the copy
				c.stats.Readopted++
				c.dropCopy(l)
			}
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
		c.answerStale(p, stale)
	}
}
