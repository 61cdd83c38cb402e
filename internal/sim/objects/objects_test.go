package objects

import (
	"flag"
	"testing"
)

var (
	seeds = flag.Uint64("seeds", 40, "schedules to run")
	first = flag.Uint64("first", 1, "the first of them")
)

// Schedules from seeds: every invariant holds in all of them.
func TestSchedules(t *testing.T) {
	for seed := *first; seed < *first+*seeds; seed++ {
		if _, err := Run(Schedule(seed)); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
