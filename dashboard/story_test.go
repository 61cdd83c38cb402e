package dashboard

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

// FuzzReports takes in what any peers may say: the sums hold, and all that is shown can be written.
func FuzzReports(f *testing.F) {
	f.Add([]byte(`[{"Run":"r","Peer":"p","Cluster":"c","Segments":[{"ID":"1","Job":"root","Start":"2026-11-21T02:00:00Z"},{"ID":"2","Job":"1.2","Start":"2026-11-21T02:00:01Z",
		"End":"2026-11-21T02:00:02Z","State":1,"Executed":3},{"ID":"3","Job":"1","State":3,"Start":"0001-01-01T00:00:00Z","End":"9999-01-01T00:00:00Z"}],
		"Activities":[{"Start":"2026-11-21T02:00:00Z","For":-1,"Work":1},{"Start":"9999-11-21T02:00:00Z","For":9223372036854775807,"Idle":-5}],"Ways":[{"Cluster":"d","RTT":-1,"Taken":1}]}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var reports []report.Part
		if json.Unmarshal(text, &reports) != nil {
			return
		}
		now := time.Date(2026, 11, 21, 2, 0, 5, 0, time.UTC)
		s := newStories()
		runs := []Run{{Run: "r", Submitted: now.Add(-5 * time.Second)}}
		s.hear(t.Context(), "p", reports, nil, runs, now)
		for _, st := range s.list {
			total := st.tree.Total()
			if d := st.tree.Since(0, 0, 1<<20); uint64(len(d.Leaves))+st.tree.Folded() != total.Segments || d.More {
				t.Errorf("%d of %d segments", len(d.Leaves), total.Segments)
			}
			if st.newest < 0 || st.newest > 2*maxLife {
				t.Errorf("the newest time is %v", st.newest)
			}
			st.settle(now, len(text)%2 == 0)
			if n := st.tree.Total().States[report.SegmentRunning]; n > 0 {
				t.Errorf("%d run after the end", n)
			}
		}
		for _, v := range []any{s.digests(), s.flows(), s.noticed()} {
			if _, err := json.Marshal(v); err != nil {
				t.Error(err)
			}
		}
	})
}

// As fast as so many cores: the processor time that all peers gave in the last seconds, whatever their workers think.
func TestCores(t *testing.T) {
	origin := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	s := newStory("r", origin, nil)
	for i := range 30 {
		cpu := float64(i)
		if i >= 15 {
			cpu = 15 + 2*float64(i-15)
		}
		s.give(origin.Add(time.Duration(i)*time.Second), cpu)
	}
	if got := s.cores(); got != 2 {
		t.Errorf("as fast as %v cores, want 2, those of the last ten seconds", got)
	}
	if len(s.given) > 12 {
		t.Errorf("%d moments are remembered", len(s.given))
	}
	if s.give(origin.Add(31*time.Second), 3); s.cores() != 0 { // a peer has begun anew
		t.Errorf("as fast as %v cores after less than before", s.cores())
	}
}

// Neighbours in a timeline become one when there are too many; the sums stay.
func TestSpansBecomeFewer(t *testing.T) {
	origin := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	s := newStory("r", origin, nil)
	const n = 3 * maxSpans
	r := &report.Part{Run: "r", Peer: "p", Activities: make([]report.Activity, n)}
	for i := range r.Activities {
		r.Activities[i] = report.Activity{Start: origin.Add(time.Duration(i) * time.Second), For: time.Second,
			Work:  i % 3,
			Steal: 1}
	}
	s.hear(r, origin.Add(n*time.Second))
	work, steal, at := 0.0, 0.0, time.Duration(0)
	for _, x := range s.spans[0].list {
		if x.start != at {
			t.Fatalf("a span begins at %v, the one before ends at %v", x.start, at)
		}
		work, steal, at = work+x.work, steal+x.steal, x.end
	}
	if len(s.spans[0].list) > maxSpans || work != n || steal != n || at != n*time.Second || s.thin == 0 {
		t.Errorf("%d spans to %v: %v of work, %v of stealing", len(s.spans[0].list), at, work, steal)
	}
}

// What was running when a run ended is settled when peers have had the time to tell of it, also those that are asked
// only now because nobody watched; of a run that is done nothing is called aborted.
func TestSettling(t *testing.T) {
	begun := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	told := func(state report.SegmentState) []report.Part {
		return []report.Part{{Run: "r", Peer: "p", Segments: []report.Segment{{ID: "1", Job: "root", Start: begun},
			{ID: "2", Job: "1", Start: begun.Add(time.Second), State: state, End: begun.Add(3 * time.Second)},
			{ID: "3", Job: "2", Start: begun.Add(time.Second)}}}}
	}
	said := map[string]string{"done": "is done.", "cancelled": ": cancelled."}
	for state, want := range map[string][3]report.SegmentState{
		"done":      {report.SegmentDone, report.SegmentDone, report.SegmentUnseen},
		"cancelled": {report.SegmentAborted, report.SegmentDone, report.SegmentAborted},
	} {
		s := newStories()
		runs := []Run{{Run: "r", Submitted: begun}}
		s.hear(t.Context(), "p", told(report.SegmentRunning), nil, runs, begun.Add(2*time.Second))
		runs[0].State, runs[0].Ended, runs[0].Elapsed = state, true, 4
		reopened := begun.Add(time.Hour) // nobody has watched its end
		s.hear(t.Context(), "p", nil, nil, runs, reopened)
		if n := s.list[0].tree.Total().States[report.SegmentRunning]; n != 3 {
			t.Fatalf("%s: %d run when the page has just been opened again", state, n)
		}
		s.hear(t.Context(), "p", told(report.SegmentDone), nil, runs, reopened.Add(time.Second))
		for now := reopened; now.Before(reopened.Add(settleAfter + 2*time.Second)); now = now.Add(time.Second) {
			s.hear(t.Context(), "p", nil, nil, runs, now)
		}
		for i, id := range []string{"1", "2", "3"} {
			if seg, _ := s.list[0].tree.Get(id); seg.State != want[i] || seg.End == 0 {
				t.Errorf("%s: segment %s is %v, want %v", state, id, seg.State, want[i])
			}
		}
		if d := s.digests()[0]; d.Running != 0 {
			t.Errorf("%s: %d run at one glance", state, d.Running)
		}
		if n := s.noticed(); len(n) == 0 || !strings.HasSuffix(n[len(n)-1].Text, said[state]) {
			t.Errorf("%s: the notices are %+v", state, n)
		}
	}
}

// A run that begins and ends between two looks is told of, one that ended long ago and is heard of now is not; who ends
// or suspends his own run is not alarmed by it.
func TestEndsAreTold(t *testing.T) {
	now := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	s := newStories()
	s.hear(t.Context(), "p", nil, nil, nil, now)
	s.hear(t.Context(), "p", nil, nil, []Run{
		{Run: "1", Title: "brief", State: "done", Ended: true, Submitted: now.Add(-briefRun + time.Second)},
		{Run: "2", Title: "old", State: "done", Ended: true, Submitted: now.Add(-briefRun)},
		{Run: "3", Title: "long", State: "suspended", Ended: true, Submitted: now},
		{Run: "4", Title: "bad", State: "failed", Ended: true, Submitted: now},
	}, now)
	var said []string
	for _, n := range s.noticed() {
		said = append(said, n.Letter+" "+n.Tone+" "+n.Text)
	}
	slices.Sort(said)
	if want := []string{"D good brief is done.", "S quiet long: suspended.", "X bad bad: failed."}; !slices.Equal(said, want) {
		t.Errorf("said %q, want %q", said, want)
	}
}

// However many peers have gone that told of their ways to other clusters, what this peer and those that are there have
// told is shown.
func TestWaysOfWhoIsThere(t *testing.T) {
	reports := []report.Part{{Peer: "self", Cluster: "here", Ways: []report.Way{{Cluster: "there", Taken: 3}}},
		{Peer: "p", Cluster: "there", Ways: []report.Way{{Cluster: "here", Taken: 5}}}}
	for i := range 500 {
		reports = append(reports, report.Part{Peer: fmt.Sprint("gone ", i), Cluster: "elsewhere"})
	}
	for range 5 { // whoever has gone is forgotten in any order
		s := newStories()
		s.hear(t.Context(), "self", reports, []Peer{{Peer: "p"}}, nil, time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC))
		if got := s.flows(); len(got) != 2 || got[0].Taken != 5 || got[1].Taken != 3 || len(s.ways) > 4 {
			t.Fatalf("of %d peers the ways are %+v", len(s.ways), got)
		}
	}
}

// A run that is left alone here is told of once: when its second death is seen, and not at every look.
func TestQuarantineIsNoticed(t *testing.T) {
	begun := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	s := newStories()
	runs := []Run{{Run: "r", Title: "bottomless", State: "running", Submitted: begun}}
	s.hear(t.Context(), "p", nil, nil, runs, begun.Add(time.Second))
	for i := range 3 {
		runs[0].State, runs[0].Ended, runs[0].Quarantined = "refused", true, true
		s.hear(t.Context(), "p", nil, nil, runs, begun.Add(time.Duration(i+2)*time.Second))
	}
	n := s.noticed()
	if len(n) != 1 || n[0].Letter != "Q" || !strings.Contains(n[0].Text, "bottomless is in quarantine here") {
		t.Errorf("the notices are %+v", n)
	}
}
