package sim

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// TestQueueOrders: events come out by time, and those of one moment in the order in which they were posted.
func TestQueueOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var want []event
		for i := range rapid.IntRange(1, 300).Draw(t, "steps") {
			if len(want) > 0 && rapid.IntRange(0, 2).Draw(t, "take") == 0 {
				if got := q.next(); got.at != want[0].at || got.number != want[0].number {
					t.Fatalf("event %d at %d, want %d at %d", got.number, got.at, want[0].number, want[0].at)
				}
				want = want[1:]
				continue
			}
			e := event{at: rapid.Int64Range(0, 20).Draw(t, "at"), number: uint64(i)}
			q.post(e)
			want = append(want, e)
			slices.SortStableFunc(want, func(a, b event) int { return cmp.Compare(a.at, b.at) })
		}
		if q.len() != len(want) {
			t.Fatalf("%d events are left, want %d", q.len(), len(want))
		}
	})
}

// TestDeque compares the ring with a slice.
func TestDeque(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d deque
		var want []uint64
		for i := range rapid.IntRange(1, 200).Draw(t, "steps") {
			e := entry{node: Node{Key: uint64(i), Work: int64(i * 7 % 11)}}
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0, 1:
				d.pushNewest(e)
				want = append(want, e.node.Key)
			case 2:
				d.pushOldest(e)
				want = slices.Insert(want, 0, e.node.Key)
			case 3:
				if len(want) > 0 {
					if got := d.popNewest().node.Key; got != want[len(want)-1] {
						t.Fatalf("newest is %d, want %d", got, want[len(want)-1])
					}
					want = want[:len(want)-1]
				}
			case 4:
				if len(want) > 0 {
					if got := d.popOldest().node.Key; got != want[0] {
						t.Fatalf("oldest is %d, want %d", got, want[0])
					}
					want = want[1:]
				}
			case 5:
				if len(want) > 0 {
					best := slices.MaxFunc(want, func(a, b uint64) int { return cmp.Compare(a*7%11, b*7%11) })
					want = slices.Insert(slices.DeleteFunc(want, func(k uint64) bool { return k == best }), 0, best)
					if d.largestFirst(); d.at(0).node.Key != best {
						t.Fatalf("largest is %d, want %d", d.at(0).node.Key, best)
					}
				}
			case 6:
				keep := func(k uint64) bool { return k%3 != 0 }
				before := len(want)
				want = slices.DeleteFunc(want, func(k uint64) bool { return !keep(k) })
				if got := d.filter(func(e *entry) bool { return keep(e.node.Key) }); got != before-len(want) {
					t.Fatalf("filter dropped %d, want %d", got, before-len(want))
				}
			}
			if d.len() != len(want) {
				t.Fatalf("%d entries, want %d", d.len(), len(want))
			}
		}
	})
}

// TestSplitAddsUp: the leaves' costs add up to the total, whatever the parameters.
func TestSplitAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Split{
			Seed: rapid.Uint64().Draw(t, "seed"), Total: 10 * time.Second,
			Grain:  time.Duration(rapid.IntRange(5, 500).Draw(t, "grain")) * time.Millisecond,
			FanLow: 2, FanHigh: rapid.IntRange(2, 6).Draw(t, "fan"),
			Even: rapid.Float64Range(0.01, 2).Draw(t, "even"), Skew: rapid.IntRange(1, 8).Draw(t, "skew"),
			Size: int32(rapid.IntRange(0, 1).Draw(t, "picture") * 100_000),
		}
		if rapid.Bool().Draw(t, "peel") {
			s.FanHigh, s.Peel, s.Even = 2, 0.5, s.Even/100
		}
		total := Sequential(s)
		if total.Work != s.Total {
			t.Fatalf("the costs add up to %v, want %v", total.Work, s.Total)
		}
		root := s.Root()
		var size int32
		for _, c := range s.Children(root, nil) {
			size += c.Size
			if c.Work < 0 || c.Work > root.Work {
				t.Fatalf("a child of %v has %v of work", time.Duration(root.Work), time.Duration(c.Work))
			}
		}
		if size != root.Size {
			t.Fatalf("the children have %d pixels of %d", size, root.Size)
		}
	})
}

// TestQueensTree: the positions visited are those of the N-queens search tree, wherever leaves are cut.
func TestQueensTree(t *testing.T) {
	// The search tree for 8 queens has 2,057 nodes, root included (Knuth, "Estimating the efficiency of
	// backtrack programs", 1975).
	for _, leaf := range []int{0, 1, 3, 5, 8} {
		q := &Queens{N: 8, Leaf: leaf, Position: time.Nanosecond}
		if got := Sequential(q).Work; got != 2057 {
			t.Errorf("leaves of %d rows: %d positions, want 2057", leaf, got)
		}
	}
}

