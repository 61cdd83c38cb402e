package steal

import (
	"slices"

	"github.com/satin-peer/satin/job"
)

// Adoption restores the link between an orphan and the job that is run again above it (fault tolerance paper,
// 3.2). The new owner writes a lease whose thief is the holder, and tells it the handle. From then on the
// orphan is a stolen job like any other: it is in inventories, its result is repeated until acknowledged, it
// runs again if its thief is lost. A lost Adopt is found by the inventories. A holder that does not have it
// any more returns the handle. What this peer holds itself takes the place of the job without a message, as a
// copy would, and an outcome that it keeps is used at once.
//
// Nothing can wait for itself by this. Adopted are outcomes, and jobs that run in the holder's engine: not
// such that were passed on, by the core or by the engine. So whoever follows a job from owner to thief and
// adopter comes to a peer that works on it or on its children, whose paths are longer.

// adoption brings orphans and the jobs that are run again above them together.
type adoption struct {
	*shared
	partners *partners
	segments *segments
	leases   *leases
	lost     *lostWork
	book     *book
	later    []lateAdoption
}

// holderOf finds who else has a job, if it can be asked: if several have, one that has finished it.
func (ad *adoption) holderOf(p job.Path, id job.Identity) (found *tupleEntry, who *peer) {
	if ad.leases.n >= ad.cfg.MaxLeases {
		return nil, nil
	}
	for _, e := range slices.Clone(ad.lost.tuples.find(p, id)) {
		if q := ad.holder(e); q != nil && (found == nil || e.Done && !found.Done) {
			found, who = e, q
		}
	}
	return found, who
}

// holder is the peer that has what a tuple says, if it can be asked.
func (ad *adoption) holder(e *tupleEntry) *peer {
	if !ad.isMember(e.Holder.Peer) {
		return nil
	}
	q := ad.partners.meet(e.Holder.Peer)
	switch {
	case q == nil || q.shunned || q.lost && !q.spoke || !q.credit.good():
		return nil
	case e.Holder.Inc < max(q.inc, q.floor):
		ad.lost.tuples.remove(e)
		return nil
	case q.inc != 0 && e.Holder.Inc != q.inc:
		return nil // a life that has not been heard from itself
	}
	return q
}

// find answers a job of the engine by what is known of it; false if nothing is.
func (ad *adoption) find(j *Taken) bool {
	p, id := j.Job.Path, j.Job.Identity
	if k := ad.lost.store.find(p, id); k != nil {
		ad.stats.OrphansReused++
		ad.order(Order{Kind: Deliver, Ref: j.Ref, Outcome: k.Outcome, Voucher: k.Voucher})
		return true
	}
	if s := ad.lost.adoptable(p, id); s != nil && ad.leases.n < ad.cfg.MaxLeases {
		l := &lease{ref: j.Ref, job: j.Job, copy: s, adopted: true}
		ad.leases.refs[l.ref] = l
		ad.leases.n++
		ad.free(s)
		s.copyOf = l
		return true
	}
	if s := ad.segments.passedOn(p, id); s != nil {
		ad.redirect(s, j)
		return true
	}
	if e, q := ad.holderOf(p, id); e != nil {
		ad.adopt(q, e, &lease{ref: j.Ref, job: j.Job})
		if s := ad.segments.spawnedUnder(p); s != nil {
			s.heir = true
		}
		return true
	}
	return false
}

// redirect has the engine get what comes of a job that this peer has passed on for one that is lost: its thief has it
// from here already, and would not be asked for it again.
func (ad *adoption) redirect(s *segment, j *Taken) {
	l := s.lent
	ad.segments.giveUp(s, true)
	ad.book.release(s)
	s.lent, l.parent, l.ref = nil, nil, j.Ref
	ad.leases.refs[l.ref] = l
	ad.stats.OrphansAdopted++
	ad.lost.orphansChanged()
}

// free takes an orphan out of its old life, to be given a new one.
func (ad *adoption) free(s *segment) {
	top := s.heldAs()
	if top != nil {
		ad.segments.giveUp(top, true)
	}
	if l := s.copyOf; l != nil {
		l.copy, s.copyOf = nil, nil
	}
	switch {
	case top == s:
		ad.book.unown(s)
	case top != nil: // it was passed on, and s ran in its stead
		ad.book.abortSegment(top)
	}
	ad.segments.setOrphan(s, false)
	s.doubted = false
	ad.stats.OrphansAdopted++
	ad.lost.orphansChanged()
}

// adopt enters the lease of a job that q holds, and asks for it.
func (ad *adoption) adopt(q *peer, e *tupleEntry, l *lease) {
	if q.lost { // it has spoken: whether it answers, it has the time of a silence to show
		q.lost, q.heard = false, ad.now
	}
	l.adopted, l.life, l.begun = true, e.Holder.Inc, e.since
	ad.leases.lend(q, l)
	ad.leases.ask(e.Holder, l)
}

