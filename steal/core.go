package steal

import (
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal/policy"
)

// Core is the protocol state of one peer in one run: small machines, each with the state of one concern, that share
// who they are, the time and the output. The core takes inputs in, gives them to the machines that they concern, and
// says in which order the machines have their turn at the end. See the package comment.
type Core struct {
	*shared
	Masters *mastership // nil if the run's root is no business of this peer

	partners  *partners
	segments  *segments
	leases    *leases
	lost      *lostWork
	book      *book
	adoption  *adoption
	victim    *victim
	thief     *thief
	losses    *losses
	liveness  *liveness
	leading   *leading
	departure *departure
	mirror    *mirror
	pastime   *pastime
}

// NewCore makes the core of peer self in one run. If the run is fresh, the first idle worker gets the root.
// The policy and the randomness belong to it from now on. The members must not be nil; self should be among
// them. It returns an error that wraps ErrConfig.
func NewCore(cfg Config, run Run, self Address, members *Members, advice policy.Policy, rand Rand) (*Core, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &Core{shared: &shared{cfg: cfg, self: self, run: run, rand: rand, purse: newPurse(run.Room)}}
	c.Masters = newMastership(&c.cfg, &c.run, self.Peer, members)
	c.compose(advice)
	c.take(members)
	if run.Fresh {
		c.book.startRoot(len(run.Restored) > 0)
	}
	c.lost.restore(run.Restored)
	c.run.Restored = nil
	return c, nil
}

// compose makes the machines, each of which knows some of those before it.
func (c *Core) compose(advice policy.Policy) {
	s, m := c.shared, c.Masters
	c.partners = newPartners(s)
	c.segments = newSegments(s)
	c.leases = newLeases(s, c.partners)
	c.lost = newLostWork(s, c.segments, c.leases)
	c.mirror = &mirror{shared: s, partners: c.partners, segments: c.segments, masters: m, store: &c.lost.store}
	ask := &adviser{policy: advice}
	c.book = &book{shared: s, partners: c.partners, segments: c.segments, leases: c.leases, lost: c.lost,
		relay: &relay{s, ask, c.partners}, mirror: c.mirror, masters: m}
	c.adoption = &adoption{shared: s, partners: c.partners, segments: c.segments, leases: c.leases, lost: c.lost,
		book: c.book}
	c.victim = &victim{shared: s, adviser: ask, partners: c.partners, segments: c.segments, leases: c.leases,
		lost: c.lost, adoption: c.adoption, eager: &eager{s, c.partners, c.segments, c.leases}}
	c.thief = &thief{shared: s, adviser: ask, partners: c.partners, segments: c.segments, book: c.book,
		victim: c.victim}
	c.losses = &losses{s, c.partners, c.segments, c.leases, c.lost, c.book, c.victim, c.thief}
	c.liveness = &liveness{s, c.partners, c.segments, c.book,
		&inventories{s, c.partners, c.leases, c.book}, c.losses, m}
	c.leading = &leading{s, c.partners, c.segments, c.lost, c.book, c.losses, m}
	c.departure = &departure{shared: s, partners: c.partners, segments: c.segments, leases: c.leases, lost: c.lost,
		book: c.book, losses: c.losses, victim: c.victim, thief: c.thief, mirror: c.mirror,
		refused: make(map[PeerID]bool)}
	c.pastime = &pastime{shared: s, segments: c.segments, leases: c.leases, thief: c.thief}
	c.partners.talking = func(p *peer) bool {
		return c.thief.flightTo(p.id) >= 0 || c.victim.asking(p) || c.adoption.awaitedBy(p)
	}
	_, ranks := advice.(policy.Ranker)
	ask.view = &view{shared: s, partners: c.partners, segments: c.segments, leases: c.leases, victim: c.victim,
		thief: c.thief, ranks: ranks}
}

// Step takes a message in. It may be any message at all: what does not make sense is counted and dropped.
func (c *Core) Step(now time.Duration, m *Message) Output {
	if !c.begin(now) {
		return c.out
	}
	c.receive(m)
	return c.end()
}

// Tick lets time pass. Call it at the time Next says, or later; more often is harmless.
func (c *Core) Tick(now time.Duration) Output {
	if !c.begin(now) {
		return c.out
	}
	c.thief.expireFlights()
	c.victim.expireAsks()
	c.book.retryResults()
	c.liveness.beat()
	c.leading.masterTick()
	c.lost.announceAgain()
	return c.end()
}

// Next is when the core wants to be ticked; false if nothing is due.
func (c *Core) Next() (at time.Duration, ok bool) {
	earliest := func(t time.Duration) {
		if t > 0 && (!ok || t < at) {
			at, ok = t, true
		}
	}
	if c.left {
		return 0, false
	}
	earliest(c.partners.heartbeatAt)
	earliest(c.thief.wakeAt)
	earliest(c.segments.retryAt)
	earliest(c.segments.nextRested())
	earliest(c.leading.nextMaster())
	earliest(c.lost.nextTell())
	earliest(c.lost.nextShow())
	earliest(c.departure.nextHandOver())
	if !c.leaving {
		earliest(c.mirror.at)
		earliest(c.adoption.nextLater())
	}
	for i := range c.thief.flights {
		earliest(c.thief.flights[i].Deadline)
	}
	for i := range c.victim.asks {
		earliest(c.victim.asks[i].Until)
	}
	return at, ok
}

