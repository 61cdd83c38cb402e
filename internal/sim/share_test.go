package sim

import (
	"slices"
	"testing"
)

// sharingSeeds are seeds of runs that share values, one of them with phases, two more with large arguments, and the one
// which shows that results are waited for.
func sharingSeeds() []uint64 {
	seeds := first(100, 93, 133, 148, 223, 2373)
	return slices.DeleteFunc(seeds, func(seed uint64) bool { return seed%5 != 3 })
}

// TestSharing: random schedules of runs that share values hold all invariants, and try each kind often enough. The long
// form is satin-sim exact, of which one schedule in five is such a run.
func TestSharing(t *testing.T) {
	var made, bounds, phased, guarded, large, results int
	var messages uint64
	for _, seed := range sharingSeeds() {
		c := Schedule(seed, FaultKinds())
		if c.Share == nil {
			continue // a frugal one
		}
		about := c.Describe()
		r, err := Run(c)
		if err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, about)
			continue
		}
		messages += r.Counts.SharedMessages
		for n, yes := range map[*int]bool{&made: c.Share.Makers > 0, &bounds: c.Share.Bound,
			&guarded: c.Share.Guards > 0, &large: c.Share.Large && r.Counts.Arguments > 0,
			&results: r.Counts.Outcomes > 0} {
			if yes {
				*n++
			}
		}
		if _, ok := c.Tree.(Phased); ok {
			phased++
		}
	}
	t.Logf("%d messages, %d runs make values in jobs, %d have a bound, %d guards, %d phases, %d large arguments, %d large results",
		messages, made, bounds, guarded, phased, large, results)
	if messages < 1000 || made < 5 || bounds < 3 || guarded < 5 || phased < 1 || large < 3 || results < 3 {
		t.Error("that is too little")
	}
}
