package dashboard_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/internal/report"
)

// sum adds up what the records of some segments say.
func sum(records map[string]dashboard.Segment) (s dashboard.Summary) {
	for _, r := range records {
		s.Segments++
		s.Spawned += r.Spawned
		s.Executed += r.Executed
		s.States[r.State]++
		if r.State.Ended() {
			s.Busy += r.End - r.Start
		}
	}
	return s
}

func add(a, b dashboard.Summary) dashboard.Summary {
	a.Segments += b.Segments
	a.Spawned += b.Spawned
	a.Executed += b.Executed
	a.Busy += b.Busy
	for i, n := range b.States {
		a.States[i] += n
	}
	return a
}

// Whatever comes in whatever order, nothing is lost or counted twice, the tree stays small, and what is seen adds up.
func TestTreeAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 30).Draw(t, "most")
		tree := dashboard.NewTree(most)
		records := map[string]dashboard.Segment{}
		folded := map[string]uint64{} // how many were when a segment ended
		// Segment i was stolen from an earlier one; its records may come before those of that.
		parents := rapid.SliceOfN(rapid.IntRange(0, 1000), 60, 60).Draw(t, "parents")
		name := func(i int) string { return fmt.Sprint("s", i) }
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				i := rapid.IntRange(0, 59).Draw(t, "segment")
				s, known := records[name(i)]
				if !known {
					s = dashboard.Segment{ID: name(i), Peer: "p", Start: time.Duration(i)}
					if i > 0 {
						s.Parent = name(parents[i] % i)
					}
				}
				if s.State.Ended() && tree.Folded()-folded[s.ID] > uint64(most) {
					t.Skip("the tree may have forgotten it")
				}
				next := s
				next.Executed += uint64(rapid.IntRange(0, 100).Draw(t, "executed"))
				next.Spawned += next.Executed / 2
				if next.State = report.SegmentState(rapid.IntRange(0, 4).Draw(t, "state")); next.State.Ended() {
					next.End = next.Start + time.Duration(rapid.IntRange(0, 100).Draw(t, "long"))
				}
				before := tree.Folded()
				_, held := tree.Get(next.ID)
				err := tree.Put(next)
				switch {
				case err == nil && (!s.State.Ended() || s.State == report.SegmentRestarted && held):
					// after its end nothing changes
					records[name(i)], folded[name(i)] = next, before
				case err != nil && (known || !errors.Is(err, dashboard.ErrTreeFull)):
					t.Fatalf("%+v: %v", next, err)
				}
			},
			"": func(t *rapid.T) {
				want := sum(records)
				if got := tree.Total(); got != want {
					t.Fatalf("the total is %+v, want %+v", got, want)
				}
				if held := want.Segments - tree.Folded(); held > uint64(most) {
					t.Fatalf("%d segments are held, at most %d", held, most)
				}
				checkSight(t, tree, records)
			},
		})
	})
}

// checkSight looks at the whole tree.
func checkSight(t *rapid.T, tree *dashboard.Tree, records map[string]dashboard.Segment) {
	v := dashboard.Viewport{To: 1, Depth: rapid.IntRange(1, 70).Draw(t, "depth"),
		Least: rapid.SampledFrom([]float64{0, 0.01, 0.3}).Draw(t, "least"),
		Most:  rapid.IntRange(1, 70).Draw(t, "boxes")}
	sight, err := tree.View(v)
	if err != nil {
		t.Fatal(err)
	}
	got := add(sight.Folded, sight.Invisible)
	level, right := 0, 0.0
	for _, b := range sight.Boxes {
		one := map[string]dashboard.Segment{b.ID: b.Segment}
		got = add(add(got, sum(one)), b.Folded)
		if b.Segment != records[b.ID] {
			t.Fatalf("box %+v, the record is %+v", b, records[b.ID])
		}
		if b.Folded.States[report.SegmentRunning] > 0 {
			t.Fatalf("a running segment was folded: %+v", b)
		}
		if b.Depth != level {
			level, right = b.Depth, 0
		}
		if b.From < right-1e-9 || b.To <= b.From || b.To > 1+1e-9 || b.To-b.From < v.Least || b.Depth > v.Depth {
			t.Fatalf("box %+v after %v in %+v", b, right, v)
		}
		right = b.To
	}
	if want := tree.Total(); got != want || len(sight.Boxes) > v.Most {
		t.Fatalf("%d boxes show %+v, of %+v", len(sight.Boxes), got, want)
	}
}

func segment(id, parent string, executed uint64) dashboard.Segment {
	return dashboard.Segment{ID: id, Parent: parent, Executed: executed, End: 1, State: report.SegmentDone}
}

func put(t *testing.T, tree *dashboard.Tree, list ...dashboard.Segment) {
	t.Helper()
	for _, s := range list {
		if err := tree.Put(s); err != nil {
			t.Fatal(err)
		}
	}
}

