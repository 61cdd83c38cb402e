package record

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/satin-peer/satin/internal/sim"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("record.sum", sum)
	satin.RegisterErr("record.fail", fail)
	satin.Register("record.first", first)
	satin.Register("record.steps", steps)
	satin.Register("record.long", long)
	satin.RegisterLattice[string]("record.most", most, nil)
	satin.Register("record.search", search)
	satin.Register("record.branch", branch)
	satin.Register("record.counted", counted)
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

// steps has four leaves in each of n steps, between which it computes as much as they do.
func steps(f *satin.Frame, n int) (all int) {
	for range n {
		var parts [4]satin.Future[int, int]
		for i := range parts {
			parts[i] = satin.Spawn(f, long, 1)
		}
		for i := range parts {
			all += parts[3-i].Get()
		}
		for range parts {
			long(f, 1)
		}
	}
	return all
}

// long computes for longer than recording costs.
func long(f *satin.Frame, n int) int {
	for range 100 {
		n = sum(f, n)
	}
	return n
}

// began is how often counted has begun, by its argument.
var began [2]atomic.Int32

func counted(f *satin.Frame, below int) int {
	began[below].Add(1)
	if below == 0 {
		return 1
	}
	a, b := satin.Spawn(f, counted, below-1), satin.Spawn(f, counted, below-1)
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
	for range 40 {
		g.Spawn(n)
	}
	for r := range g.Results() {
		return r
	}
	return 0
}

// TestTree: the program's result is its own, and every job is in the tree, however small.
func TestTree(t *testing.T) {
	tree, result, err := Tree(t.Context(), "sum", "record.sum", 100)
	if err != nil || result != 100 {
		t.Fatalf("result %v, %v", result, err)
	}
	total := sim.Sequential(tree)
	if total.Jobs != 199 || total.Work <= 0 || tree.Name != "sum" {
		t.Errorf("%d jobs with %v of work", total.Jobs, total.Work)
	}
	root := tree.Root()
	if tree.ArgBytes(root) != 2 || tree.ResultBytes(root) != 2 { // 100 in CBOR
		t.Errorf("the root carries %d and %d bytes", tree.ArgBytes(root), tree.ResultBytes(root))
	}
}

// TestTrials: each job is run so often itself, and not once more for each time that the job above it is.
func TestTrials(t *testing.T) {
	before := [...]int32{began[0].Load(), began[1].Load()}
	tree, result, err := Tree(t.Context(), "counted", "record.counted", 1)
	if err != nil || result != 2 {
		t.Fatalf("result %v, %v", result, err)
	}
	inner, leaves := began[1].Load()-before[1], began[0].Load()-before[0]
	if inner != trials || leaves != 2*trials {
		t.Errorf("the inner job began %d times, two leaves %d times; want each %d times", inner, leaves, trials)
	}
	if total := sim.Sequential(tree); total.Jobs != 3 {
		t.Errorf("%d jobs", total.Jobs)
	}
}

// TestWhole: the program is run as one, too, and what its jobs cost is made to add up to what that takes.
func TestWhole(t *testing.T) {
	tree, _, err := Tree(t.Context(), "sum", "record.sum", 500)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Whole(t.Context(), "record.sum", 500)
	if err != nil || whole < 0 {
		t.Fatalf("%v, %v", whole, err)
	}
	first := tree.Cost(tree.Root())
	before := tree.Work()
	tree.Weigh(3 * before)
	got := tree.Cost(tree.Root()) // rounded to 100 ns
	if tree.Work() < 2*before || tree.Work() > 4*before || got < 2*first-100 {
		t.Errorf("jobs of %v weigh %v, the root's %v now %v", before, tree.Work(), first, got)
	}
	if _, err := Whole(t.Context(), "record.fail", 1); err == nil {
		t.Error("a program that fails took some time")
	}
}

// TestShared: jobs that name shared data are recorded with its names, and not with the data.
func TestShared(t *testing.T) {
	tree, result, err := Tree(t.Context(), "search", "record.search", 60)
	if err != nil || result != 60 {
		t.Fatalf("result %v, %v", result, err)
	}
	for _, child := range tree.Children(tree.Root(), nil) {
		if n := tree.ArgBytes(child); n < 64 || n >= 100 { // two names
			t.Errorf("a job carries %d bytes", tree.ArgBytes(child))
		}
	}
}

// TestPhases: a job that spawns again when it has waited has phases, and one that computes before it spawns, or
// between, pays for it there.
func TestPhases(t *testing.T) {
	tree, result, err := Tree(t.Context(), "steps", "record.steps", 3)
	if err != nil || result != 12 {
		t.Fatalf("result %v, %v", result, err)
	}
	var text strings.Builder
	if err := tree.Write(&text); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text.String(), "\n")
	var root []int
	for _, word := range strings.Fields(lines[1]) {
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		root = append(root, n)
	}
	if len(root) != 4+2*3 || root[0] != 4 || root[4] != 4 || root[6] != 4 || root[8] != 0 {
		t.Fatalf("the root is %v: three phases with four jobs each, and an end", root)
	}
	if spawns, syncs := tree.Counts(); spawns != 12 || syncs != 3 {
		t.Errorf("%d spawns, %d syncs", spawns, syncs)
	}
	leaf := strings.Fields(lines[2])
	cost, err := strconv.Atoi(leaf[1])
	if err != nil || len(leaf) != 4 || leaf[0] != "0" {
		t.Fatalf("a job is %v", leaf)
	}
	// Between its phases the root computes four times what a leaf does.
	if between := root[5]; between < 2*cost {
		t.Errorf("a leaf costs %d, the root's second phase %d", cost, between)
	}
}

// A job that does not exist, fails or is stopped leaves no tree, and the error says why.
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
}

// TestSpeculation: what the program would abort is recorded too.
func TestSpeculation(t *testing.T) {
	tree, result, err := Tree(t.Context(), "x", "record.first", 3)
	if err != nil || result != 3 {
		t.Fatalf("result %v, %v", result, err)
	}
	if spawns, _ := tree.Counts(); spawns != 40*(1+4) {
		t.Errorf("%d spawns", spawns)
	}
}