// TestLargeQueens: positions are those of the real tree, and estimated costs add up to about the real ones.
func TestLargeQueens(t *testing.T) {
	level := []Node{(&LargeQueens{N: 22}).Root()}
	for _, want := range []int{22, 420, 6916, 98960} { // counted by a search of the masks
		var below []Node
		for _, n := range level {
			below = (&LargeQueens{N: 22, Position: 1}).Children(n, below)
		}
		if level = below; len(level) != want {
			t.Fatalf("22 queens: %d positions in a row, want %d", len(level), want)
		}
	}
	for n := 9; n <= 12; n++ {
		real, large := Sequential(&Queens{N: n, Position: 1}).Work,
			Sequential(&LargeQueens{N: n, Grain: 100, Position: 1})
		if ratio := float64(large.Work) / float64(real); ratio < 0.75 || ratio > 1.25 {
			t.Errorf("%d queens: %d positions estimated, %d real", n, large.Work, real)
		}
		if again := Sequential(&LargeQueens{N: n, Grain: 100, Position: 1}); again != large {
			t.Errorf("%d queens: %+v, and then %+v", n, large, again)
		}
	}
}

// Jobs and outcomes come back from the network as they were, but that the time is rounded, and what was cut short is
// refused.
func TestNodeCodec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Node{rapid.Uint64().Draw(t, "key"), rapid.Int64().Draw(t, "work"), rapid.Int32().Draw(t, "size"),
			rapid.Int32().Draw(t, "form")}
		size := rapid.IntRange(0, 100).Draw(t, "bytes")
		b := n.encode(size)
		if got, ok := decodeNode(b); !ok || got != n || len(b) != max(size, nodeBytes) {
			t.Fatalf("%+v of %d bytes comes back as %+v of %d", n, size, got, len(b))
		}
		o := outcome{
			claim: rapid.Uint64().Draw(t, "claim"), by: rapid.Int32Range(0, 1<<15-1).Draw(t, "by"),
			took:   rapid.Int64Range(0, 1e15).Draw(t, "took"),
			result: Result{rapid.Uint64().Draw(t, "sum"), uint64(rapid.Uint32().Draw(t, "leaves"))},

			touched: rapid.Bool().Draw(t, "touched"),
		}
		b = o.encode(size)
		got, ok := decodeOutcome(b)
		if !ok || len(b) != max(size, outcomeBytes) || got.took > o.took || got.took < o.took-o.took/64-1 {
			t.Fatalf("%+v comes back as %+v", o, got)
		}
		if got.took = o.took; got != o {
			t.Fatalf("%+v comes back as %+v", o, got)
		}
		if _, ok := decodeOutcome(b[:outcomeBytes-1]); ok {
			t.Fatal("a truncated outcome was decoded")
		}
		if _, ok := decodeNode(b[:nodeBytes-1]); ok {
			t.Fatal("a truncated node was decoded")
		}
	})
}

// A peer's clock shows what its jumps and its drift make of it, and the moment is found at which it first shows a
// time.
func TestClock(t *testing.T) {
	c := clock{value: clockStart, rate: 1}
	c.jump(1000, 500)
	if got := c.at(2000); got != clockStart+2500 {
		t.Errorf("after a jump: %d", got)
	}
	c.drift(2000, 0.5)
	if got := c.at(4000); got != clockStart+3500 {
		t.Errorf("at half the rate: %d", got)
	}
	for shown := clockStart + 2600; shown < clockStart+2700; shown++ {
		at := c.when(shown)
		if c.at(at) < shown || c.at(at-1) >= shown {
			t.Fatalf("the clock shows %d at %d and %d before", c.at(at), at, c.at(at-1))
		}
	}
}

// TestPaths: a job's path is read off its frames, below a stolen job too.
func TestPaths(t *testing.T) {
	g := newEngine(smallSplit(), 1)
	g.enter(g.tree.Root(), &segment{id: 1}, &steal.Job{}, 0)
	root := g.queue.popNewest()
	g.spawn(&root)
	second := *g.queue.at(1)
	if got := g.path(second.place).String(); got != "2" {
		t.Errorf("the root's second child has path %s", got)
	}
	g.queue.count = 0
	g.spawn(&second)
	if got := g.path(g.queue.at(0).place).String(); got != "2.1" {
		t.Errorf("its first child has path %s", got)
	}
	g.enter(g.tree.Root(), &segment{id: 2, path: job.Path{7, 8}}, &steal.Job{}, 0)
	stolen := g.queue.popNewest()
	if got := g.path(stolen.place).String(); got != "7.8" {
		t.Errorf("a stolen job has path %s", got)
	}
	g.spawn(&stolen)
	if got := g.path(g.queue.at(g.queue.len() - 1).place).String(); !strings.HasPrefix(got, "7.8.") || len(got) != 5 {
		t.Errorf("its last child has path %s", got)
	}
}

