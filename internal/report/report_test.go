package report_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/internal/wire"
)

// distinct gives every figure a value of its own.
func distinct() (s report.RunStats) {
	for i, f := range figures(&s) {
		f.SetUint(1000 * uint64(i+1))
	}
	return s
}

func figures(s *report.RunStats) (list []reflect.Value) {
	v := reflect.ValueOf(s).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		if !f.Anonymous {
			list = append(list, v.FieldByIndex(f.Index))
		}
	}
	return list
}

// No figure is forgotten or taken for another, whichever way it goes: every field has a name and a key of its own.
func TestStatsTravel(t *testing.T) {
	s := distinct()
	var fromWire, fromText report.RunStats
	b, err := wire.Control().Encode(s)
	if err == nil {
		err = wire.Control().Decode(b, &fromWire)
	}
	if err != nil || fromWire != s {
		t.Errorf("over the wire: %+v, %v", fromWire, err)
	}
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, &fromText)
	}
	if err != nil || fromText != s {
		t.Errorf("as text: %+v, %v", fromText, err)
	}
	for _, want := range []string{`"spawns":1000`, `"useful_app_time_seconds":21`, `"steal_time_seconds":22`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

// Sums have all fields in them, stop at the largest number, and what has grown is never below 0.
func TestStatsAddUp(t *testing.T) {
	s, part := distinct(), distinct()
	s.Add(&part)
	for i, f := range figures(&s) {
		if f.Uint() != 2000*uint64(i+1) {
			t.Errorf("figure %d is not added", i)
		}
	}
	if s.Grown(part) != part || part.Grown(s) != (report.RunStats{}) {
		t.Error("what has grown is not the difference")
	}
	s.Add(&report.RunStats{Jobs: report.Jobs{Spawns: math.MaxUint64}})
	if s.Spawns != math.MaxUint64 {
		t.Errorf("the sum of too much is %d", s.Spawns)
	}
}

// Spans are seconds for people, and nothing else is one.
func TestSpans(t *testing.T) {
	if got := report.SpanOf(-time.Second) + report.SpanOf(1500*time.Millisecond); got.Seconds() != 1.5 {
		t.Errorf("%v", got.Seconds())
	}
	for _, text := range []string{"-1", "1e300", `"1"`} {
		var s report.Span
		if json.Unmarshal([]byte(text), &s) == nil {
			t.Errorf("%s is taken for %v", text, s)
		}
	}
}

// A state is called what pages expect; whoever watches finds out about orphans, no peer says so.
func TestSegmentStates(t *testing.T) {
	var names []string
	for s := range report.SegmentStates + 1 {
		names = append(names, s.String())
		if s.Told() != (s < report.SegmentOrphan) || s.Ended() != (s != report.SegmentRunning) {
			t.Errorf("%v: told %t, ended %t", s, s.Told(), s.Ended())
		}
	}
	if got := strings.Join(names, " "); got != "running done aborted restarted orphan unseen unknown" {
		t.Error(got)
	}
}

// What a run needs of a peer's line follows from what all have sent for each second of useful time and from the peer's
// cores; it is said when enough is known, and whether the peer has it when that was measured.
func TestUplink(t *testing.T) {
	known := report.RunStats{UsefulTime: report.SpanOf(20 * time.Second), InterBytes: 150e3, SharedInterBytes: 50e3}
	early, silent := known, known
	early.UsefulTime, silent.InterBytes, silent.SharedInterBytes = report.SpanOf(9*time.Second), 0, 0
	for _, c := range []struct {
		what  string
		stats report.RunStats
		cores int
		has   float64
		want  string
		short bool
	}{
		{"a line that was not measured", known, 4, 0, "40 KB/s needed", false},
		{"one that carries it", known, 4, 2.5e6, "40 KB/s needed, 2.5 MB/s there", false},
		{"just so", known, 4, 40e3, "40 KB/s needed, 40 KB/s there", false},
		{"one that does not", known, 4, 39e3, "40 KB/s needed, only 39 KB/s there", true},
		{"fewer cores", known, 1, 39e3, "10 KB/s needed, 39 KB/s there", false},
		{"too early to say", early, 4, 1, "", false},
		{"nothing is sent", silent, 4, 1, "", false},
		{"no core has it", known, 0, 1, "", false},
	} {
		u := c.stats.Uplink(c.cores, c.has)
		switch {
		case u == nil && c.want == "":
		case u == nil || c.want == "" || u.String() != c.want || u.Short() != c.short:
			t.Errorf("%s: %v, want %q, short %t", c.what, u, c.want, c.short)
		}
	}
}