// ask has the holder of an adopted job be asked for it, when the input is done.
func (ls *leases) ask(holder Address, l *lease) {
	i := slices.IndexFunc(ls.adopting, func(a adopting) bool {
		return a.from == holder && len(a.jobs) < maxAdoptions
	})
	if i < 0 {
		i = len(ls.adopting)
		ls.adopting = append(ls.adopting, adopting{from: holder})
	}
	a := &ls.adopting[i]
	if a.jobs = append(a.jobs, Adoption{Handle: l.handle, Path: l.job.Path, Identity: l.job.Identity}); l.doubted {
		a.doubted = append(a.doubted, l.handle)
	}
}

// adopting are adoptions of one input, for one message.
type adopting struct {
	from    Address
	jobs    []Adoption
	doubted []Handle // of these
}

// sendAdoptions sends what ask has gathered. The holder may never have been heard: then its life is known
// by the tuple alone. What is adopted for a peer that is silent stays free for others to adopt.
func (ls *leases) sendAdoptions() {
	for i := range ls.adopting {
		a := &ls.adopting[i]
		p := ls.partners.find(a.from.Peer)
		if p == nil {
			continue
		}
		ls.sendTo(a.from, p, &Message{Adopt: &Adopt{Jobs: a.jobs}})
		if len(a.doubted) > 0 {
			ls.sendTo(a.from, p, &Message{Disown: &Disown{Handles: a.doubted, Perhaps: true}})
		}
	}
	ls.adopting = ls.adopting[:0]
}

// adoptFailed queues again what could not be asked for.
func (ad *adoption) adoptFailed(p *peer, a *Adopt) {
	for i := range a.Jobs {
		if k, ok := p.findLease(a.Jobs[i].Handle); ok {
			ad.book.requeue(p.leases[k], true, &ad.stats.PutBackUnsent)
		}
	}
}

// onAdopt gives orphans a new owner.
func (ad *adoption) onAdopt(p *peer, a *Adopt) {
	var missing []Handle
	for i := range a.Jobs {
		j := &a.Jobs[i]
		if _, held := p.findHeld(j.Handle); held || slices.Contains(p.done, j.Handle) {
			ad.stats.DroppedDuplicate++
		} else if !ad.adoptOne(p, j) && !ad.keepForLater(p, j) {
			missing = append(missing, j.Handle)
		}
	}
	if len(missing) > 0 {
		ad.send(p, &Message{Return: &Return{Handles: missing}})
	}
}

// adoptOne makes p the owner of one job: of the orphan if it runs here, else of its outcome.
func (ad *adoption) adoptOne(p *peer, j *Adoption) bool {
	if ad.leaving {
		return false
	}
	if s := ad.lost.adoptable(j.Path, j.Identity); s != nil && !s.heldFor(p) {
		ad.free(s)
		ad.book.own(p, s, j.Handle)
		ad.book.mirror.again()
		return true
	}
	k := ad.lost.store.find(j.Path, j.Identity)
	if k == nil || !ad.mayHaveAgain(p, j) || len(ad.segments.byID) >= ad.cfg.MaxSegments ||
		ad.segments.unackedN >= ad.cfg.MaxUnackedBytes {
		return false
	}
	s := &segment{job: Job{Path: j.Path, Identity: j.Identity}, from: p.id, since: ad.now}
	ad.segments.enter(s)
	ad.book.own(p, s, j.Handle)
	ad.book.sendFirst(s, k.Outcome, k.Voucher)
	return true
}

// mayHaveAgain says whether p may be sent one more outcome that is kept: half of what may be held is one peer's at
// most, and of one outcome that it does not acknowledge it gets a few.
func (ad *adoption) mayHaveAgain(p *peer, j *Adoption) bool {
	same := 0
	for _, s := range p.held {
		if s.state == finished && s.is(j.Path, j.Identity) {
			same++
		}
	}
	return same < maxSame && 2*len(p.held) < ad.cfg.MaxSegments
}

// maxSame is how often one peer is sent one outcome at a time: it may have asked anew, under another handle.
const maxSame = 4

// seek looks for somebody who has what a restarted segment is to find out. A segment that runs is given up
// for it if the orphan began before it, as it certainly did if it is run again, and not for longer than it takes to
// notice a loss. The owner may be who has it: a job that went round comes to a peer that once gave it away, and
// whoever was between the two is gone.
func (ad *adoption) seek(s *segment) {
	p, id := s.job.Path, s.job.Identity
	if k := ad.lost.store.find(p, id); k != nil {
		ad.stats.OrphansReused++
		ad.halt(s)
		ad.book.finish(s, k.Outcome, k.Voucher)
		return
	}
	if ad.join(s) {
		return
	}
	if e, q := ad.holderOf(p, id); e != nil && !s.standsInFor(q) &&
		(e.Done || s.state == waiting || s.rests > 0 || s.begun > e.since ||
			s.job.Restarted && ad.now-s.begun < ad.noticing()) {
		ad.halt(s)
		s.sought, s.heir = s.sought+1, true
		ad.adopt(q, e, &lease{parent: s, job: s.job, doubted: s.inDoubt()})
	}
}

