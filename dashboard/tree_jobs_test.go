package dashboard_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/dashboard"
	"github.com/satin-peer/satin/internal/report"
)

// shape writes a tree with its segments' parents. The children of each stand in the order in which they began.
func shape(t *testing.T, tree *dashboard.Tree) string {
	t.Helper()
	sight, err := tree.View(dashboard.Viewport{To: 1, Depth: 99, Most: 9999})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	last := map[string]time.Duration{}
	for _, b := range sight.Boxes {
		up, _ := tree.Above(b.ID)
		lines = append(lines, b.ID+"<"+up.ID)
		if b.Start < last[up.ID] {
			t.Errorf("%s stands after one that began later", b.ID)
		}
		last[up.ID] = b.Start
	}
	slices.Sort(lines)
	return strings.Join(lines, " ")
}

// Jobs stand under the segments that spawned them, in whatever order they are heard of; a job that ran twice
// has its children where they began.
func TestJobsFindTheirParents(t *testing.T) {
	at := func(id, job string, start time.Duration) dashboard.Segment {
		return dashboard.Segment{ID: id, Job: job, Start: start * time.Second}
	}
	list := []dashboard.Segment{
		// d began after c
		at("r", "root", 0), at("a", "1.2", 1), at("b", "1.20", 2), at("c", "1.2.3.4", 3), at("d", "1.2.3", 4),
		at("a2", "1.2", 10), at("e", "1.2.5", 11), at("f", "1.2.5", 5), at("g", "7", 1),
	}
	want := "a2<r a<r b<r c<a d<a e<a2 f<a g<r r<"
	for seed := range uint64(200) {
		tree := dashboard.NewTree(100)
		rng := rand.New(rand.NewPCG(seed, 1))
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		put(t, tree, list...)
		if got := shape(t, tree); got != want {
			var order []string
			for _, s := range list {
				order = append(order, s.ID)
			}
			t.Fatalf("%s, in the order %s; want %s", got, order, want)
		}
	}
}

// A copy that takes differences, in pages of any size, becomes the same as the tree, and misses nothing of
// what was folded.
func TestCopiesBecomeTheTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := dashboard.NewTree(rapid.IntRange(3, 30).Draw(t, "most"))
		copied := map[uint64]dashboard.Leaf{}
		var from, to uint64
		read := func(most int) bool {
			d := tree.Since(from, to, most)
			if d.All {
				clear(copied)
			}
			for _, l := range d.Leaves {
				copied[l.Number] = l
			}
			for _, n := range d.Gone {
				delete(copied, n)
			}
			from, to = d.From, d.To
			return d.More
		}
		jobs := []string{"root"}
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "times") {
					next++
					job := fmt.Sprintf("%s.%d", jobs[rapid.IntRange(0, len(jobs)-1).Draw(t, "under")], next)
					job = strings.TrimPrefix(job, "root.")
					s := dashboard.Segment{ID: fmt.Sprint("s", next), Job: job, Start: time.Duration(next),
						End: time.Duration(next + 5), Executed: 7,
						State: report.SegmentState(rapid.IntRange(0, 4).Draw(t, "state"))}
					if err := tree.Put(s); err == nil {
						jobs = append(jobs, job)
					}
				}
			},
			"end": func(t *rapid.T) {
				for _, s := range tree.Running() {
					s.State, s.End = report.SegmentDone, s.Start+9
					if err := tree.Put(s); err != nil {
						t.Fatal(err)
					}
				}
			},
			"read": func(t *rapid.T) { read(rapid.IntRange(1, 9).Draw(t, "page")) },
			"": func(t *rapid.T) {
				was, wasFrom, wasTo := maps.Clone(copied), from, to
				for i := 0; read(5); i++ {
					if i > 100 {
						t.Fatal("there is always more")
					}
				}
				sum := tree.Total()
				for _, l := range copied {
					if up, ok := copied[l.Up]; l.Up != 0 && !ok {
						t.Fatalf("segment %s is under %d, which is not there", l.ID, l.Up)
					} else if ok && !strings.HasPrefix(l.Job, up.Job) && up.Job != "root" {
						t.Fatalf("segment %s is under %s", l.Job, up.Job)
					}
					if s, ok := tree.Get(l.ID); !ok || s != l.Segment {
						t.Fatalf("the copy has %+v, the tree %+v", l.Segment, s)
					}
				}
				if held := sum.Segments - tree.Folded(); held != uint64(len(copied)) {
					t.Fatalf("the copy has %d segments, the tree %d", len(copied), held)
				}
				copied, from, to = was, wasFrom, wasTo // it reads at its own pace
			},
		})
	})
}
