package steal

import (
	"time"

	"github.com/satin-peer/satin/job"
)

// Core is the protocol state of one peer in one run. See the package comment.
type Core struct {
	cfg     Config
	self    Address
	cluster ClusterID
	run     Run
	policy  Policy
	rand    Rand
	members *Members
	stats   Stats
	now     time.Duration
	left    bool
	root    *segment // the run's root while this peer is its master and it has no outcome
	masters *mastership

	peers       peerTable
	heartbeatAt time.Duration // the next round of heartbeats; 0 without partners
	beats       uint64        // heartbeats sent, to whomever

	// The thief's side (thief.go, segments.go): requests sent, jobs held for others.
	flights   []Flight
	lastReq   RequestID
	failures  int           // steals in a row that brought nothing
	notBefore time.Duration // no steal is sent before
	segments  map[SegmentID]*segment
	lastSeg   SegmentID
	waiting   []*segment // held and not begun, oldest first
	unacked   []*segment // finished, result not acknowledged, by time of finishing
	unackedN  int        // bytes in them
	retryAt   time.Duration
	links     linkTable

	// The victim's side (victim.go, leases.go): requests received, jobs given away.
	asks       []Ask // waiting, oldest first
	takes      []Ask // the engine is looking for jobs for these
	lastAsk    AskID
	refs       map[Ref]*lease
	lastHandle Handle
	leaseN     int

	// What is known of lost work (lost.go).
	store      store
	tuples     tupleTable
	telling    teller
	shown      watcher
	adopting   []adopting
	reconsider bool    // something is known that was not, or a job is restarted
	leaving    *leaver // nil while this peer means to stay

	load    Load
	reports uint64 // reports of the engine so far
	runs    uint64 // RunSegment orders given
	begunAt time.Duration
	hunger  uint64 // Seq of the last Hunger sent
	wakeAt  time.Duration
	planned Plan
	view    View
	out     Output
}

// NewCore makes the core of peer self in one run. If the run is fresh, the first idle worker gets the root.
// The policy and the randomness belong to it from now on. The members must not be nil; self should be among
// them. It returns an error that wraps ErrConfig.
func NewCore(cfg Config, run Run, self Address, members *Members, policy Policy, rand Rand) (*Core, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &Core{cfg: cfg, self: self, run: run, policy: policy, rand: rand,
		segments: make(map[SegmentID]*segment), refs: make(map[Ref]*lease),
		store: newStore(cfg.MaxKept, cfg.MaxKeptBytes), tuples: newTupleTable(cfg.MaxTuples)}
	c.view.c = c
	c.masters = newMastership(&c.cfg, &c.run, self.Peer, members)
	c.take(members)
	if run.Fresh {
		c.startRoot(len(run.Restored) > 0)
	}
	c.restore(run.Restored)
	c.run.Restored = nil
	return c, nil
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
	c.expireFlights()
	c.expireAsks()
	c.retryResults()
	c.beat()
	c.masterTick()
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
	earliest(c.heartbeatAt)
	earliest(c.wakeAt)
	earliest(c.retryAt)
	earliest(c.nextMaster())
	earliest(c.nextTell())
	earliest(c.nextShow())
	earliest(c.nextHandOver())
	for i := range c.flights {
		earliest(c.flights[i].Deadline)
	}
	for i := range c.asks {
		earliest(c.asks[i].Until)
	}
	return at, ok
}

// SendFailed says that a message of an earlier Output was certainly not delivered. Saying nothing, or saying
// it of a message that was delivered after all, costs time and repeated work only.
func (c *Core) SendFailed(now time.Duration, m *Message) Output {
	if !c.begin(now) {
		return c.out
	}
	p := c.peers.find(m.To.Peer)
	switch {
	case m.Request != nil:
		c.flightFailed(m.To.Peer, m.Request.ID)
	case m.Reply != nil && p != nil:
		c.replyFailed(p, m.Reply)
	case m.Adopt != nil && p != nil:
		c.adoptFailed(p, m.Adopt)
	case m.HandOver != nil && p != nil:
		c.onHandOverAck(p, &HandOverAck{ID: m.HandOver.ID, Leaving: true})
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
	c.announceStrays()
	return c.end()
}

// take takes a membership over. A peer keeps its cluster until the membership says otherwise.
func (c *Core) take(members *Members) {
	c.members = members
	c.masters.setMembers(members)
	if me, ok := members.Find(c.self.Peer); ok {
		c.cluster = me.Cluster
	}
	for _, p := range c.peers.list {
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
	c.taken(t, jobs)
	return c.end()
}

// Finished says that a segment has run to its end, with the encoded outcome, which the core keeps until it is
// acknowledged.
func (c *Core) Finished(now time.Duration, s SegmentID, outcome []byte) Output {
	if !c.begin(now) {
		return c.out
	}
	if seg := c.segments[s]; seg != nil && seg.state == running {
		c.finish(seg, outcome)
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
	c.abortLeases(refs)
	return c.end()
}

// Stats returns the counters.
func (c *Core) Stats() Stats {
	s := c.stats
	s.TuplesEvicted += c.tuples.evicted
	return s
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
	c.now = max(c.now, now)
	c.masters.pass(c.now)
	c.noticeStall()
	return true
}

// end closes an input: what is known of restarted jobs is used, idle workers get what waits here, then
// waiting requests, then the policy is asked.
func (c *Core) end() Output {
	if c.leaving != nil {
		c.handOver()
		return c.out
	}
	c.reconsiderRestarted()
	c.feedWorkers()
	c.answerWaiting()
	c.sendAdoptions()
	c.tellNews()
	c.showOrphans()
	c.carryOutPlan()
	return c.out
}

func (c *Core) order(o Order) { c.out.Orders = append(c.out.Orders, o) }

// send addresses the body in m and counts it.
func (c *Core) send(p *peer, m *Message) { c.sendTo(p.addr(), p, m) }

// sendTo is for a life of p that may not have been heard yet.
func (c *Core) sendTo(to Address, p *peer, m *Message) {
	m.Run, m.From, m.To = c.run.ID, c.self, to
	c.out.Messages = append(c.out.Messages, m)
	size := uint64(m.Size())
	c.stats.SentByKind[m.Kind()]++
	if p.cluster == c.cluster {
		c.stats.MessagesSentLocal++
		c.stats.BytesSentLocal += size
	} else {
		c.stats.MessagesSentWide++
		c.stats.BytesSentWide += size
	}
}

// Run is the run that the core takes part in.
func (c *Core) Run() job.RunID { return c.run.ID }
