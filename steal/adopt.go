package steal

import (
	"slices"
	"time"

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

// adoptable says whether the segment may get a new owner.
func (s *segment) adoptable() bool {
	return s.state == running && (s.orphan || s.owner != nil && s.owner.lost)
}

// adoptable finds the job among those that run here for nobody; nil if it is not there, or if the engine has
// given it away.
func (c *Core) adoptable(p job.Path, id job.Identity) (found *segment) {
	for _, s := range c.segments { // in any order: the oldest is taken
		if s.adoptable() && s.is(p, id) && (found == nil || s.id < found.id) {
			found = s
		}
	}
	if found != nil {
		for _, l := range c.refs {
			if l.ofSegment && l.job.Identity == id && slices.Equal(l.job.Path, p) {
				return nil
			}
		}
	}
	return found
}

// is says whether the segment is that job.
func (s *segment) is(p job.Path, id job.Identity) bool {
	return s.job.Identity == id && slices.Equal(s.job.Path, p)
}

// runsHere says whether a segment that runs in the engine is that job.
func (c *Core) runsHere(p job.Path, id job.Identity) bool {
	for _, s := range c.segments {
		if s.state == running && s.is(p, id) {
			return true
		}
	}
	return false
}

// holderOf finds who else has a job, if it can be asked.
func (c *Core) holderOf(p job.Path, id job.Identity) (*tupleEntry, *peer) {
	e := c.tuples.find(p, id)
	if e == nil || c.leaseN >= c.cfg.MaxLeases {
		return nil, nil
	}
	if _, member := c.members.Find(e.Holder.Peer); !member {
		return nil, nil
	}
	q := c.meet(e.Holder.Peer)
	if q == nil || q.lost {
		return nil, nil
	}
	if e.Holder.Inc < max(q.inc, q.floor) {
		c.tuples.remove(e)
		return nil, nil
	}
	if q.inc != 0 && e.Holder.Inc != q.inc {
		return nil, nil // a life that has not been heard from itself
	}
	return e, q
}

// find answers a job of the engine by what is known of it; false if nothing is.
func (c *Core) find(j *Taken) bool {
	p, id := j.Job.Path, j.Job.Identity
	if k := c.store.find(p, id); k != nil {
		c.stats.OrphansReused++
		c.order(Order{Kind: Deliver, Ref: j.Ref, Outcome: k.Outcome})
		return true
	}
	if s := c.adoptable(p, id); s != nil && c.leaseN < c.cfg.MaxLeases {
		l := &lease{ref: j.Ref, job: j.Job, copy: s, adopted: true}
		c.refs[l.ref] = l
		c.leaseN++
		c.free(s)
		s.copyOf = l
		return true
	}
	if e, q := c.holderOf(p, id); e != nil {
		c.adopt(q, e, &lease{ref: j.Ref, job: j.Job})
		return true
	}
	return false
}

// free takes an orphan out of its old life, to be given a new one.
func (c *Core) free(s *segment) {
	if s.owner != nil {
		c.unown(s)
	}
	s.orphan = false
	c.stats.OrphansAdopted++
	c.orphansChanged()
}

// adopt enters the lease of a job that q holds, and asks for it.
func (c *Core) adopt(q *peer, e *tupleEntry, l *lease) {
	l.adopted, l.life = true, e.Holder.Inc
	h := c.lend(q, l)
	i := slices.IndexFunc(c.adopting, func(a adopting) bool { return a.from == e.Holder && len(a.jobs) < maxAdoptions })
	if i < 0 {
		i = len(c.adopting)
		c.adopting = append(c.adopting, adopting{from: e.Holder})
	}
	c.adopting[i].jobs = append(c.adopting[i].jobs, Adoption{Handle: h, Path: l.job.Path, Identity: l.job.Identity})
}

// adopting are adoptions of one input, for one message.
type adopting struct {
	from Address
	jobs []Adoption
}

// sendAdoptions sends what adopt has gathered. The holder may never have been heard: then its life is known
// by the tuple alone.
func (c *Core) sendAdoptions() {
	for i := range c.adopting {
		if p := c.peers.find(c.adopting[i].from.Peer); p != nil {
			c.sendTo(c.adopting[i].from, p, &Message{Adopt: &Adopt{Jobs: c.adopting[i].jobs}})
		}
	}
	c.adopting = c.adopting[:0]
}

// adoptFailed queues again what could not be asked for.
func (c *Core) adoptFailed(p *peer, a *Adopt) {
	for i := range a.Jobs {
		if k, ok := p.findLease(a.Jobs[i].Handle); ok {
			c.requeue(p.leases[k], true, &c.stats.PutBackUnsent)
		}
	}
}

// onAdopt gives orphans a new owner.
func (c *Core) onAdopt(p *peer, a *Adopt) {
	var missing []Handle
	for i := range a.Jobs {
		j := &a.Jobs[i]
		if _, held := p.findHeld(j.Handle); held || slices.Contains(p.done[:], j.Handle) {
			c.stats.DroppedDuplicate++
		} else if !c.adoptOne(p, j) {
			missing = append(missing, j.Handle)
		}
	}
	if len(missing) > 0 {
		c.send(p, &Message{Return: &Return{Handles: missing}})
	}
}

// adoptOne makes p the owner of one job: of the orphan if it runs here, else of its outcome.
func (c *Core) adoptOne(p *peer, j *Adoption) bool {
	if c.leaving != nil {
		return false
	}
	if s := c.adoptable(j.Path, j.Identity); s != nil && s.owner != p {
		c.free(s)
		c.own(p, s, j.Handle)
		return true
	}
	k := c.store.find(j.Path, j.Identity)
	if k == nil || len(c.segments) >= c.cfg.MaxSegments || c.unackedN >= c.cfg.MaxUnackedBytes {
		return false
	}
	c.lastSeg++
	s := &segment{id: c.lastSeg, job: Job{Path: j.Path, Identity: j.Identity}, since: c.now}
	c.segments[s.id] = s
	c.own(p, s, j.Handle)
	c.sendFirst(s, k.Outcome)
	return true
}

// own enters a segment as held for p.
func (c *Core) own(p *peer, s *segment, h Handle) {
	s.owner, s.handle = p, h
	c.watch(p)
	i, _ := p.findHeld(h)
	p.held = slices.Insert(p.held, i, s)
}

// seek looks for somebody who has what a restarted segment is to find out. A segment that runs is given up
// for it, once: the orphan began before it, unless it has been running for longer than it takes to notice a
// loss.
func (c *Core) seek(s *segment) {
	p, id := s.job.Path, s.job.Identity
	if k := c.store.find(p, id); k != nil {
		c.stats.OrphansReused++
		c.halt(s)
		c.finish(s, k.Outcome)
		return
	}
	if o := c.adoptable(p, id); o != nil && o != s {
		c.halt(s)
		c.free(o)
		c.takePlace(o, s)
		return
	}
	if e, q := c.holderOf(p, id); e != nil && !s.comesFrom(q) &&
		(e.Done || s.state == waiting || c.now-s.begun < c.noticing()) {
		c.halt(s)
		s.sought = true
		c.adopt(q, e, &lease{parent: s, job: s.job})
	}
}

// noticing is about how long it takes until a lost owner is noticed everywhere.
func (c *Core) noticing() time.Duration {
	return orphanFactor * time.Duration(c.cfg.HeartbeatMisses) * c.cfg.WideHeartbeatEvery
}

// halt takes a segment from the queue or the engine; what it becomes is for the caller to say. To the engine
// its number is used up.
func (c *Core) halt(s *segment) {
	c.stop(s)
	if s.state == running {
		delete(c.segments, s.id)
		c.lastSeg++
		s.id = c.lastSeg
		c.segments[s.id] = s
	}
	s.state = running // nobody looks for it in the queue any more
}

// takePlace puts the orphan o where s was: with its owner, or as the copy.
func (c *Core) takePlace(o, s *segment) {
	delete(c.segments, s.id)
	if l := s.copyOf; l != nil {
		s.copyOf, o.copyOf, l.copy = nil, l, o
		return
	}
	p, h := s.owner, s.handle
	i, _ := p.findHeld(h)
	p.held[i] = o
	o.owner, o.handle = p, h
}

// reconsiderRestarted looks for each restarted segment whether it is known somewhere by now, and for each
// orphan whether it is wanted.
func (c *Core) reconsiderRestarted() {
	if !c.reconsider || !c.salvaging() {
		return
	}
	c.reconsider = false
	c.abortUseless()
	for _, s := range c.inOrder() {
		if c.segments[s.id] != s || !s.job.Restarted || s.root || s.adoptable() || s.orphan {
			continue
		}
		if s.state == waiting || s.state == running && !s.sought {
			c.seek(s)
		}
	}
}

// inOrder lists the segments by number.
func (c *Core) inOrder() []*segment {
	all := make([]*segment, 0, len(c.segments))
	for _, s := range c.segments {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *segment) int { return int(a.id) - int(b.id) })
	return all
}

// orphansUnder lists tuples at or below a restarted job's path, for the thief that gets it: at most so many,
// and so many bytes.
func (c *Core) orphansUnder(p job.Path, most int, bytes *int) (list []Tuple) {
	add := func(u Tuple) bool {
		if size := u.Size(); len(list) < most && *bytes >= size {
			*bytes -= size
			list = append(list, u)
			return true
		}
		return false
	}
	for _, span := range [...][]*kept{c.store.index.at(p), c.store.index.below(p)} {
		for _, k := range span {
			if !add(Tuple{k.Path, k.Identity, c.self, true}) {
				return list
			}
		}
	}
	for _, s := range c.inOrder() {
		if s.adoptable() && (p.Above(s.job.Path) || slices.Equal(p, s.job.Path)) &&
			!add(Tuple{s.job.Path, s.job.Identity, c.self, false}) {
			return list
		}
	}
	for _, span := range [...][]*tupleEntry{c.tuples.index.at(p), c.tuples.index.below(p)} {
		for _, e := range span {
			if !add(e.Tuple) {
				return list
			}
		}
	}
	return list
}
