package steal

// book keeps account of who stole what from whom: it moves jobs between the engine, the leases and the segments until
// each slot is filled once.
type book struct {
	*shared
	partners *partners
	segments *segments
	leases   *leases
	lost     *lostWork
	relay    *relay
	mirror   *mirror
	masters  *mastership
	// whose results take more of the room than they may
	overdrawn []*peer
}

// settle closes a lease with the job's outcome.
func (b *book) settle(l *lease, outcome, voucher []byte) {
	if l.parent == nil {
		b.lost.store.dropCopies(l.job.Path)
		b.mirror.came(Partial{Path: l.job.Path, Identity: l.job.Identity, Outcome: outcome, Voucher: voucher},
			b.now-l.since)
	}
	b.closeLease(l)
	if l.parent == nil {
		b.order(Order{Kind: Deliver, Ref: l.ref, Outcome: outcome, Voucher: voucher})
	} else {
		b.finish(l.parent, outcome, voucher)
	}
}

// closeLease ends a lease, with the copy if there is one.
func (b *book) closeLease(l *lease) {
	b.endProof(l)
	b.leases.detach(l)
	b.leases.n--
	if l.copy != nil {
		b.dropCopy(l)
	}
	if l.parent == nil {
		delete(b.leases.refs, l.ref)
	} else {
		l.parent.lent = nil
	}
}

// requeue queues a job again that certainly will not come home from its thief. Restarted says that the thief
// may have worked on it. If a copy has taken its place already, the copy goes on. If lost work is made use
// of, a restarted job becomes a copy, too, instead of going back to the engine, so that it can be given up
// again when somebody turns out to have it as an orphan, or somebody else than who seemed to.
func (b *book) requeue(l *lease, restarted bool, why *uint64) {
	if l.witnessOf != nil {
		b.witnessLost(l)
		return
	}
	if l.adopted {
		restarted = true
		b.lost.tuples.forget(l.job.Path, l.job.Identity, l.thief.id)
	}
	switch {
	case l.copy != nil:
		b.leases.detach(l)
		b.lost.reconsider = true // the thief may have it as an orphan
		return
	case restarted && l.parent == nil && b.salvaging():
		b.replace(l, why)
		b.leases.detach(l)
		return
	}
	b.closeLease(l)
	b.stats.JobsPutBack++
	*why++
	if l.parent == nil {
		b.order(Order{Kind: PutBack, Ref: l.ref, Restarted: restarted})
		return
	}
	s := l.parent
	s.heir = s.heir && !l.adopted
	b.segments.rest(s, l)
	s.job.Restarted = s.job.Restarted || restarted
	b.lost.reconsider = b.lost.reconsider || s.job.Restarted
	b.segments.putFirst(s)
}

// replace queues a copy of a job whose thief is silent, and keeps the lease: silence is not proof. If the
// thief is heard again before the copy has its result, the copy is dropped and next to nothing was lost;
// otherwise the first result wins.
func (b *book) replace(l *lease, why *uint64) {
	if l.witnessOf != nil {
		b.witnessLost(l)
		return
	}
	if l.copy != nil {
		return
	}
	b.stats.JobsPutBack++
	*why++
	b.lost.reconsider = true
	s := &segment{copyOf: l, job: l.job, since: b.now}
	b.segments.rest(s, l)
	s.job.Restarted = true
	l.copy = s
	b.segments.enter(s)
	b.segments.putFirst(s)
}

// dropCopy ends a copy wherever it has got to.
func (b *book) dropCopy(l *lease) {
	s := l.copy
	l.copy, s.copyOf = nil, nil
	b.stop(s)
	b.segments.forget(s)
}

// onResult fills the slot of a stolen job, once. Every result is acknowledged, also one that nobody waits for, or the
// thief would send it for ever.
func (b *book) onResult(p *peer, m *Message) {
	r := m.Result
	i, ok := p.findLease(r.Handle)
	switch {
	case !ok:
		b.stats.DroppedDuplicate++
	case !p.leases[i].matches(r):
		b.stats.DroppedForeign++ // the lease stays; the next inventories will free it
	case b.run.Proving && !b.leases.roomToProve(p.leases[i], r):
		p.credit.returned(b.now)
		b.requeue(p.leases[i], false, &b.stats.PutBackReturned)
	default:
		b.stats.ResultsUsed++
		p.credit.paid(&b.cfg)
		b.leases.times.took(b.now - p.leases[i].since)
		if p.leases[i].adopted {
			b.stats.OrphansReused++
		}
		if l := p.leases[i]; b.run.Proving {
			b.prove(l, p.id, b.now-l.since, r.Outcome, r.Voucher)
		} else {
			b.settle(l, r.Outcome, r.Voucher)
		}
	}
	b.sendTo(m.From, p, &Message{Ack: &ResultAck{Handle: r.Handle}})
}

// onReturn queues again what the thief had no room for. What it returns because somebody else has adopted it is at
// work, and not run here too; its owner, if that is heard again, misses it and looks for it.
func (b *book) onReturn(p *peer, r *Return) {
	p.credit.returned(b.now)
	for _, h := range r.Handles {
		i, ok := p.findLease(h)
		if !ok {
			b.stats.DroppedUnexpected++
			continue
		}
		l := p.leases[i]
		if s := l.parent; l.doubted && s.inDoubt() {
			b.closeLease(l)
			s.state = stopped // there is nothing left to stop
			b.abortSegment(s.heldAs())
			continue
		}
		b.requeue(l, l.doubted || r.Begun, &b.stats.PutBackReturned)
	}
}

// replyFailed queues again what a reply that could not be written would have given away.
func (b *book) replyFailed(p *peer, r *StealReply) {
	for k := range r.Jobs {
		if i, ok := p.findLease(r.Jobs[k].Handle); ok {
			b.requeue(p.leases[i], false, &b.stats.PutBackUnsent)
		}
	}
}

// abortLeases closes the handles of jobs that are not wanted any more and tells their thieves, one message
// each. A lost message is made good by the next inventory, which lists handles that are closed.
func (b *book) abortLeases(refs []Ref) {
	var ls []*lease
	for _, r := range refs {
		if l := b.leases.refs[r]; l != nil {
			ls = append(ls, l)
		}
	}
	b.tellAborted(ls)
	for _, l := range ls {
		b.closeLease(l)
	}
}

// tellAborted sends the leases' thieves one Abort each.
func (b *book) tellAborted(ls []*lease) {
	for _, group := range byThief(ls) {
		thief := group[0].thief
		if thief != nil && thief.inc != 0 { // one that was never heard will show the handles in its first inventory
			b.send(thief, &Message{Abort: &Abort{Handles: leasedHandles(group)}})
		}
	}
}
