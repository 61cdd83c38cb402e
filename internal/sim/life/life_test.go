package life

import (
	"io"
	"testing"
)

// Many schedules break no invariant.
func TestSchedules(t *testing.T) {
	n := uint64(1000)
	if testing.Short() {
		n = 300
	}
	c, failures := Check(0, n)
	for _, f := range failures {
		t.Errorf("seed %d: %v", f.Seed, f.Err)
	}
	if c.Crashes == 0 || c.Lost == 0 || c.Disputes == 0 || c.Answers == 0 {
		t.Errorf("the schedules are too tame: %+v", c)
	}
}

// The same seed gives the same run.
func TestReplay(t *testing.T) {
	for seed := range uint64(20) {
		if err := Replay(seed, io.Discard); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}
