package peer

import (
	"bytes"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/plain"
	"github.com/satin-peer/satin/internal/wire"

	"github.com/satin-peer/satin/internal/report"
)

// FuzzWatchAnswer reads what any member may answer: whatever is read makes a report of bounded size with
// times that can be.
func FuzzWatchAnswer(f *testing.F) {
	good, err := wire.Value().Encode(&watchAnswer{
		Now: 1e15, Links: []watchLink{{Cluster: "c", RTT: 7, Taken: 1}},
		Runs: []watchPart{{Life: 1, Next: 1, Segments: []watchSegment{{Serial: 1, Path: []uint32{1, 2}, Start: 1e15,
			Took: -1}, {Start: 1, Took: 5, State: report.SegmentRestarted}},
			States: []watchState{{Start: 1e15, For: 1e5, Work: 1}}}},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(bytes.Replace(good, []byte{0x61, 'c'}, []byte{0x61, 0x1b}, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		var a watchAnswer
		if len(b) > maxWatchAnswer || wire.Value().Decode(b, &a) != nil {
			return
		}
		m := &watchedPeer{}
		for i := range a.Runs {
			r := m.report("p", "c", &a.Runs[i], waysOf(a.Links))
			if len(r.Activities) > maxStatesTold || len(r.Segments) > len(b) {
				t.Errorf("%d states, %d segments of %d bytes", len(r.Activities), len(r.Segments), len(b))
			}
			for _, w := range r.Ways {
				if plain.Name(w.Cluster) != w.Cluster {
					t.Errorf("cluster %q", w.Cluster)
				}
			}
			for _, s := range r.Segments {
				if !s.End.IsZero() && (s.End.Before(s.Start) || s.End.Sub(s.Start) > maxTook) {
					t.Errorf("from %v to %v", s.Start, s.End)
				}
			}
			for _, s := range r.Activities {
				if s.For < 0 || s.For > time.Minute || s.Work < 0 {
					t.Errorf("state %+v", s)
				}
			}
		}
	})
}
