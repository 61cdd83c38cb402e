package main

import (
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/sim"
	"github.com/satin-peer/satin/internal/sim/paper"
	"github.com/satin-peer/satin/internal/wan"
)

// TestTimelineAddsUp: what a timeline says of a peer is its share of the run, of which the last column is shorter than
// the others; and it has a line for each peer, also for one that had nothing to do.
func TestTimelineAddsUp(t *testing.T) {
	var out strings.Builder
	drawTimeline(&out, &sim.Report{Elapsed: 11 * time.Second, Timeline: [][]float64{{1, 0}}}, []int{1}, 10*time.Second)
	if !strings.Contains(out.String(), "91 %") {
		t.Errorf("of 11 s it was busy for 10:\n%s", out.String())
	}
	setup := paper.Setup{App: paper.Apps()[0], Policy: "master", Network: func(uint64) *wan.Model {
		return wan.NewModel([]int{3}, wan.Conditions{Bandwidth: 1e6})
	}}
	c := setup.Config(1)
	c.Tree = &sim.Split{Total: time.Second, Grain: time.Minute, FanLow: 2, FanHigh: 2, Arg: 40, Result: 24}
	c.Bucket = time.Minute
	if r, err := sim.Run(c); err != nil || len(r.Timeline) != 3 {
		t.Errorf("three peers have %d lines (%v)", len(r.Timeline), err)
	}
}
