package sim

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/wan"
)

// TestAsleep: a laptop that sleeps for eight hours costs a run what it would have done in them, and next to nothing
// else: what the other one has done of its job meanwhile is kept, and awake it takes part again. So it is whether its
// clock went on, as that of a process that was stopped does, or stood still, as a machine's. If it held the root, the
// other one held it meanwhile, and what that was in the middle of when the owner came back is done again.
func TestAsleep(t *testing.T) {
	const lid, night, rest = 5 * time.Minute, 8 * time.Hour, 40 * time.Minute
	for _, x := range []struct {
		name    string
		kind    FaultKind
		sleeper int
		late    time.Duration // at most, for want of what is done again
	}{
		{"a helper", Stall, 1, 3 * time.Minute},
		{"the owner", MasterStall, 0, 2 * time.Hour},
	} {
		asleep := Fault{Kind: x.kind, At: lid, For: night, Peer: x.sleeper}
		back := Fault{Kind: ClockBackward, At: lid + night, Amount: night.Seconds(), Peer: x.sleeper}
		for clock, faults := range map[string][]Fault{"went on": {asleep}, "stood still": {asleep, back}} {
			tree := smallSplit()
			tree.Total, tree.Grain = 2*lid+night+2*rest, time.Minute
			c := quiet(tree, "crs")
			c.Network, c.Faults, c.Core = wan.NewModel([]int{2}, lan), faults, patient()
			r, err := Run(c)
			if err != nil {
				t.Errorf("%s, whose clock %s: %v", x.name, clock, err)
			} else if late := r.Elapsed - (lid + night + rest); late < 0 || late > x.late {
				t.Errorf("%s, whose clock %s: it took %v, %v longer than need be", x.name, clock, r.Elapsed, late)
			}
		}
	}
}
