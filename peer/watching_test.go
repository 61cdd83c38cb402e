package peer_test

import (
	"context"
	"testing"

	"github.com/satin-peer/satin/internal/report"
	"github.com/satin-peer/satin/peer"
)

// watch takes in what comes, as a page does.
func watch(t *testing.T, p *peer.Peer, into map[string]report.Segment) (reports []report.Part) {
	t.Helper()
	reports, err := p.Watch(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		for _, s := range r.Segments {
			into[s.ID] = s
		}
	}
	return reports
}

// Whoever watches a run sees its segments, whichever peer runs them, and what the workers do; and whoever begins to
// watch when it is over sees them too.
func TestWatch(t *testing.T) {
	t.Parallel()
	list := swarm(t, 3)
	seen, late := map[string]report.Segment{}, map[string]report.Segment{}
	run := submit(t, list[0], "count", last(t).arg)
	running, worked, ways := map[string]bool{}, map[string]bool{}, false
	until(t, "two peers are seen at work, and the ways between them", func() bool {
		for _, r := range watch(t, list[1], seen) {
			for _, s := range r.Activities {
				worked[r.Peer] = worked[r.Peer] || r.Run == run && s.Work > 0
			}
			for _, s := range r.Segments {
				running[r.Peer] = running[r.Peer] || s.State == report.SegmentRunning && s.Executed > 0
			}
			ways = ways || len(r.Ways) > 0 && r.Ways[0].Taken > 0
		}
		return len(running) > 1 && len(worked) > 1 && ways
	})
	if err := list[0].Cancel(context.Background(), run); err != nil {
		t.Fatal(err)
	}
	until(t, "all segments have ended, for the early one and the late one", func() bool {
		watch(t, list[1], seen)
		if runs(t, list[2])[run].State.Ended() {
			watch(t, list[2], late)
		}
		root := false
		for _, s := range seen {
			if s.State == report.SegmentRunning {
				return false
			}
			root = root || s.Job == "root"
		}
		return root && len(late) == len(seen)
	})
}