// join has the oldest orphan of its job here take the place of a segment, if there is another. False if there is none.
func (ad *adoption) join(s *segment) bool {
	o := ad.lost.adoptable(s.job.Path, s.job.Identity)
	if o == nil || o == s {
		return false
	}
	ad.halt(s)
	if s.orphan {
		ad.segments.forget(s)
		ad.lost.orphansChanged()
		return true
	}
	ad.free(o)
	ad.takePlace(o, s)
	return true
}

// maxSought is how often a segment that runs is given up for what others say that they have. One that is waited for
// elsewhere when it is asked for may be an orphan a moment later; but a liar could have it begin again for ever.
const maxSought = 3

// halt takes a segment from the queue or the engine; what it becomes is for the caller to say. To the engine
// its number is used up.
func (ad *adoption) halt(s *segment) {
	if s.heir {
		ad.leases.letGoBelow(s.job.Path)
	}
	ad.book.stop(s)
	if s.state == running {
		taken := s.taken
		ad.segments.forget(s)
		ad.segments.enter(s)
		ad.segments.charge(s, taken, true)
	}
	s.state, s.rests = running, 0 // nobody looks for it in the queue any more
}

// takePlace puts the orphan o where s was: with its owner, or as the copy.
func (ad *adoption) takePlace(o, s *segment) {
	ad.segments.forget(s)
	if l := s.copyOf; l != nil {
		s.copyOf, o.copyOf, l.copy = nil, l, o
		return
	}
	p, h := s.owner, s.handle
	i, _ := p.findHeld(h)
	p.held[i] = o
	o.owner, o.handle = p, h
	ad.book.mirror.again()
}

// reconsiderRestarted looks for each segment that is run again, or has not begun, whether it is known somewhere by now,
// and for each orphan whether it is wanted. What is not run again may be known where two masters were at work: if it
// runs, it gives way to what was begun before.
func (ad *adoption) reconsiderRestarted() {
	if !ad.lost.reconsider || !ad.salvaging() {
		return
	}
	ad.lost.reconsider = false
	ad.abortUseless()
	for _, s := range ad.segments.inOrder() {
		if ad.segments.byID[s.id] != s || s.root || s.witnessOf != nil ||
			!s.job.Restarted && s.state != waiting && !ad.isRival(s) {
			continue
		}
		if s.orphan || s.adoptable() {
			ad.join(s) // it may have gone round, and come back to a peer that now does it for one that is silent
			continue
		}
		if s.state == waiting || (s.state == running || s.rests > 0) && s.sought < maxSought {
			ad.seek(s)
		}
	}
}

// isRival says whether somebody else tells of a segment's job: two masters have given it away, and the thief of one of
// them has an orphan now. Neither thief was to look for the other: neither runs it again. Whoever gave it here is meant
// too if it has begun the job itself since then, as it could not hear this peer.
func (ad *adoption) isRival(s *segment) bool {
	return slices.ContainsFunc(ad.lost.tuples.find(s.job.Path, s.job.Identity),
		func(e *tupleEntry) bool { return e.Holder.Peer != s.from || e.since > s.since })
}

// abortUseless ends orphans that nobody can want any more: the outcome of the same job, or of one above it, is known.
func (ad *adoption) abortUseless() {
	for _, s := range ad.segments.inOrder() {
		if s.orphan && ad.lost.known(s) {
			ad.book.endOrphan(s)
		}
	}
}

// takeFound answers those jobs that are about to be given away and of which something is known; the others
// are left. The engine asks for jobs that its workers begin, not for those that thieves take. A segment's own
// job, not begun by the engine, must go: it would find itself.
func (ad *adoption) takeFound(jobs []Taken) []Taken {
	if !ad.salvaging() || len(ad.lost.store.index)+len(ad.lost.tuples.index) == 0 ||
		!slices.ContainsFunc(jobs, func(j Taken) bool { return j.Job.Restarted }) {
		return jobs
	}
	left := make([]Taken, 0, len(jobs))
	for i := range jobs {
		if j := &jobs[i].Job; !j.Restarted || !jobs[i].Spawned && ad.segments.runsHere(j.Path, j.Identity) ||
			!ad.find(&jobs[i]) {
			left = append(left, jobs[i])
		}
	}
	return left
}

// putBackRestarted returns a job to the engine that was taken out under a restarted one.
func (ad *adoption) putBackRestarted(ref Ref) {
	ad.lost.expectRestarted()
	ad.order(Order{Kind: PutBack, Ref: ref, Restarted: true})
}
