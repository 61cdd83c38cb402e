package dashboard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

// deep is the path of a job that many steps below the root.
func deep(steps int) string { return strings.Repeat(".1", steps)[1:] }

// Guards against a member that has many segments moved again and again, each time below a job that it names later: for
// one report so many are looked at and no more, and the next peer's find their places.
func TestClaimsAreBounded(t *testing.T) {
	const under, steps = 8000, 150
	origin := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	s := newStory("r", origin, nil)
	told := func(peer string, list ...report.Segment) { s.hear(&report.Part{Peer: peer, Segments: list}, origin) }
	var below, above []report.Segment
	for i := range under {
		below = append(below, report.Segment{ID: fmt.Sprint(i), Job: fmt.Sprint(deep(steps+1), ".", i),
			Start: origin.Add(time.Second)})
	}
	for i := range steps {
		above = append(above, report.Segment{ID: fmt.Sprint("up", i), Job: deep(i + 1), Start: origin})
	}
	told("liar", below...)
	told("liar", above...)
	if n := s.tree.version; n > maxLooked+2*under {
		t.Errorf("two reports of %d segments have changed the tree %d times", under+steps, n)
	}
	told("honest", report.Segment{ID: "child", Job: "2.1", Start: origin},
		report.Segment{ID: "parent", Job: "2", Start: origin})
	if up, _ := s.tree.Above("child"); up.ID != "parent" || s.full > 0 {
		t.Errorf("an honest peer's segment is under %q, and %d are unknown", up.ID, s.full)
	}
}

// Guards against a member that has as much looked at in each report, of which there may be one a second: that costs a
// core. What it may have comes back with time.
func TestClaimsOfAMember(t *testing.T) {
	const under = 8000
	origin := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	s := newStory("r", origin, nil)
	told := func(after time.Duration, list ...report.Segment) {
		s.hear(&report.Part{Peer: "liar", Segments: list}, origin.Add(after))
	}
	var below, above []report.Segment
	for i := range under {
		below = append(below, report.Segment{ID: fmt.Sprint(i), Job: fmt.Sprint(1+i%2, ".", i),
			Start: origin.Add(time.Second)})
	}
	for i := range maxLooked / under {
		above = append(above, report.Segment{ID: fmt.Sprint("up", i), Job: fmt.Sprint("3.", i), Start: origin})
	}
	told(time.Second, below...)
	told(time.Second, above...)
	claims := func(after time.Duration, job string, child string) bool {
		told(after, report.Segment{ID: "of " + job, Job: job, Start: origin})
		up, _ := s.tree.Above(child)
		return up.ID == "of "+job
	}
	if claims(time.Second, "1", "0") {
		t.Error("one more report has as much looked at again")
	}
	if !claims(time.Minute, "2", "1") {
		t.Error("a minute later it has nothing looked at")
	}
}

// Guards against members that have a job run without an end, or name jobs of any length: it is counted, not held. One
// alone does not keep out whoever runs it.
func TestJobsAreBounded(t *testing.T) {
	origin := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	s := newStory("r", origin, nil)
	told := func(peer string, n int) (held int) {
		held = -len(s.tree.At(rootJob))
		r := &report.Part{Peer: peer, Segments: []report.Segment{{ID: peer, Job: deep(maxJob), Start: origin}}}
		for i := range n {
			r.Segments = append(r.Segments, report.Segment{ID: fmt.Sprint(peer, i), Job: rootJob, Start: origin})
		}
		s.hear(r, origin)
		return held + len(s.tree.At(rootJob))
	}
	if n := told("liar", 3*maxOfJob); n != maxOfJobEach || s.full != 3*maxOfJob-maxOfJobEach+1 {
		t.Errorf("%d of one job are held, and %d are unknown", n, s.full)
	}
	if told("honest", 1) != 1 {
		t.Error("one member keeps out whoever runs a job")
	}
	for i := range 9 {
		told(fmt.Sprint("liar ", i), maxOfJob)
	}
	if n := len(s.tree.At(rootJob)); n != maxOfJob {
		t.Errorf("%d of one job are held", n)
	}
}

