package steal

import (
	"errors"
	"fmt"
	"time"
)

// Config holds the bounds and periods of a core. Start from Local, LAN or WAN and change what you must; the
// zero value is not valid. Sizes are bytes, periods virtual or real time as the inputs have it.
type Config struct {
	// HeartbeatEvery is the period of heartbeats to each partner in the same cluster. At least 1 ms.
	HeartbeatEvery time.Duration
	// WideHeartbeatEvery is the least period of heartbeats to each partner in another cluster. The actual one
	// is ten round trips, if that is longer, up to MaxHeartbeatEvery. At least HeartbeatEvery.
	WideHeartbeatEvery time.Duration
	// MaxHeartbeatEvery bounds the periods, also those that others announce.
	MaxHeartbeatEvery time.Duration
	// HeartbeatMisses is how many of a partner's periods of silence make it lost. At least 2.
	HeartbeatMisses int
	// InventoryMisses is how many consecutive inventories a leased job must be missing from before it is
	// queued again. One is not enough: the heartbeat may have crossed the reply on the way. At least 1.
	InventoryMisses int

	// StealTimeout is the least time after which an unanswered steal request is given up. The actual time is patience
	// + max(StealTimeout, 4 x the link's last steal time), of this at most StealTimeoutMax. A reply that comes later is
	// still used.
	StealTimeout time.Duration
	// StealTimeoutMax bounds what a request is waited for: a request that is lost counts as a slow one, and of some
	// that are lost in a row, while a link is down, each would be waited for four times longer. At least StealTimeout.
	StealTimeoutMax time.Duration
	// StealGap is the least time between a steal that failed and the next request to any peer, so that no
	// policy can spin. 0 lets a policy ask again at once.
	StealGap time.Duration
	// ResultRetry is the least time after which an unacknowledged result is sent again; the actual time is
	// max(ResultRetry, 3 x the expected transfer) and doubles with each repetition, up to ResultRetryMax.
	ResultRetry    time.Duration
	ResultRetryMax time.Duration

	// MaxBatch is the most jobs in one reply.
	MaxBatch int
	// MaxReplyBytes bounds the encoded jobs of one reply, the first job excepted. It must leave room in the
	// transport's control frame (256 KiB).
	MaxReplyBytes int
	// MaxJobBytes is the largest encoded job that may leave the peer; a larger one goes back to the engine.
	MaxJobBytes int
	// MaxWaiting bounds the stolen jobs that wait here for a worker.
	MaxWaiting int
	// MaxSegments bounds the stolen jobs held in all: waiting, running, or finished and not acknowledged. It
	// also bounds the inventory in a heartbeat (9 bytes a handle).
	MaxSegments int
	// MaxUnackedBytes is how many bytes of unacknowledged results stop this peer from stealing more.
	MaxUnackedBytes int
	// MaxLeases bounds the jobs of this peer that others hold; at the bound requests are refused.
	MaxLeases int
	// MaxAsks bounds the steal requests that wait here for an answer; the next one is refused.
	MaxAsks int
	// MaxFlights bounds this peer's own unanswered steal requests.
	MaxFlights int
	// MaxPartners bounds the peers whose liveness is followed. At the bound, requests of strangers are refused.
	MaxPartners int
	// MaxPatience is the longest that a request is kept waiting here, whatever it asks for.
	MaxPatience time.Duration

	// EagerAfter is how long others must have had a job before an idle peer gets a copy of it, if there is nothing
	// else for it. 0: nobody gets one.
	EagerAfter time.Duration
	// EagerPercent is how many jobs of 100 given away may be copied so.
	EagerPercent int

	// LeaseEnd is how long workers here must have been idle while a thief had a job, and a quarter of that time at
	// least, before they run it themselves though the thief is heard and lists it. 0: they never do.
	LeaseEnd time.Duration
	// LeaseEndMax is as long as LeaseEnd grows where leases take long.
	LeaseEndMax time.Duration

	// MaxTuples bounds the table of who has what of lost work.
	MaxTuples int
	// MaxTuplesPerNews bounds the tuples that are told at once, and those that go with a reply. At most 1,024.
	MaxTuplesPerNews int
	// TellEvery is the least time between two News of this peer with tuples, during which more of them are gathered.
	TellEvery time.Duration
	// MaxKept and MaxKeptBytes bound the outcomes that are kept in case they are needed again.
	MaxKept      int
	MaxKeptBytes int
	// MaxHandOver bounds the encoded outcomes of a HandOver that has several. It must leave room in the
	// transport's control frame (256 KiB). A larger outcome travels alone, as a large result does.
	MaxHandOver int

	// MaxCopied is the largest outcome, in bytes, of a part of a job that is still at work, of which whoever waits for
	// the job gets a copy; of the root's jobs somebody in another cluster does. 0: none.
	MaxCopied int

	// BeaconEvery is the period of a master's beacons.
	BeaconEvery time.Duration
	// MasterLease is how long no master must have been heard before the first deputy takes over; behind a slow link it
	// is longer, up to HeartbeatMisses x MaxHeartbeatEvery. At least 2 BeaconEvery.
	MasterLease time.Duration
	// RankStagger is how much longer each following deputy waits.
	RankStagger time.Duration
}

