package sim

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
)

// Config describes one simulated run. Everything that happens follows from it: equal configurations give equal runs, to the
// byte of the trace.
type Config struct {
	// Tree is the computation.
	Tree Tree
	// Seed decides all that is left to chance: the cores' randomness, faults, start-up.
	Seed uint64
	// Network has the clusters, whose sizes are the numbers of peers, and the links. The run uses it up.
	Network *wan.Model
	// Policy makes the policy of one peer's core.
	Policy func() steal.Policy
	// Core has the bounds and periods of the cores; the zero value means steal.WAN().
	Core steal.Config
	// Workers is the number of jobs a peer runs at once, at least 1; 0 means 1.
	Workers int
	// Speed gives a peer's speed at its start, as a multiple of that for which the tree's costs hold; nil means 1.
	// Speeds that change later are faults of kind Slow.
	Speed func(peer int) float64

	// SpawnOverhead is the share of its own cost that every job takes longer than the sequential program would: what the
	// programming model costs. At least 0.
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

	// Faults happen at their times.
	Faults []Fault
	// Limit is the virtual time at which a run that has not ended is declared to hang. 0 means 24 hours.
	Limit time.Duration
	// Want is the result the run must have; nil: it is computed by Sequential.
	Want *Result
	// Quiesce lets the run go on, after the root has its result, until every peer has forgotten all it held for others:
	// at most so long. 0 ends the run with the result.
	Quiesce time.Duration

	// Trace gets a line for everything that happens; nil for nothing.
	Trace io.Writer
	// Buckets is the number of equal stretches of time that Result.Timeline is divided into; 0 for no timeline.
	Bucket time.Duration
}

// DefaultFrameBytes is the size of what surrounds an encoded message: 40 of IP and TCP, 29 of a TLS record, 3 of length
// prefix, and 34 for each of two peer IDs, whose real ones are so much longer than the simulator's.
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
	case c.Limit < 0 || c.Quiesce < 0 || c.Bucket < 0:
		return fmt.Errorf("%w: a negative time", ErrConfig)
	}
	if c.Workers == 0 {
		c.Workers = 1
	}
	if c.Core == (steal.Config{}) {
		c.Core = steal.WAN()
	}
	if c.FrameBytes == 0 {
		c.FrameBytes = DefaultFrameBytes
	}
	if c.Limit == 0 {
		c.Limit = defaultLimit
	}
	return nil
}