// Guards against a member that says of a segment that it is of another job than before: it stayed under the name of
// the first one when it was folded, so that others were hung under what was not there any more, and the daemon ended.
func TestSegmentsKeepTheirJobs(t *testing.T) {
	origin := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	s := newStory("r", origin, nil)
	s.tree = NewTree(4)
	n := 0
	told := func(id, job string, state report.SegmentState) {
		n++
		at := origin.Add(time.Duration(n) * time.Second)
		s.hear(&report.Part{Peer: "liar", Segments: []report.Segment{
			{ID: id, Job: job, State: state, Start: at, End: at}}}, origin)
	}
	told("x", "1", report.SegmentRunning)
	told("x", "2", report.SegmentDone)
	for _, job := range []string{"3", "1.1", "3", "3"} {
		for i := range 10 {
			told(fmt.Sprint(job, n, i), job, report.SegmentDone)
		}
	}
	if s.tree.At("1") == nil || s.tree.At("2") != nil {
		t.Errorf("the segment is of another job: %v", s.tree.At("2"))
	}
}

// Guards that a member whose segments do not end leaves room for others', and that two that are alone have nearly all.
func TestRoomOfOthersSegments(t *testing.T) {
	const most = 90
	for fillers := 1; fillers <= 2; fillers++ {
		tree := NewTree(most)
		put := func(peer string, i int) error {
			return tree.Put(Segment{ID: fmt.Sprint(peer, i), Job: fmt.Sprint(i + 1), Peer: peer})
		}
		held := 0
		for i := range fillers * most {
			if err := put(fmt.Sprint("filler ", i%fillers), i); err == nil {
				held++
			} else if !errors.Is(err, ErrTreeFull) {
				t.Fatal(err)
			}
		}
		if held < most*7/8 {
			t.Errorf("%d fillers have %d of %d places", fillers, held, most)
		}
		for i := range most / 20 {
			if err := put(fmt.Sprint("other ", i), i); err != nil {
				t.Errorf("%d fillers leave no room for %d others: %v", fillers, i+1, err)
			}
		}
	}
}

// Guards against a member that tells of what is still to come: one was enough for all that others did to be long ago, a
// line at the edge of the page, and for nobody to have done anything lately.
func TestNothingIsLaterThanNow(t *testing.T) {
	origin := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	s, now := newStory("r", origin, nil), origin.Add(time.Minute)
	told := func(peer string, at time.Time) {
		s.hear(&report.Part{Peer: peer, Activities: []report.Activity{{Start: at, For: time.Second, Work: 1}},
			Segments: []report.Segment{{ID: peer, Job: peer, Start: at},
				{ID: peer + "'s", Job: peer, Start: origin, End: at, State: report.SegmentDone},
				{Job: peer, End: at, State: report.SegmentRestarted}}}, now)
	}
	told("1", now.Add(-2*time.Second))
	told("2", now.Add(1000*time.Hour))
	if d := s.digest(); d.Newest > (time.Minute+ahead).Seconds() || d.Workers.Work != 1 {
		t.Errorf("the newest is of %v s, and lately there were %v s of work", d.Newest, d.Workers.Work)
	}
}

// Guards against a member that says again and again of others' jobs that they were lost, one after the other: that
// makes one notice a minute, so that others stay, of all that it has told of since the last.
func TestNoticesOfOnePeer(t *testing.T) {
	origin := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	var notices []string
	s := newStory("r", origin, func(_, _, text string) { notices = append(notices, text) })
	at := origin
	told := func(peer string, list ...report.Segment) {
		s.hear(&report.Part{Peer: peer, Segments: list}, at)
	}
	for second := range 100 {
		at = origin.Add(time.Duration(second) * time.Second)
		for i := range 3 {
			job := fmt.Sprint(3*second + i)
			told("honest", report.Segment{ID: job, Job: job, Start: at.Add(-time.Second)})
			told("liar", report.Segment{Job: job, End: at, State: report.SegmentRestarted})
		}
	}
	if len(notices) != 2 || !strings.HasPrefix(notices[0], "1 segment is") ||
		!strings.HasPrefix(notices[1], "180 segments are") {
		t.Errorf("one member makes %d notices in 100 seconds: %q", len(notices), notices)
	}
}

// Guards that the end of the server waits for no more than one report.
func TestHearingEnds(t *testing.T) {
	begun := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	ctx, stop := context.WithCancel(t.Context())
	s := newStories()
	reports := []report.Part{{Run: "r", Peer: "p", Segments: []report.Segment{{ID: "1", Job: rootJob, Start: begun}}}}
	stop()
	if s.hear(ctx, "p", reports, nil, []Run{{Run: "r", Submitted: begun}}, begun); len(s.list) > 0 {
		t.Error("reports are heard after the end")
	}
}

