package engine_test

import (
	"testing"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("test.leavesGroups", leavesGroups)
	satin.Register("test.untaken", untaken)
}

// leavesGroups leaves a group of which not all results are taken.
func leavesGroups(f *satin.Frame, how int) (sum int) {
	g := satin.Fork(f, identity)
	g.Spawn(1)
	g.Spawn(2)
	if how == 0 {
		return 3 // its end waits
	}
	if f.Sync(); how == 1 {
		return 3
	}
	h := satin.Fork(f, identity)
	h.Spawn(4)
	if f.Sync(); how == 3 {
		panic("left")
	}
	for r := range g.Results() {
		sum += r
	}
	return sum
}

// untaken counts the groups with results at most while it calls many jobs that leave such.
func untaken(f *satin.Frame, how int) (most int) {
	for range 100 {
		x := satin.Spawn(f, leavesGroups, how)
		if how == 3 {
			_, _ = x.Try()
		} else if x.Get() != 3 {
			panic("results of a group that is at work are forgotten")
		}
		most = max(most, worker(f).Untaken())
	}
	return most
}

// TestUntakenResultsGo: what a group's children gave goes with the job that left it, or when the next one like it opens
// a group, and at the latest with the run.
func TestUntakenResultsGo(t *testing.T) {
	p := testPool(t, 1)
	for how := range 4 {
		if most := run(t, p, untaken, how); most > 1 {
			t.Errorf("case %d: results of %d groups are left", how, most)
		}
		until(t, "the core is idle", func() bool { return p.Idle() == 1 })
		if n := p.AllWorkers()[0].Untaken(); n > 0 {
			t.Errorf("case %d: results of %d groups are left after the run", how, n)
		}
	}
}