// SendFailed says that a message of an earlier Output was certainly not delivered. Saying nothing, or saying
// it of a message that was delivered after all, costs time and repeated work only.
func (c *Core) SendFailed(now time.Duration, m *Message) Output {
	if !c.begin(now) {
		return c.out
	}
	p := c.partners.find(m.To.Peer)
	switch {
	case m.Request != nil:
		c.thief.flightFailed(m.To.Peer, m.Request.ID)
	case m.Reply != nil && p != nil:
		c.book.replyFailed(p, m.Reply)
	case m.Adopt != nil && p != nil:
		c.adoption.adoptFailed(p, m.Adopt)
	case m.HandOver != nil && p != nil:
		c.departure.onHandOverAck(p, &HandOverAck{ID: m.HandOver.ID, Leaving: true})
	case m.Relayed != nil && m.Relayed.Result != nil && m.Relayed.From == c.self:
		c.book.detourFailed(m.Relayed)
	}
	// A result is sent again by its timer; everything else by the next heartbeat or never.
	return c.end()
}

// SetMembers replaces the membership. Peers that are gone from it are not stolen from any more; whether they
// are lost is for heartbeats and goodbyes to say.
func (c *Core) SetMembers(now time.Duration, members *Members) Output {
	if !c.begin(now) {
		return c.out
	}
	c.take(members)
	c.lost.announceStrays()
	c.mirror.again()
	return c.end()
}

// take takes a membership over. A peer keeps its cluster until the membership says otherwise.
func (c *Core) take(members *Members) {
	c.members = members
	c.Masters.setMembers(members)
	if me, ok := members.Find(c.self.Peer); ok {
		c.cluster = me.Cluster
	}
	for _, p := range c.partners.list {
		if m, ok := members.Find(p.id); ok {
			p.cluster = m.Cluster
		}
	}
	c.links.prune(members)
}

// Report tells the core how busy the engine is. Call it whenever the number of idle workers changes, and when
// Queued becomes zero, leaves zero, or crosses Load.Workers; between those it may be stale.
func (c *Core) Report(now time.Duration, l Load) Output {
	if !c.begin(now) {
		return c.out
	}
	if c.reports == 0 || c.load.Workers > 0 {
		c.still = now
	}
	c.load = l
	c.reports++
	return c.end()
}

// Taken answers the Take order with the same ticket: oldest job first. The core owns the jobs until it orders
// Deliver or PutBack for each, or hears Aborted.
func (c *Core) Taken(now time.Duration, t Ticket, jobs []Taken) Output {
	if !c.begin(now) {
		for _, j := range jobs { // a core that has left gives nothing away
			c.out.Orders = append(c.out.Orders, Order{Kind: PutBack, Ref: j.Ref})
		}
		return c.out
	}
	c.victim.taken(t, jobs)
	return c.end()
}

// Finished says that a segment has run to its end, with the encoded outcome, which the core keeps until it is
// acknowledged, and its voucher.
func (c *Core) Finished(now time.Duration, s SegmentID, outcome, voucher []byte) Output {
	if !c.begin(now) {
		return c.out
	}
	if seg := c.segments.byID[s]; seg != nil && seg.state == running {
		c.book.finish(seg, outcome, voucher)
	} else {
		c.stats.DroppedUnexpected++
	}
	return c.end()
}

// Aborted says that the frames which spawned these given-away jobs do not want them any more. An order for
// one of them may have been given already and is to be ignored.
func (c *Core) Aborted(now time.Duration, refs ...Ref) Output {
	if !c.begin(now) {
		return c.out
	}
	c.losses.onAborted(refs)
	return c.end()
}

// Stats returns the counters.
func (c *Core) Stats() Stats {
	s := c.stats
	s.TuplesEvicted += c.lost.tuples.evicted
	s.WithoutRoom += c.lost.store.refused + c.lost.tuples.refused
	s.PartialsDisplaced += c.lost.store.displaced
	return s
}

// BestRate is the highest rate that was measured to another cluster, in bytes a second; 0: none was.
func (c *Core) BestRate() float64 {
	rate, _ := c.links.most(c.cluster)
	return rate
}

// Self is the address this core answers to.
func (c *Core) Self() Address { return c.self }

// begin opens an input: it empties the output and moves the clock, which never runs backwards. It says no
// after Leave.
func (c *Core) begin(now time.Duration) bool {
	c.out.Orders, c.out.Messages = c.out.Orders[:0], c.out.Messages[:0]
	if c.left {
		return false
	}
	c.pastime.pass(now)
	c.now = max(c.now, now)
	c.Masters.pass(c.now)
	c.liveness.noticeStall()
	return true
}

// end closes an input: what is known of restarted jobs is used, idle workers get what waits here, then
// waiting requests, then the policy is asked.
func (c *Core) end() Output {
	if c.leaving {
		if c.departure.handOver() {
			c.leave(true)
		}
		return c.out
	}
	c.segments.rested()
	c.adoption.adoptLater()
	c.adoption.reconsiderRestarted()
	c.losses.leaveToRestarted()
	c.book.giveBackOverdrawn()
	c.book.feedWorkers()
	c.thief.copyForMyself()
	c.victim.answerWaiting()
	c.leases.sendAdoptions()
	c.mirror.flush()
	c.lost.tellNews()
	c.lost.showOrphans()
	c.thief.carryOutPlan()
	return c.out
}

// Run is the run that the core takes part in.
func (c *Core) Run() job.RunID { return c.run.ID }
