package sim

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/steal/policy"
)

// Config describes one simulated run. Everything that happens follows from it: equal configurations give
// equal runs, to the byte of the trace.
type Config struct {
	// Tree is the computation.
	Tree Tree
	// Seed decides all that is left to chance: the cores' randomness, faults, start-up.
	Seed uint64
	// Network has the clusters, whose sizes are the numbers of peers, and the links. The run uses it up.
	Network *wan.Model
	// Policy makes the policy of one peer's core.
	Policy func() policy.Policy
	// Core has the bounds and periods of the cores; the zero value means steal.WAN().
	Core steal.Config
	// Workers is the number of jobs a peer runs at once, at least 1; 0 means 1.
	Workers int
	// Cores, if not nil, gives the number of each peer instead.
	Cores func(peer int) int
	// Deaf leaves notice that nobody wants them at their end only, as those that never ask; until then their workers
	// are busy.
	Deaf bool
	// Speed gives a peer's speed at its start, as a multiple of that for which the tree's costs hold; nil means 1.
	// Speeds that change later are faults of kind Slow.
	Speed func(peer int) float64

	// SpawnOverhead is the share of its own cost that every job takes longer than the sequential program
	// would: what the programming model costs. At least 0.
	SpawnOverhead float64
	// MessageCost is the processor time that sending or receiving a message takes from the jobs of a peer.
	MessageCost time.Duration
	// ByteCost is the processor time that encoding or decoding a byte takes from them.
	ByteCost time.Duration
	// FrameBytes is added to the encoded size of every message: peer IDs (the simulator's are short), length prefix,
	// encryption, transport and network headers. 0 means DefaultFrameBytes.
	FrameBytes int
	// ServeDelay is the time an engine needs to give away a job.
	ServeDelay time.Duration

	// Recovery is what is done for work whose owner is gone.
	Recovery steal.Recovery
	// KeepAfter is how much of a worker's time a job must have taken, with all below it, that its result is
	// kept in case its owner is lost; 0: none is.
	KeepAfter time.Duration
	// Patience is how long a peer that leaves may take to hand over what it has; 0 means DefaultPatience.
	Patience time.Duration
	// Gossip is how what is told to everybody travels.
	Gossip Gossip
	// Checkpoint is what peers write to their disks.
	Checkpoint Checkpoint
	// Reorder is the probability with which a job spawns its children in another order when it begins again:
	// an inlet decides by what came first. So the same path may mean another job the second time.
	Reorder float64

	// Largest has engines give away the largest job that they have, not the oldest, as though they knew how large
	// each is.
	Largest bool

	// Adapt, if not nil, has the run's master decide who takes part.
	Adapt *Adapt
	// Share, if not nil, says what jobs share.
	Share *Share
	// Withholder, if not nil, says who takes jobs and brings nothing home.
	Withholder *Withholder
	// Room is how many bytes each peer has for what others give it; 0: as many as there are.
	Room int
	// Faults happen at their times.
	Faults []Fault
	// Audit keeps account of every job of the run, for the invariants that need it. It costs about as much as
	// the run.
	Audit bool
	// Vouch has peers say of each outcome who has computed it, as real ones do; messages are longer for it.
	Vouch bool
	// Outcast, if not nil, is put out of the swarm.
	Outcast *Outcast
	// Quorum, if not nil, has the owner compare what others bring.
	Quorum *Quorum
	// Frugal makes it a violation that much is done again whose outcome somebody has: for runs that have no excuse.
	Frugal bool
	// MostAgain, if it is not 0, makes it a violation that more work than that is done twice: for faults that pass.
	MostAgain time.Duration
	// Begin is when the run begins: not at once, where it shares a swarm with others (see Compete).
	Begin time.Duration
	// Limit is how long after the last fault has ended a run that has not is declared to hang. 0 means 24 hours.
	Limit time.Duration
	// Want is the result the run must have; nil: it is computed by Sequential.
	Want *Result
	// Quiesce lets the run go on, after the root has its result, until every peer has forgotten all it held
	// for others: at most so long. 0 ends the run with the result.
	Quiesce time.Duration

	// Trace gets a line for everything that happens; nil for nothing.
	Trace io.Writer
	// Weigh has the report say how much memory the run takes, after a collection of garbage.
	Weigh bool
	// Between is called after each event, for runs that take turns on one processor; nil for nothing.
	Between func()
	// Buckets is the number of equal stretches of time that Result.Timeline is divided into; 0 for no timeline.
	Bucket time.Duration
}

