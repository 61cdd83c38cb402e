package sim

import (
	"fmt"
	"slices"
	"time"
)

// lossy are the faults of a network, and those of peers from which a run recovers while its owner stays.
func lossy() []FaultKind {
	return []FaultKind{Drop, Delay, Duplicate, Reorder, Corrupt, PartitionShort, ReplyUnwritable, Crash,
		Restart, Stall, Leave, Join}
}

// quorumSchedule is a random run in which one party lies.
func quorumSchedule(seed uint64) Config {
	c := Schedule(seed, lossy())
	if c.Share != nil { // jobs that read a lattice may honestly differ
		c = Schedule(seed+1, lossy())
	}
	c.Faults = slices.DeleteFunc(c.Faults, func(f Fault) bool {
		return f.Peer == 0 && (f.Kind == Crash || f.Kind == Restart || f.Kind == Leave)
	})
	c.Withholder = nil
	c.Audit, c.Frugal, c.Vouch, c.Reorder = false, false, true, 0
	peers := 0
	for _, n := range c.Network.Sizes() {
		peers += n
	}
	q := &Quorum{Size: 2, Rate: []float64{0.05, 0.5, 1}[seed%3], OneParty: true, Judged: seed%4 < 2}
	for i := 1; i < peers && len(q.Liars) < 1+int(seed%2)*2; i++ {
		q.Liars = append(q.Liars, int32(i))
	}
	c.Quorum = q
	return c
}

// openingSchedule is one in which the owner may ask how others came to their outcomes.
func openingSchedule(seed uint64) Config {
	c := quorumSchedule(seed)
	q := c.Quorum
	q.Judged, q.Shows = false, Bends+Manner(seed/3%uint64(manners-Bends))
	c.KeepAfter = max(c.KeepAfter, time.Millisecond)
	switch {
	case seed/18%4 == 1 && q.Shows != Spoils: // else some lies are not found
		q.Spot = []float64{0.01, 0.1, 1}[seed/72%3]
	case seed/18%4 == 3:
		q.Doubt, q.Record = 1e-4, []uint64{0, 30, 2000}[seed/72%3]
	}
	return c
}

// RunLiars runs one schedule in which some of the peers lie and the owner may ask how others came to their outcomes.
func RunLiars(seed uint64) (*Report, error) {
	c := openingSchedule(seed)
	about := c.Describe()
	r, err := Run(c)
	if err != nil {
		err = fmt.Errorf("seed %d, %s: %w\n%s", seed, c.Quorum.about(), err, about)
	}
	return r, err
}
