package peer

import (
	"math"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/runs"
)

const gaugeEvery = 30 * time.Second

// A run's efficiency is that of the last half minute, of those who were there all the time, each core counting alike:
// not what their whole lives come to, nor what an owner has taken of a machine.
func TestGauge(t *testing.T) {
	g, now := newGauge(&runs.Manifest{}, gaugeEvery), time.Unix(1000, 0)
	spent := map[peer.ID]report.RunStats{}
	period := func(changes map[peer.ID]report.RunStats) (float64, int) {
		var all []told
		for id, c := range changes {
			s := spent[id]
			s.Add(&c)
			spent[id] = s
			all = append(all, told{peer: id, cluster: "here", stats: s})
		}
		g.measure(now, "a", nil, nil, all)
		now = now.Add(gaugeEvery)
		return g.last.Efficiency, g.last.Sampled
	}
	half := report.RunStats{UsefulTime: 15000, IdleTime: 15000}
	wide := report.RunStats{UsefulTime: 90000, StealTime: 10000, WaitTime: 10000, CommTime: 10000, HeldTime: 90000,
		CPUTime: 45000}
	if e, n := period(map[peer.ID]report.RunStats{"a": {UsefulTime: 9e6}, "b": {}}); e != 0 || n != 0 {
		t.Errorf("before the first period is over: %v of %d", e, n)
	}
	want := (1*0.5 + 4*0.75) / 5 // b has four cores; how fast they are nobody has measured
	if e, n := period(map[peer.ID]report.RunStats{"a": half, "b": wide}); n != 2 || math.Abs(e-want) > 1e-9 {
		t.Errorf("%v of %d, want %v", e, n, want)
	}
	if e, n := period(map[peer.ID]report.RunStats{"a": half, "b": {}}); n != 1 || e != 0.5 {
		t.Errorf("b is paused: %v of %d", e, n)
	}
	if e, n := period(map[peer.ID]report.RunStats{"a": half, "c": wide}); n != 1 || e != 0.5 {
		t.Errorf("c has just come: %v of %d", e, n)
	}
	now = now.Add(-time.Second)
	if g.measure(now, "a", nil, nil, nil) || g.last.Sampled != 1 {
		t.Error("a period is over before its time")
	}
}

// Whoever is master again goes on with nothing that it has measured before it was not.
func TestGaugeIsOfOneMaster(t *testing.T) {
	r := &part{manifest: &runs.Manifest{}}
	if !r.gauges(true, gaugeEvery) {
		t.Fatal("a master does not measure")
	}
	first := r.gauge
	if r.gauges(true, gaugeEvery); r.gauge != first {
		t.Error("it begins anew in the middle")
	}
	if r.gauges(false, gaugeEvery) || !r.gauges(true, gaugeEvery) || r.gauge == first {
		t.Error("it goes on with what it measured when it was master before")
	}
}