// Gossip is a modelled broadcast: a message that is told reaches every live peer that it is not lost for, by
// the fastest way through the clusters, at the receiver's own time.
type Gossip struct {
	// Delay is the most that a message takes beyond the links' time, drawn anew for every receiver, so that
	// messages overtake each other: combining, hops from peer to peer.
	Delay time.Duration
	// Loss is the probability that a receiver never gets a message, Repeat that it gets it twice.
	Loss, Repeat float64
}

// Checkpoint is a modelled log on every peer's disk, of the outcomes that the peer has kept or sent home. Its
// records outlive the peer.
type Checkpoint struct {
	// Every is the time between two commits, the first of which is at Phase; what came after the last one is lost
	// with the peer. 0: there are no disks.
	Every, Phase time.Duration
	// Torn: what came after the last commit is not lost for certain. Chance says of each record whether the system
	// had written it by itself, as systems do.
	Torn bool
	// RecordCost and ByteCost are the processor time that writing takes from the jobs of the peer.
	RecordCost, ByteCost time.Duration
}

// DefaultPatience is what a peer that is asked to go has for it.
const DefaultPatience = 5 * time.Second

// DefaultFrameBytes is the size of what surrounds an encoded message: 40 of IP and TCP, 29 of a TLS record, 3
// of length prefix, and 34 for each of two peer IDs, whose real ones are so much longer than the simulator's.
const DefaultFrameBytes = 140

const defaultLimit = 24 * time.Hour

// ErrConfig is what errors about a Config wrap.
var ErrConfig = errors.New("invalid simulation")

func (c *Config) complete() error {
	switch {
	case c.Tree == nil || c.Network == nil || c.Policy == nil:
		return fmt.Errorf("%w: Tree, Network and Policy are needed", ErrConfig)
	case c.Workers < 0 || c.Workers > 1024:
		return fmt.Errorf("%w: %d workers a peer; 1 to 1024 are possible", ErrConfig, c.Workers)
	case c.SpawnOverhead < 0 || c.MessageCost < 0 || c.ByteCost < 0 || c.FrameBytes < 0 || c.ServeDelay < 0:
		return fmt.Errorf("%w: a negative cost", ErrConfig)
	case c.Limit < 0 || c.Quiesce < 0 || c.Bucket < 0 || c.KeepAfter < 0 || c.Patience < 0 || c.Gossip.Delay < 0 ||
		c.Checkpoint.Every < 0 || c.Checkpoint.Phase < 0 || c.Checkpoint.RecordCost < 0 || c.Checkpoint.ByteCost < 0:
		return fmt.Errorf("%w: a negative time", ErrConfig)
	}
	for _, p := range []float64{c.Gossip.Loss, c.Gossip.Repeat, c.Reorder} {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("%w: the probability %v; 0 to 1 is possible", ErrConfig, p)
		}
	}
	c.Patience = cmp.Or(c.Patience, DefaultPatience)
	if c.Workers == 0 {
		c.Workers = 1
	}
	if c.Core == (steal.Config{}) {
		c.Core = steal.WAN()
	}
	c.FrameBytes = cmp.Or(c.FrameBytes, DefaultFrameBytes)
	if c.Limit == 0 {
		c.Limit = defaultLimit
	}
	return nil
}
