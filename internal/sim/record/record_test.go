package record

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/satin-peer/satin/internal/sim"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

func init() {
	satin.Register("record.sum", sum)
	satin.RegisterErr("record.fail", fail)
	satin.Register("record.first", first)
	satin.RegisterLattice[string]("record.most", most, nil)
	satin.Register("record.search", search)
	satin.Register("record.branch", branch)
}

// sum adds the numbers below n with a job for each half, and takes its time.
func sum(f *satin.Frame, n int) int {
	if n < 2 {
		for x := range 20_000 {
			n ^= x & 1 & (x >> 1) & (x >> 20) // nothing, but the compiler cannot know
		}
		return 1
	}
	a := satin.Spawn(f, sum, n/2)
	b := satin.Spawn(f, sum, n-n/2)
	return b.Get() + a.Get()
}

func fail(*satin.Frame, int) (int, error) { return 0, errors.New("no luck") }

func most(a, b int) int { return max(a, b) }

// A Branch of a search names what the others have found.
type Branch struct {
	Data satin.Constant[[]byte]
	Best satin.Lattice[string, int]
	N    int
}

func search(f *satin.Frame, n int) int {
	data, best := satin.ShareConstant(f, make([]byte, 100)), satin.ShareLattice(f, most, "the sum", 0)
	return branch(f, Branch{data, best, n})
}

func branch(f *satin.Frame, b Branch) int {
	if b.N < 2 {
		b.Best.Offer(f, sum(f, 1))
		return len(b.Data.Read(f)) / 100
	}
	a := satin.Spawn(f, branch, Branch{b.Data, b.Best, b.N / 2})
	return branch(f, Branch{b.Data, b.Best, b.N - b.N/2}) + a.Get() + b.Best.Value(f) - 1
}

// first wants one of its children.
func first(f *satin.Frame, n int) int {
	g := satin.Fork(f, sum)
	for range 200 {
		g.Spawn(n)
	}
	for r := range g.Results() {
		return r
	}
	return 0
}

// TestTree: whatever was taken, the program's result is its own, and all jobs are in one tree.
func TestTree(t *testing.T) {
	tree, result, err := Tree(t.Context(), "sum", "record.sum", 500)
	if err != nil || result != 500 {
		t.Fatalf("result %v, %v", result, err)
	}
	total := sim.Sequential(tree)
	if total.Jobs > 999 || total.Work <= 0 || tree.Name != "sum" {
		t.Errorf("%d jobs with %v of work", total.Jobs, total.Work)
	}
	root := tree.Root()
	if tree.ArgBytes(root) != 3 || tree.ResultBytes(root) != 3 { // 500 in CBOR
		t.Errorf("the root carries %d and %d bytes", tree.ArgBytes(root), tree.ResultBytes(root))
	}
}

// TestShared: jobs that name shared data are recorded with its names, and not with the data.
func TestShared(t *testing.T) {
	tree, result, err := Tree(t.Context(), "search", "record.search", 300)
	if err != nil || result != 300 {
		t.Fatalf("result %v, %v", result, err)
	}
	for _, child := range tree.Children(tree.Root(), nil) {
		if n := tree.ArgBytes(child); n < 64 || n >= 100 { // two names
			t.Errorf("a job carries %d bytes", tree.ArgBytes(child))
		}
	}
}

// TestMeasure: paths with gaps, where jobs were run in place, make a tree with the nearest recorded job above.
func TestMeasure(t *testing.T) {
	r := &recorder{byPath: make(map[string]*node)}
	for _, p := range []job.Path{{2, 7}, {1, 3}, {}, {1}, {1, 3, 1, 1}, {4, 1, 1}} {
		r.add(&node{path: p, fn: "record.sum", arg: 20, outcome: engine.Outcome{Result: 20}, ended: true})
	}
	jobs, err := r.measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var children []int
	for _, j := range jobs {
		children = append(children, j.Children)
	}
	for i, want := range []int{3, 1, 1, 0, 0, 0} { // root, 1, 1.3, 1.3.1.1, 2.7, 4.1.1
		if children[i] != want {
			t.Fatalf("children %v", children)
		}
	}
	if _, err := sim.NewRecorded("x", jobs); err != nil {
		t.Error(err)
	}
	r.byPath["9"] = &node{path: job.Path{9}, fn: "record.sum", arg: 1}
	if _, err := r.measure(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "job 9 of record.sum was aborted") {
		t.Errorf("error %v", err)
	}
}

func TestNotRecorded(t *testing.T) {
	if _, _, err := Tree(t.Context(), "x", "record.nobody", 1); err == nil ||
		!strings.Contains(err.Error(), "record.nobody") {
		t.Errorf("error %v", err)
	}
	if _, _, err := Tree(t.Context(), "x", "record.fail", 1); err == nil ||
		!strings.Contains(err.Error(), "record.fail failed: ") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Tree(ctx, "x", "record.sum", 500); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, result, err := Tree(t.Context(), "x", "record.first", 300); err == nil && result != 300 ||
		err != nil && !strings.Contains(err.Error(), "was aborted by the program") {
		t.Errorf("result %v, error %v", result, err)
	}
}