// LAN suits peers on one local network, and is the default.
func LAN() Config {
	return Config{
		HeartbeatEvery:     time.Second,
		WideHeartbeatEvery: time.Second,
		MaxHeartbeatEvery:  10 * time.Second,
		HeartbeatMisses:    3,
		InventoryMisses:    2,
		StealTimeout:       500 * time.Millisecond,
		StealTimeoutMax:    4 * time.Second,
		StealGap:           200 * time.Microsecond,
		ResultRetry:        2 * time.Second,
		ResultRetryMax:     30 * time.Second,
		MaxBatch:           16,
		MaxReplyBytes:      192 << 10,
		MaxJobBytes:        192 << 10,
		MaxWaiting:         64,
		MaxSegments:        1024,
		MaxUnackedBytes:    64 << 20,
		MaxLeases:          4096,
		MaxAsks:            64,
		MaxFlights:         16,
		MaxPartners:        512,
		MaxPatience:        5 * time.Second,
		LeaseEnd:           30 * time.Second,
		LeaseEndMax:        4 * time.Minute,
		MaxTuples:          16384,
		MaxTuplesPerNews:   256,
		TellEvery:          50 * time.Millisecond,
		MaxKept:            8192,
		MaxKeptBytes:       64 << 20,
		MaxHandOver:        192 << 10,
		MaxCopied:          192 << 10,
		BeaconEvery:        2 * time.Second,
		MasterLease:        6 * time.Second,
		RankStagger:        2 * time.Second,
	}
}

// WAN suits swarms with clusters behind slow links: it waits longer before it believes that something is lost.
func WAN() Config {
	c := LAN()
	c.WideHeartbeatEvery = 3 * time.Second
	c.MaxHeartbeatEvery = 30 * time.Second
	c.StealTimeout, c.StealTimeoutMax = 5*time.Second, 30*time.Second
	c.ResultRetry = 3 * time.Second
	c.ResultRetryMax = time.Minute
	return c
}

// Local suits processes on one machine.
func Local() Config {
	c := LAN()
	c.StealTimeout = 100 * time.Millisecond
	c.StealGap = 50 * time.Microsecond
	c.ResultRetry = 500 * time.Millisecond
	return c
}

// ErrConfig is what Validate wraps.
var ErrConfig = errors.New("invalid steal configuration")

// Validate says which field is out of its range.
func (c *Config) Validate() error {
	atLeast := func(name string, v, least int64) error {
		if v < least {
			return fmt.Errorf("%w: %s is %d, at least %d is needed", ErrConfig, name, v, least)
		}
		return nil
	}
	atMost := func(name string, v, most int64) error {
		if v > most {
			return fmt.Errorf("%w: %s is %d, at most %d is possible", ErrConfig, name, v, most)
		}
		return nil
	}
	return errors.Join(
		atLeast("HeartbeatEvery", int64(c.HeartbeatEvery), int64(time.Millisecond)),
		atLeast("WideHeartbeatEvery", int64(c.WideHeartbeatEvery), int64(c.HeartbeatEvery)),
		atLeast("MaxHeartbeatEvery", int64(c.MaxHeartbeatEvery), int64(c.WideHeartbeatEvery)),
		atLeast("HeartbeatMisses", int64(c.HeartbeatMisses), 2),
		atLeast("InventoryMisses", int64(c.InventoryMisses), 1),
		atLeast("StealTimeout", int64(c.StealTimeout), 1),
		atLeast("StealTimeoutMax", int64(c.StealTimeoutMax), int64(c.StealTimeout)),
		atLeast("StealGap", int64(c.StealGap), 0),
		atLeast("ResultRetry", int64(c.ResultRetry), 1),
		atLeast("ResultRetryMax", int64(c.ResultRetryMax), int64(c.ResultRetry)),
		atLeast("MaxBatch", int64(c.MaxBatch), 1),
		atLeast("MaxReplyBytes", int64(c.MaxReplyBytes), 1),
		atLeast("MaxJobBytes", int64(c.MaxJobBytes), 1),
		atLeast("MaxWaiting", int64(c.MaxWaiting), 1),
		atLeast("MaxSegments", int64(c.MaxSegments), int64(c.MaxWaiting)),
		atLeast("MaxUnackedBytes", int64(c.MaxUnackedBytes), 1),
		atLeast("MaxLeases", int64(c.MaxLeases), 1),
		atLeast("MaxAsks", int64(c.MaxAsks), 1),
		atLeast("MaxFlights", int64(c.MaxFlights), 1),
		atLeast("MaxPartners", int64(c.MaxPartners), 1),
		atLeast("MaxPatience", int64(c.MaxPatience), 0),
		atLeast("EagerAfter", int64(c.EagerAfter), 0),
		atLeast("EagerPercent", int64(c.EagerPercent), 0),
		atMost("EagerPercent", int64(c.EagerPercent), 100),
		atLeast("LeaseEnd", int64(c.LeaseEnd), 0),
		atLeast("LeaseEndMax", int64(c.LeaseEndMax), int64(c.LeaseEnd)),
		atLeast("MaxTuples", int64(c.MaxTuples), 1),
		atLeast("MaxTuplesPerNews", int64(c.MaxTuplesPerNews), 1),
		atMost("MaxTuplesPerNews", int64(c.MaxTuplesPerNews), maxTuples),
		atLeast("TellEvery", int64(c.TellEvery), 1),
		atLeast("MaxKept", int64(c.MaxKept), 1),
		atLeast("MaxKeptBytes", int64(c.MaxKeptBytes), 1),
		atLeast("MaxHandOver", int64(c.MaxHandOver), 1),
		atLeast("MaxCopied", int64(c.MaxCopied), 0),
		atLeast("BeaconEvery", int64(c.BeaconEvery), int64(time.Millisecond)),
		atLeast("MasterLease", int64(c.MasterLease), 2*int64(c.BeaconEvery)),
		atLeast("RankStagger", int64(c.RankStagger), 1),
	)
}
