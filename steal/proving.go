package steal

import (
	"maps"
	"math"
	"slices"
	"time"
)

// Where a run is verified (Run.Proving), an outcome that another peer brings is not used: its lease stays, without
// a thief, as *unproved* (order Prove) until the outside says which outcome is to be believed (Proved). What it wants
// to compare is computed by further peers, or here: as a witness of the lease (CopyTo), whose outcome goes the same
// way. Witnesses are no copies in the sense of recovery: none settles a lease, and one that is lost is not computed
// again, but reported (Prove with Lost). They end with their lease. Until then all that they and the thief have brought
// takes room; where there is none an outcome counts as a job that its thief has returned. But a witness's that is no
// longer than what is there of its job is always taken: else outcomes that fill the room would wait for it for ever.
//
// Nothing else of what others say of outcomes gets in: no hand-over, no tuple, no beacon that says that there is an
// answer. And who is not trusted with proving gives nothing away (Run.Hoard): else the two that are to be compared
// might both have it from a third.

// prove reports what came for a lease, or for a witness of one, from whoever had it for so long.
func (b *book) prove(l *lease, by PeerID, had time.Duration, outcome, voucher []byte) {
	of := l
	if l.witnessOf != nil {
		of = l.witnessOf
		b.closeWitness(l)
	} else {
		b.leases.detach(l)
		if l.copy != nil && l.copy.unbegun() {
			b.dropCopy(l) // it is compared with what comes of further copies
		}
		if !l.unproved {
			l.unproved = true
			b.leases.unproved[l.handle] = l
		}
	}
	b.order(Order{Kind: Prove, Handle: of.handle, Job: of.job, Peer: by, Had: had, Outcome: outcome, Voucher: voucher})
}

// roomToProve sets aside what an outcome takes until its job is proved, on the account of whoever has brought it, and
// says whether that was allowed.
func (ls *leases) roomToProve(l *lease, r *Result) bool {
	x := portion{l.thief.id, len(r.Outcome) + len(r.Voucher)}
	if l.witnessOf != nil {
		l = l.witnessOf
	}
	must := slices.ContainsFunc(l.brought, func(there portion) bool { return len(r.Outcome) <= there.bytes })
	if !ls.purse.take(x.by, x.bytes, must) && !must {
		return false
	}
	l.brought = append(l.brought, x)
	return true
}

// witnessLost reports that a witness brings nothing.
func (b *book) witnessLost(l *lease) {
	of, by := l.witnessOf, l.thief.id
	b.closeWitness(l)
	b.order(Order{Kind: Prove, Handle: of.handle, Job: of.job, Peer: by, Lost: true})
}

func (b *book) closeWitness(l *lease) {
	b.leases.detach(l)
	b.leases.n--
}

// endProof ends what was done to prove a lease that is closed.
func (b *book) endProof(l *lease) {
	if !l.unproved {
		return
	}
	delete(b.leases.unproved, l.handle)
	for _, x := range l.brought {
		b.purse.give(x.by, x.bytes)
	}
	var ls []*lease
	for _, p := range b.partners.list {
		for _, w := range p.leases {
			if w.witnessOf == l {
				ls = append(ls, w)
			}
		}
	}
	b.tellAborted(ls)
	for _, w := range ls {
		b.closeWitness(w)
	}
	if s := l.here; s != nil {
		l.here, s.witnessOf = nil, nil
		b.stop(s)
		b.segments.forget(s)
	}
	b.order(Order{Kind: Proven, Handle: l.handle, Job: l.job})
}

// CopyTo gives a job whose outcome is unproved to a peer that has not asked for it; "" is this one. If that is
// impossible, a Prove says that it is lost.
func (c *Core) CopyTo(now time.Duration, h Handle, to PeerID) Output {
	if !c.begin(now) {
		return c.out
	}
	l := c.leases.unproved[h]
	if l == nil {
		return c.end()
	}
	if to == "" {
		c.book.copyHere(l)
		return c.end()
	}
	if c.isOther(to) && c.leases.n < c.cfg.MaxLeases {
		if p := c.partners.meet(to); p != nil && !p.lost && !p.shunned {
			w := &lease{job: l.job, witnessOf: l}
			g := Grant{Handle: c.leases.lend(p, w), Job: l.job}
			c.victim.reply(&ask{peer: p}, []Grant{g})
			return c.end()
		}
	}
	c.order(Order{Kind: Prove, Handle: h, Job: l.job, Peer: to, Lost: true})
	return c.end()
}

// copyHere has a job whose outcome is unproved computed by this peer, alone: what others have come to is right as far
// as they are believed, and this one's word goes before that of all. If its engine gave the job itself away, what is
// awaited here would wait for itself.
func (b *book) copyHere(l *lease) {
	if l.here == nil {
		l.here = &segment{witnessOf: l, job: l.job, since: b.now}
		l.here.job.Restarted = false
		b.segments.enter(l.here)
		b.segments.putFirst(l.here)
	}
}

// Proved says which outcome is to be believed, of a job whose outcome is unproved.
func (c *Core) Proved(now time.Duration, h Handle, outcome, voucher []byte) Output {
	if !c.begin(now) {
		return c.out
	}
	if l := c.leases.unproved[h]; l != nil {
		c.stats.OutcomesProved++
		c.book.settle(l, outcome, voucher)
	}
	return c.end()
}

// Outcasts are those with whom a core has nothing to do any more.
type Outcasts struct {
	// Caught is a peer that has lied in this run: what it says from now on, in whatever life, is nothing.
	Caught PeerID
	// Out says who is out of the swarm, and Theirs whether a voucher is one of theirs, or names one; both or none.
	Out    func(id PeerID) bool
	Theirs func(voucher []byte) bool
}

// Shun takes from outcasts what they have here: their jobs are queued again, what they say that they have is forgotten,
// and outcomes that they have computed, or that were made of theirs, are not kept any more, from now on.
func (c *Core) Shun(now time.Duration, o Outcasts) Output {
	if !c.begin(now) {
		return c.out
	}
	if o.Caught != "" {
		if p := c.partners.meet(o.Caught); p != nil {
			c.losses.lose(p)
			p.lost, p.shunned = true, true
		}
	}
	if o.Out == nil {
		return c.end()
	}
	for _, p := range c.partners.list {
		if o.Out(p.id) {
			c.losses.lose(p)
			p.lost = true
		}
	}
	lost := c.losses.lost
	lost.theirs = o.Theirs
	for _, id := range slices.Sorted(maps.Keys(lost.tuples.holders)) {
		if o.Out(id) {
			lost.tuples.dropHolder(id, math.MaxUint64)
		}
	}
	for _, k := range slices.Clone(lost.store.index) {
		if o.Theirs(k.Voucher) {
			lost.store.remove(k)
		}
	}
	return c.end()
}
