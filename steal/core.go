package steal

import "time"

// Core is the protocol state of one peer in one run. See the package comment.
type Core struct {
	cfg     Config
	self    Address
	cluster ClusterID
	run     RunID
	policy  Policy
	rand    Rand
	members *Members
	stats   Stats
	out     Output
}

// NewCore makes the core of peer self for one run. The policy and the randomness belong to it from now on. The members must
// not be nil; self is among them or gets the empty cluster. It returns an error that wraps ErrConfig.
func NewCore(cfg Config, run RunID, self Address, members *Members, policy Policy, rand Rand) (*Core, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &Core{cfg: cfg, self: self, run: run, policy: policy, rand: rand}
	c.SetMembers(0, members)
	return c, nil
}

// Step takes a message in. It may be any message at all: what does not make sense is counted and dropped.
func (c *Core) Step(now time.Duration, m *Message) Output { return c.output() }

// Tick lets time pass. Call it at the time Next says, or later; more often is harmless.
func (c *Core) Tick(now time.Duration) Output { return c.output() }

// Next is when the core wants to be ticked; false if nothing is due.
func (c *Core) Next() (at time.Duration, ok bool) { return 0, false }

// SendFailed says that a message of an earlier Output was certainly not delivered. Saying nothing, or saying it of a message
// that was delivered after all, costs time and repeated work only.
func (c *Core) SendFailed(now time.Duration, m *Message) Output { return c.output() }

// SetMembers replaces the membership. Peers that are gone from it are not stolen from any more; whether they are lost is for
// heartbeats and goodbyes to say.
func (c *Core) SetMembers(now time.Duration, members *Members) Output {
	c.members = members
	if me, ok := members.Find(c.self.Peer); ok {
		c.cluster = me.Cluster
	}
	return c.output()
}

// Report tells the core how busy the engine is. Call it whenever the number of idle workers changes, and when Queued becomes
// zero, leaves zero, or falls through a low number (Adaptive documents its own); between those it may be stale.
func (c *Core) Report(now time.Duration, l Load) Output { return c.output() }

// Taken answers the Take order with the same ticket: oldest job first. The core owns the jobs until it orders Deliver or
// PutBack for each, or hears Aborted.
func (c *Core) Taken(now time.Duration, t Ticket, jobs []Taken) Output { return c.output() }

// Finished says that a segment has run to its end, with the encoded outcome, which the core keeps until it is acknowledged.
func (c *Core) Finished(now time.Duration, s SegmentID, outcome []byte) Output { return c.output() }

// Aborted says that the frames which spawned these given-away jobs do not want them any more. The refs are free for reuse.
func (c *Core) Aborted(now time.Duration, refs ...Ref) Output { return c.output() }

// Leave makes this peer say goodbye: what it holds is aborted here and queued again by its owners. Afterwards the core
// ignores everything.
func (c *Core) Leave(now time.Duration) Output { return c.output() }

// Stats returns the counters.
func (c *Core) Stats() Stats { return c.stats }

func (c *Core) output() Output { return c.out }