// Guards against a member that tells of jobs with paths as long as they may be: 44,000 of them, 96 to an answer, were
// 180 MB in each of four runs. What they take is bounded in bytes, too, and folded like the rest.
func TestLongPathsAreBounded(t *testing.T) {
	origin := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	s := newStory("r", origin, nil)
	s.tree = NewTree(1000)
	r := &report.Part{Peer: "liar"}
	for i := range 1000 {
		r.Segments = append(r.Segments, report.Segment{ID: fmt.Sprint(i), Start: origin,
			Job: fmt.Sprint(deep(maxJob/2-3), ".", i), End: origin, State: report.SegmentState(i % 2)})
	}
	s.hear(r, origin)
	held := 0
	for _, n := range s.tree.nodes {
		held += len(n.Job)
	}
	if held > 1000*pathOfPlace || held < 500*pathOfPlace || s.tree.Total().Segments+s.full != 1000 {
		t.Errorf("paths of %d bytes are held, of %d segments, and %d are unknown", held, s.tree.Total().Segments, s.full)
	}
	for i := range 1000 { // what went has left no place taken
		s.hear(&report.Part{Peer: "honest", Segments: []report.Segment{{ID: fmt.Sprint("h", i), Job: fmt.Sprint(i + 1),
			Start: origin, End: origin, State: report.SegmentDone}}}, origin)
	}
	taken := 0
	for _, n := range s.tree.nodes {
		taken += n.places()
	}
	if s.tree.taken != taken || taken > 1000 {
		t.Errorf("%d places are said to be taken, and are %d", s.tree.taken, taken)
	}
}

// Guards against a member that tells of ways to clusters that there are not: the page has room for 20, in the order of
// their names, and showed no others.
func TestWaysToNowhere(t *testing.T) {
	lies := report.Part{Peer: "liar", Cluster: "here"}
	for i := range 64 {
		lies.Ways = append(lies.Ways, report.Way{Cluster: fmt.Sprint("!", i), Taken: 1})
	}
	s := newStories()
	s.hear(t.Context(), "self", []report.Part{lies, {Peer: "p", Cluster: "there",
		Ways: []report.Way{{Cluster: "here", Taken: 5}, {Cluster: "idle", Taken: 2}}}},
		[]Peer{{Peer: "p", Cluster: "there"}, {Peer: "q", Cluster: "idle"}}, nil,
		time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC))
	want := []Flow{{From: "here", To: "there", Taken: 5}, {From: "idle", To: "there", Taken: 2}}
	if got := s.flows(); !slices.Equal(got, want) {
		t.Errorf("the ways are %+v", got)
	}
}

// Guards against a member whose runs are of a time to come: four of them were the last ones until the daemon ended, so
// no other run had a tree, and nothing of theirs ever ended. More of them than have trees, each forgotten and begun in
// turn, are no newer for that.
func TestRunsOfTheFuture(t *testing.T) {
	now := time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC)
	s := newStories()
	var runs []Run
	look := func() {
		var reports []report.Part
		for _, r := range runs {
			reports = append(reports, report.Part{Run: r.Run, Peer: "p", Segments: []report.Segment{
				{ID: r.Run, Job: rootJob, Start: now}}})
		}
		now = now.Add(settleAfter / 2)
		s.hear(t.Context(), "p", reports, nil, runs, now)
	}
	for i := range maxStories + 1 {
		runs = append(runs, Run{Run: fmt.Sprint(i), Submitted: now.Add(1000 * time.Hour)})
	}
	look()
	runs = append(runs, Run{Run: "honest", Submitted: now})
	for range 3 {
		if look(); s.find("honest") == nil {
			t.Error("the newest run has no tree")
		}
	}
	for i := range runs {
		runs[i].Ended, runs[i].State, runs[i].Elapsed = true, "done", 1e6 // so long they ran, their owner says
	}
	for range 4 {
		look()
	}
	if st := s.find("honest"); st == nil || !st.ended {
		t.Error("a run that has ended goes on")
	}
	runs = nil
	if look(); len(s.runs) > 0 {
		t.Errorf("%d runs that are gone are remembered", len(s.runs))
	}
}
