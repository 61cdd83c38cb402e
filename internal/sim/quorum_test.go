package sim

import (
	"testing"

	"github.com/satin-peer/satin/internal/driver"
)

// Whatever the network does and whoever is lost: where two have to come to an outcome who were let in by different
// members, one party that lies decides nothing, nobody honest is put out, and every run ends.
func TestQuorumSchedules(t *testing.T) {
	lies := 0
	for _, seed := range first(24) {
		c := quorumSchedule(seed)
		about := c.Describe()
		r, err := Run(c)
		if err != nil {
			t.Errorf("seed %d, %s: %v\n%s", seed, c.Quorum.about(), err, about)
			continue
		}
		lies += len(r.Proofs.Caught)
	}
	if lies == 0 {
		t.Error("nobody was caught: nothing was tried")
	}
}

// The same where peers are believed by their records, and honest ones have some: one party that lies and has none
// decides nothing.
func TestDoubtSchedules(t *testing.T) {
	lies := 0
	for _, seed := range first(20) {
		c := quorumSchedule(seed)
		c.Quorum.Doubt, c.Quorum.Record = 1e-4, []uint64{0, 30, 2000}[seed%3]
		about := c.Describe()
		r, err := Run(c)
		if err != nil {
			t.Errorf("seed %d, %s: %v\n%s", seed, c.Quorum.about(), err, about)
			continue
		}
		lies += len(r.Proofs.Caught)
	}
	if lies == 0 {
		t.Error("nobody was caught: nothing was tried")
	}
}

// The same where all may be asked how they came to their outcomes, and one node is run again where two differ, or some
// of each job. Whatever a liar shows, or does not: the answer is right, nobody honest is put out, a proof convinces
// alone, and what was seen to be wrong is not used.
func TestOpeningSchedules(t *testing.T) {
	var sum driver.Proofs
	caught := map[Manner]int{}
	for _, seed := range first(28, 11, 13) {
		r, err := RunLiars(seed)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(r.Proofs.Caught) > 0 {
			caught[openingSchedule(seed).Quorum.Shows] += len(r.Proofs.Caught)
		}
		sum.Openings += r.Proofs.Openings
		sum.Reran += r.Proofs.Reran
	}
	if len(caught) < int(manners-Bends) || sum.Openings == 0 || sum.Reran == 0 {
		t.Errorf("too little was tried: caught are, by manner, %v; %d openings, %d nodes run again", caught,
			sum.Openings, sum.Reran)
	}
}