// A segment is as wide as its jobs, and stands in its parent's width; zooming makes it the whole.
func TestViewport(t *testing.T) {
	tree := dashboard.NewTree(10)
	// each counts for one more
	put(t, tree, segment("child", "root", 24), segment("root", "", 49), segment("other", "root", 24),
		segment("grandchild", "child", 24))
	for _, c := range []struct {
		view dashboard.Viewport
		want string
	}{
		{dashboard.Viewport{To: 1, Depth: 9, Most: 9},
			"root 1 0-1, child 2 0-0.4, other 2 0.4-0.6, grandchild 3 0-0.2, "},
		{dashboard.Viewport{Root: "child", To: 1, Depth: 9, Most: 9}, "child 0 0-1, grandchild 1 0-0.5, "},
		{dashboard.Viewport{From: 0.3, To: 0.5, Depth: 9, Most: 9}, "root 1 0-1, child 2 0-0.4, other 2 0.4-0.6, "},
		{dashboard.Viewport{From: 0.7, To: 1, Depth: 9, Most: 9}, "root 1 0-1, "},
		{dashboard.Viewport{To: 1, Depth: 2, Most: 9}, "root 1 0-1, child 2 0-0.4, other 2 0.4-0.6, "},
		{dashboard.Viewport{To: 1, Depth: 9, Most: 2}, "root 1 0-1, child 2 0-0.4, "},
		{dashboard.Viewport{To: 1, Depth: 9, Most: 9, Least: 0.3}, "root 1 0-1, child 2 0-0.4, "},
	} {
		sight, err := tree.View(c.view)
		got := ""
		for _, b := range sight.Boxes {
			got += fmt.Sprintf("%s %d %.3g-%.3g, ", b.ID, b.Depth, b.From, b.To)
		}
		if err != nil || got != c.want {
			t.Errorf("%+v: %s %v\nwant %s", c.view, got, err, c.want)
		}
	}
}

// A part of the tree that is none, or would be larger than a page may ask for, is refused, and so is a root that is
// not there.
func TestBadViewports(t *testing.T) {
	tree := dashboard.NewTree(10)
	good := dashboard.Viewport{To: 1, Depth: 1, Most: 1}
	for i, change := range []func(*dashboard.Viewport){
		func(v *dashboard.Viewport) { v.From = -0.1 }, func(v *dashboard.Viewport) { v.To = 1.1 },
		func(v *dashboard.Viewport) { v.From = 1 },
		func(v *dashboard.Viewport) { v.From = math.NaN() }, func(v *dashboard.Viewport) { v.To = math.NaN() },
		func(v *dashboard.Viewport) { v.Least = math.NaN() },
		func(v *dashboard.Viewport) { v.Depth = 0 },
		func(v *dashboard.Viewport) { v.Depth = dashboard.MaxDepth + 1 }, func(v *dashboard.Viewport) { v.Most = 0 },
		func(v *dashboard.Viewport) { v.Most = dashboard.MaxBoxes + 1 }, func(v *dashboard.Viewport) { v.Least = 2 },
	} {
		v := good
		change(&v)
		if _, err := tree.View(v); !errors.Is(err, report.ErrBadInput) {
			t.Errorf("%d: %+v: %v", i, v, err)
		}
	}
	good.Root = "nobody"
	if _, err := tree.View(good); !errors.Is(err, report.ErrNotFound) {
		t.Errorf("an unknown root: %v", err)
	}
}

// A segment that contradicts itself, or what is known of it, or would make the tree a circle, is refused.
func TestBadSegments(t *testing.T) {
	tree := dashboard.NewTree(10)
	put(t, tree, segment("b", "a", 1), segment("c", "b", 1))
	for _, s := range []dashboard.Segment{
		{}, {ID: "x", Parent: "x"}, {ID: "x", State: report.SegmentStates},
		{ID: "x", State: report.SegmentDone, Start: 2, End: 1},
		{ID: "a", Parent: "c"}, {ID: "b", Parent: "c"}, {ID: "b", Parent: "a", Peer: "another"},
	} {
		if err := tree.Put(s); !errors.Is(err, report.ErrBadInput) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// A tree of segments that all run takes no more, and says so.
func TestFullTree(t *testing.T) {
	tree := dashboard.NewTree(2)
	put(t, tree, dashboard.Segment{ID: "a"}, dashboard.Segment{ID: "b", Parent: "a"})
	if err := tree.Put(dashboard.Segment{ID: "c", Parent: "b"}); !errors.Is(err, dashboard.ErrTreeFull) {
		t.Error(err)
	}
	put(t, tree, segment("b", "a", 1), dashboard.Segment{ID: "c", Parent: "b"}) // b is folded into a, so c is under a
	sight, err := tree.View(dashboard.Viewport{To: 1, Depth: 9, Most: 9})
	if err != nil || len(sight.Boxes) != 2 || sight.Boxes[0].Folded.Segments != 1 || sight.Boxes[1].ID != "c" ||
		sight.Boxes[1].Depth != 2 || tree.Folded() != 1 {
		t.Errorf("%+v %v, %d folded", sight, err, tree.Folded())
	}
}

// BenchmarkTree puts a million segments, each twice, into a tree of the usual size.
func BenchmarkTree(b *testing.B) {
	var tree *dashboard.Tree
	for b.Loop() {
		tree = dashboard.NewTree(dashboard.DefaultSegments)
		put := func(s dashboard.Segment) {
			if err := tree.Put(s); err != nil {
				b.Fatal(err)
			}
		}
		put(dashboard.Segment{ID: "0"})
		for i := 1; i < 1_000_000; i++ {
			s := dashboard.Segment{ID: fmt.Sprint(i), Parent: fmt.Sprint(i / 8), Start: time.Duration(i)}
			put(s)
			s.State, s.End, s.Executed = report.SegmentDone, s.Start+5, 1000
			put(s)
		}
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapAlloc)/1e6, "MB")
	runtime.KeepAlive(tree)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/segment")
}
