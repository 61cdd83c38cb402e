package peer_test

import (
	"math"
	"testing"

	"github.com/satin-peer/satin/peer/control"
)

// Guards that people at different peers see the same of one run: how far it is while it goes on, which only whoever
// holds its root knows by itself, and in the end how long it took, whenever each has joined.
func TestPeersAgreeOnTimeAndProgress(t *testing.T) {
	t.Parallel()
	list := swarm(t, 2)
	work := last(t)
	run := submit(t, list[0], "count", work.arg)
	until(t, "the other one takes part", func() bool { return taken(list[1]) > 0 })
	late := open(t)
	if _, err := late.Join(deadline(t), address(t, list[0])); err != nil {
		t.Fatal(err)
	}
	list = append(list, late)
	for _, p := range list {
		until(t, "all know how far it is", func() bool { return runs(t, p)[run].Share > 0 })
	}
	work.end(t)
	if got := await[int](t, list[0], run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
	took := math.Floor(1000 * runs(t, list[0])[run].Elapsed) // tombstones have milliseconds
	for _, p := range list {
		until(t, "it is over for all", func() bool { return runs(t, p)[run].State == control.RunDone })
		if r := runs(t, p)[run]; r.Share != 1 || math.Abs(1000*r.Elapsed-took) > 1 {
			t.Errorf("peer %s: %v of it done in %v s; its owner says %v ms", p.ID(), r.Share, r.Elapsed, took)
		}
	}
}
