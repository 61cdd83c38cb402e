package peer

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/runs"
)

// A speed that was measured holds until the next one, but for what a peer's threads have had of the processors then and
// have now: what a machine's owner takes shows at once, and jobs that sleep look neither slow nor fast.
func TestSpeedsAreScaled(t *testing.T) {
	g := newGauge(&runs.Manifest{}, gaugeEvery)
	of := func(took time.Duration, runs uint64, held, cpu, idle report.Span) float64 {
		return g.speedOf(&told{peer: "a", speed: port.Speed{Took: took, Runs: runs}},
			&report.RunStats{HeldTime: held, CPUTime: cpu, UsefulTime: held, IdleTime: idle})
	}
	const took = 20 * time.Millisecond
	for _, c := range []struct {
		name            string
		took            time.Duration
		runs            uint64
		held, cpu, idle report.Span
		want            float64
	}{
		{"not measured", 0, 0, 30000, 30000, 0, 0},
		{"jobs that sleep", took, 1, 30000, 600, 0, 50},
		{"they still do", took, 1, 30000, 600, 0, 50},
		{"its owner comes", took, 1, 30000, 60, 0, 5},
		{"idle", took, 1, 1000, 10, 29000, 50},
		{"measured again", 10 * took, 2, 30000, 60, 0, 5},
		{"its owner goes", 10 * took, 2, 30000, 600, 0, 50},
		{"measured when idle", took, 3, 0, 0, 30000, 50},
		{"at work", took, 3, 30000, 15000, 0, 50},
		{"and half of it is gone", took, 3, 30000, 7500, 0, 25},
	} {
		if got := of(c.took, c.runs, c.held, c.cpu, c.idle); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Measured speeds weigh what peers do, and those of another yardstick do not.
func TestGaugeWeighsBySpeed(t *testing.T) {
	g, now := newGauge(&runs.Manifest{}, gaugeEvery), time.Unix(1000, 0)
	spent := report.RunStats{UsefulTime: 15000, IdleTime: 15000}
	for i := range 2 {
		var all []told
		for id, took := range map[peer.ID]time.Duration{"a": 20 * time.Millisecond, "b": 80 * time.Millisecond, "c": 0,
			"other": time.Second} {
			s := report.RunStats{}
			for range i {
				s.Add(&spent)
			}
			x := told{peer: id, stats: s, speed: port.Speed{Took: took, Runs: 1, Yardstick: job.Identity{1}}}
			if id == "other" {
				x.speed.Yardstick[0]++
			}
			all = append(all, x)
		}
		g.measure(now, "a", nil, nil, all)
		now = now.Add(gaugeEvery)
	}
	if want := (0.5 + 0.25*0.5 + 0.5 + 0.5) / 4; math.Abs(g.last.Efficiency-want) > 1e-9 {
		t.Errorf("%v, want %v", g.last.Efficiency, want)
	}
}

// What is told of speeds is bounded, whoever tells it.
func TestYardsticksAreBounded(t *testing.T) {
	for _, c := range []struct {
		name string
		l    load
		good bool
	}{
		{"none", load{}, true},
		{"the largest", load{Yardstick: &yardstick{strings.Repeat("f", port.MaxYardstickName),
			make([]byte, port.MaxYardstick)}}, true},
		{"a long name", load{Yardstick: &yardstick{strings.Repeat("f", port.MaxYardstickName+1), nil}}, false},
		{"no name", load{Yardstick: &yardstick{"", nil}}, false},
		{"a large argument", load{Yardstick: &yardstick{"f", make([]byte, port.MaxYardstick+1)}}, false},
		{"time that runs back", load{Speed: port.Speed{Took: -1}}, false},
	} {
		b, err := wire.Control().Encode(&c.l)
		if err != nil {
			t.Fatal(err)
		}
		if got := checkLoad("a", b) == nil; got != c.good {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// A yardstick for a run of which nothing is left here but its figures is nothing. (Whoever had called itself master
// ended this process so.)
func TestYardstickOfAnEndedRun(t *testing.T) {
	r := &part{manifest: &runs.Manifest{Adapt: "volunteers"}, final: new(report.RunStats)}
	if r.hearYardstick("", &yardstick{Function: "f"}); r.yardstick != nil {
		t.Error("it is measured")
	}
}