// TestStays: a root that waits for a core is not taken, nor again a job that was put back for good: it is run here, and
// the next one is taken.
func TestStays(t *testing.T) {
	g := newEngine(smallSplit(), 1)
	g.enter(g.tree.Root(), &segment{id: 1}, &steal.Job{}, 0)
	if taken := g.take(1); len(taken) > 0 {
		t.Fatalf("%+v is taken", taken)
	}
	root := g.queue.popNewest()
	g.spawn(&root)
	all := g.queue.len()
	for _, stays := range []bool{false, true} {
		taken := g.take(1)
		if len(taken) != 1 || taken[0].Job.Path.String() != "1" {
			t.Fatalf("%+v is taken", taken)
		}
		g.putBack(&port.Order{Ref: taken[0].Ref, Stays: stays})
	}
	if taken := g.take(1); len(taken) != 1 || taken[0].Job.Path.String() != "2" {
		t.Errorf("%+v is taken", taken)
	}
	if g.queue.len() != all-1 || g.path(g.queue.at(0).place).String() != "1" {
		t.Errorf("%d of %d jobs are left", g.queue.len(), all)
	}
}

// TestFaultNames: names and kinds match both ways.
func TestFaultNames(t *testing.T) {
	for _, k := range FaultKinds() {
		if got, ok := FaultNamed(k.String()); !ok || got != k {
			t.Errorf("%v is found as %v", k, got)
		}
	}
	if len(FaultKinds()) < 22 {
		t.Errorf("%d kinds of fault", len(FaultKinds()))
	}
	if _, ok := FaultNamed("boredom"); ok {
		t.Error("an unknown kind was found")
	}
}

// writer is a tree whose inner jobs write something, which leaves read.
type writer struct {
	*Split
	cost   time.Duration
	unread bool
}

func (w writer) Writes(Node) time.Duration { return w.cost }

func (w writer) Step(n Node) int {
	if w.unread || len(w.Children(n, nil)) > 0 {
		return 0
	}
	return 1
}

// TestWritingCosts: what jobs write is taken over by the others, whose jobs take longer for it if they read it, or if
// it has waited for long; those that have none take it over meanwhile.
func TestWritingCosts(t *testing.T) {
	run := func(cost time.Duration, unread bool) (busy, executed time.Duration) {
		r, err := Run(quiet(writer{smallSplit(), cost, unread}, "adaptive"))
		if err != nil {
			t.Fatal(err)
		}
		return r.Busy, time.Duration(r.Counts.Executed)
	}
	const cost = 10 * time.Millisecond
	plain, _ := run(0, false)
	read, executed := run(cost, false)
	if more := read - plain; more < executed/8*cost || more > 7*executed*cost { // a job has up to four children
		t.Errorf("of %d jobs those that spawn write, and all together take %v longer", executed, more)
	}
	if unread, _ := run(cost, true); unread >= read || unread <= plain {
		t.Errorf("jobs that read nothing take %v, others %v, and %v where nothing is written", unread, read, plain)
	}
}

// TestBacklog: idle workers take over what was written, each some of it, the oldest first; then jobs that read it pay
// for the rest, in equal parts where they begin together.
func TestBacklog(t *testing.T) {
	w := &world{stage: new(stage)}
	p := &peer{speed: 2, world: w}
	p.engine.idle, p.engine.writing = 4, writer{smallSplit(), 0, false}
	tree := smallSplit()
	root := tree.Root()
	leaf := root
	for next := []Node{root}; len(next) > 0; next = tree.Children(leaf, nil) {
		leaf = next[0]
	}
	p.backlog.writes = []write{{0, 1000}, {10, 500}}
	w.now = 100 // 4 workers of speed 2 have done 800
	if d := p.backlog.delays(p, root); d != 0 || !slices.Equal(p.backlog.writes, []write{{0, 200}, {10, 500}}) {
		t.Errorf("a job that reads nothing new is delayed by %d, and %v are left", d, p.backlog.writes)
	}
	for ; p.engine.idle > 0; p.engine.idle-- {
		if d := p.backlog.delays(p, leaf); d != 175 {
			t.Errorf("where %d workers are idle one that reads is delayed by %d, not a quarter of 700", p.engine.idle, d)
		}
	}
	p.backlog = backlog{writes: []write{{w.now, 7}, {w.now + 1, 8}}, since: w.now}
	p.engine.idle = 0
	w.now += int64(port.ApplyAfter) + 1
	if d := p.backlog.delays(p, root); d != 7 || len(p.backlog.writes) != 1 {
		t.Errorf("what has waited for too long delays a job by %d, and %v are left", d, p.backlog.writes)
	}
}
