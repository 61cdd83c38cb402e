package peer

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

// Each moment of the cores is one thing, whatever the two that count it say.
func TestTimesOf(t *testing.T) {
	s := time.Second
	for _, c := range []struct {
		name  string
		times port.Times
		core  steal.Stats
		want  report.RunStats
	}{
		{"nothing", port.Times{}, steal.Stats{IdleStealing: s}, report.RunStats{}},
		{"all of it",
			port.Times{Cores: 100 * s, Free: 30 * s, Stealing: 4 * s, Waiting: 3 * s, Recovering: 2 * s, Encoding: s,
				CPU: 65 * s},
			steal.Stats{IdleStealing: 10 * s, IdleCommunicating: 8 * s, IdleWaiting: 6 * s},
			report.RunStats{UsefulTime: 60000, StealTime: 14000, WaitTime: 9000, CommTime: 8000, RecoverTime: 2000,
				EncodeTime: 1000, IdleTime: 6000, HeldTime: 70000, CPUTime: 65000}},
		{"a core that has booked more than there was", port.Times{Cores: 10 * s, Free: 3 * s},
			steal.Stats{IdleStealing: 2 * s, IdleCommunicating: 2 * s, IdleWaiting: 2 * s},
			report.RunStats{UsefulTime: 7000, CommTime: 2000, StealTime: 1000}},
		{"an engine that has", port.Times{Cores: s, Free: 9 * s, Stealing: 9 * s}, steal.Stats{},
			report.RunStats{IdleTime: 1000}},
	} {
		var got report.RunStats
		timesOf(&got, &c.times, &c.core)
		if got != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
		if d := c.times.Cores.Milliseconds(); got.Total() != report.Span(d) {
			t.Errorf("%s: %d ms of %d", c.name, got.Total(), d)
		}
	}
}

// What a peer may tell of its part fits into what is let through.
func TestLoadsFit(t *testing.T) {
	l := load{Workers: math.MaxInt, Busy: math.MaxInt, Queued: math.MaxInt, Share: wholeShare, Rate: maxLinkRate,
		Efficiency: wholeShare, Lacks: math.MaxUint64, Speed: port.Speed{Took: math.MaxInt64, Runs: math.MaxUint64},
		Yardstick: &yardstick{strings.Repeat("f", port.MaxYardstickName), make([]byte, port.MaxYardstick)}}
	v := reflect.ValueOf(&l.Stats).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		if !f.Anonymous {
			v.FieldByIndex(f.Index).SetUint(math.MaxUint64)
		}
	}
	b, err := wire.Control().Encode(&l)
	if err != nil || len(b) > maxLoad {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
