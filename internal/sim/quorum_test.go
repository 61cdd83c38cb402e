package sim

import (
	"slices"
	"testing"
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

// Whatever the network does and whoever is lost: where two have to come to an outcome who were let in by different
// members, one party that lies decides nothing, nobody honest is put out, and every run ends.
func TestQuorumSchedules(t *testing.T) {
	lies := 0
	for seed := range uint64(60) {
		c := quorumSchedule(seed)
		about := c.Describe()
		r, err := Run(c)
		if err != nil {
			t.Errorf("seed %d, %s: %v\n%s", seed, c.Quorum.about(), err, about)
			continue
		}
		lies += r.Lies
	}
	if lies == 0 {
		t.Error("nobody was caught: nothing was tried")
	}
}

// The same where peers are believed by their records, and honest ones have some: one party that lies and has none
// decides nothing.
func TestDoubtSchedules(t *testing.T) {
	lies := 0
	for seed := range uint64(40) {
		c := quorumSchedule(seed)
		c.Quorum.Doubt, c.Quorum.Record = 1e-4, []uint64{0, 30, 2000}[seed%3]
		about := c.Describe()
		r, err := Run(c)
		if err != nil {
			t.Errorf("seed %d, %s: %v\n%s", seed, c.Quorum.about(), err, about)
			continue
		}
		lies += r.Lies
	}
	if lies == 0 {
		t.Error("nobody was caught: nothing was tried")
	}
}
