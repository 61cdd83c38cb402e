package othello

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps/apptest"
	"github.com/satin-peer/satin/satintest"
	"pgregory.net/rapid"
)

// TestWithout tries what the table and the aborts do without, and with each other.
func TestWithout(t *testing.T) {
	for _, flags := range []string{"", "--table=false", "--abort=false", "--table=false --abort=false"} {
		apptest.Solve(t, App, "--depth 7 --threshold 2 "+flags)
	}
}

// statsOf runs an instance on one worker and gives what the pool has counted.
func statsOf(t *testing.T, flags string) satin.Stats {
	t.Helper()
	p, err := apptest.Setup(App, flags)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := satin.NewPool(satin.Config{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = pool.RunNamed(t.Context(), p.Root, p.Arg)
	if pool.Close(); err != nil { // counts are exact then
		t.Fatal(err)
	}
	return pool.Stats()
}

// TestNoAborts: without aborts none happens.
func TestNoAborts(t *testing.T) {
	const small = "--depth 8 --threshold 2 "
	with, without := statsOf(t, small).Aborted, statsOf(t, small+"--abort=false").Aborted
	if with == 0 || without != 0 {
		t.Errorf("%d jobs were aborted, and %d without aborts", with, without)
	}
}

// TestBrothersWait: of moves that may settle a question few are jobs before the eldest has not; of one that none
// settles all are asked about at once.
func TestBrothersWait(t *testing.T) {
	var waves []int
	for at := 0; at < 9; waves = append(waves, at) {
		at = wave(at, 9, false)
	}
	if want := []int{1, 3, 7, 9}; !slices.Equal(waves, want) || wave(0, 9, true) != 9 {
		t.Errorf("asked about up to %v, want %v; of 9 hopeless ones %d", waves, want, wave(0, 9, true))
	}
	n := Node{Board: start, Depth: 8}
	for bound, want := range map[int]bool{-worst: false, worst: true} {
		n.Bound = bound
		if _, got, looked := n.plan(knowing()); got != want || looked == 0 {
			t.Errorf("at a glance at %d positions it is hopeless to be worth %d: %v", looked, bound, !want)
		}
	}
	if s := statsOf(t, "--depth 9 --threshold 3"); s.Aborted*4 > s.Spawned {
		t.Errorf("one worker has aborted %d of %d jobs", s.Aborted, s.Spawned)
	}
}

func init() {
	satin.Register("othello.test.watched", watched)
	satin.Register("othello.test.nothing", nothing)
	satin.Register("othello.test.told", toldByAborted)
}

// begun and ended are how far TestAbortedTellsNothing's job came.
var begun, ended atomic.Bool

func watched(f *satin.Frame, j Job) int {
	defer ended.Store(true)
	begun.Store(true)
	return search(f, j)
}

func nothing(*satin.Frame, int) int { return 0 }

// until has the other worker steal what it can, until something has happened.
func until(f *satin.Frame, happened *atomic.Bool) {
	for !happened.Load() {
		satin.Spawn(f, nothing, 0).Get()
	}
}

// toldByAborted asks a question, aborts it once somebody has begun, and gives what all then know.
func toldByAborted(f *satin.Frame, n Node) Facts {
	j := Job{Node: n, Shared: true, Table: satin.ShareLattice(f, join, game, Facts{}), Abort: true}
	asked := satin.Spawn(f, watched, j)
	until(f, &begun)
	f.Abort()
	until(f, &ended)
	if answer, err := asked.Try(); !errors.Is(err, satin.ErrAborted) {
		panic(fmt.Sprint("an aborted job answered ", answer, ", ", err))
	}
	return j.Table.Value(f)
}

// TestAbortedTellsNothing: a job that is aborted while its leaf, in place, would search for seconds tells nothing of
// what it then comes to. The answer of a leaf that gave up, 0, settles the question here, so the job does not unwind
// at a spawn.
func TestAbortedTellsNothing(t *testing.T) {
	b, _, err := parseBoard("O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X--------X")
	if err != nil {
		t.Fatal(err)
	}
	n := Node{Board: b.play(1 << 8), Exact: true, Bound: -20} // which is worth -38
	n.Depth = n.Board.empties()
	n.Leaf = n.Depth - 1
	pool, err := satin.NewPool(satin.Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	facts, err := satin.Run(t.Context(), pool, toldByAborted, n)
	if _, told := facts.settles(&n); err != nil || told {
		t.Errorf("an aborted job told all that a position worth -38 is worth at least %d, %v", n.Bound, err)
	}
}

// TestPartial: the best moves do not depend on what jobs hear of each other.
func TestPartial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Problem{Node{Board: drawn(t, rapid.IntRange(0, 40).Draw(t, "moves")), Depth: 4, Leaf: 2}, true, true}
		if got, want := satintest.AnyJoin(t, 2, solve, p), solveAlone(p.Node); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, the twin says %+v", got, want)
		}
	})
}

// TestTableSaves: jobs that share a table search less.
func TestTableSaves(t *testing.T) {
	const larger = "--depth 9 --threshold 3 "
	with, without := statsOf(t, larger).Spawned, statsOf(t, larger+"--table=false").Spawned
	if t.Logf("%d jobs with a table, %d without", with, without); with*10 > without*9 {
		t.Errorf("%d jobs with a table, %d without", with, without)
	}
}

// drawFacts are some facts of few positions, so that they meet.
func drawFacts(t *rapid.T, what string) Facts {
	all := Facts{}
	for range rapid.IntRange(0, 3).Draw(t, what) {
		n := Node{Board: Board{rapid.Uint64Range(0, 3).Draw(t, "board"), 0},
			Depth: rapid.IntRange(1, 2).Draw(t, "depth"), Bound: rapid.IntRange(0, 2).Draw(t, "bound")}
		one := Facts{Shards: make([][]Fact, shards)}
		shard, _ := n.Board.place()
		one.Shards[shard] = []Fact{n.fact(rapid.IntRange(0, 2).Draw(t, "answer"))}
		all = join(all, one)
	}
	return all
}

// TestJoin: facts are joined in any order, and the join is a table.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawFacts(t, "a"), drawFacts(t, "b"), drawFacts(t, "c")
		if !reflect.DeepEqual(join(a, b), join(b, a)) || !reflect.DeepEqual(join(a, a), a) ||
			!reflect.DeepEqual(join(join(a, b), c), join(a, join(b, c))) {
			t.Fatalf("no join:\n%v\n%v\n%v", a, b, c)
		}
	})
}

// TestMachine: what a machine knows is its value's however that grows, and leaves it with nobody; a table grows with
// the depth of the search, and finds what is not being written.
func TestMachine(t *testing.T) {
	n := Node{Board: start, Depth: 6, Bound: -5}
	mine := join(Facts{}, oneFact(n.fact(-7)))
	mine.Here.tableFor(4).learn(&n, -7)
	n.Depth = 9
	mine.Here.tableFor(n.Depth).learn(&n, -8)
	grown := join(mine, oneFact((&Node{Board: start.pass(), Depth: 1}).fact(3)))
	if f := grown.find(start); f.Depth != 9 || f.Upper != -8 || f.Lower != -worst || f.Board != start {
		t.Errorf("found %+v", f)
	}
	for depth, want := range map[int]int{6: -7, 9: -8} {
		n.Depth = depth
		if answer, ok := grown.settles(&n); !ok || answer != want {
			t.Errorf("looking %d moves ahead, the answer is %d, %v; want %d", depth, answer, ok, want)
		}
	}
	if b, err := grown.Here.MarshalBinary(); len(b) > 0 || err != nil {
		t.Errorf("%d bytes of it leave, %v", len(b), err)
	}
	e := grown.Here.tableFor(4).place(start)
	e.rest.Or(entryLocked)
	if e.store(n.fact(1)); e.load() != (Fact{}) || e.mine.Load() != start.Mine {
		t.Error("what another writes was read, or written")
	}
}

// TestManyCores: what is found in a table that several cores write is what one of them wrote of that position.
func TestManyCores(t *testing.T) {
	facts := factsOfGames(rand.New(rand.NewPCG(5, 6)), 64)
	var cores sync.WaitGroup
	small := newTable(2)
	for range 4 {
		cores.Go(func() {
			for i := range 20_000 {
				f := facts[i%len(facts)]
				small.place(f.Board).store(f)
				if g := small.find(facts[i*7%len(facts)].Board); g != (Fact{}) && !slices.Contains(facts, g) {
					t.Errorf("found %+v", g)
				}
			}
		})
	}
	cores.Wait()
}

// TestManyFacts: a place has the deeper of two facts, and all are found again.
func TestManyFacts(t *testing.T) {
	all := Facts{}
	var last []Node
	for i := range 3000 {
		n := Node{Board: Board{uint64(i) * 0x9e3779b97f4a7c15, 0}, Depth: 1 + i%7, Bound: i % 5}
		one := Facts{Shards: make([][]Fact, shards)}
		shard, _ := n.Board.place()
		one.Shards[shard] = []Fact{n.fact(i % 9)}
		all = join(all, one)
		last = append(last, n)
	}
	if err := checkFacts(game, all); err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, n := range last {
		answer, ok := all.settles(&n)
		if !ok {
			continue
		}
		if found++; (answer >= n.Bound) != (i%9 >= n.Bound) {
			t.Errorf("%+v is answered by %d", n, answer)
		}
		for _, other := range []int{n.Depth - 1, n.Depth + 1} {
			if n.Depth = other; n.Depth > 0 {
				if _, ok := all.settles(&n); ok {
					t.Errorf("a fact settles a question of depth %d", n.Depth)
				}
			}
		}
	}
	if found < 2500 {
		t.Errorf("%d of 3000 facts are found again", found)
	}
}

// Facts from another peer that are in a wrong place, are there twice, or say what no search finds are refused whole.
func TestCheckFacts(t *testing.T) {
	b := Board{5, 8}
	shard, _ := b.place()
	good := Fact{Board: b, Lower: -3, Upper: 3, Depth: 4}
	with := func(facts ...Fact) Facts {
		f := Facts{Shards: make([][]Fact, shards)}
		f.Shards[shard] = facts
		return f
	}
	if err := checkFacts(game, with(good)); err != nil {
		t.Error(err)
	}
	spoilt := func(spoil func(*Fact)) Facts {
		f := good
		spoil(&f)
		return with(f)
	}
	elsewhere := with()
	elsewhere.Shards[(shard+1)%shards] = []Fact{good}
	for want, f := range map[string]Facts{
		"0 shards of facts":         {},
		"a fact is in shard":        elsewhere,
		"a fact is in shard ":       with(good, good),
		"a fact of no position":     spoilt(func(f *Fact) { f.Depth = 61 }),
		"a value is between 4 and":  spoilt(func(f *Fact) { f.Lower = 4 }),
		"a value is between -9999 ": spoilt(func(f *Fact) { f.Lower = -9999 }),
	} {
		if err := checkFacts(game, f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestStopped: a search that gives up leaves nothing in its table that is not true.
func TestStopped(t *testing.T) {
	for _, after := range []int{3, 10, 30} {
		asked := 0
		n := Node{Board: start, Depth: 10}
		s := searcher{table: newTable(10), stop: func() bool { asked++; return asked > after }}
		s.search(&n)
		if !s.gaveUp {
			t.Fatalf("it did not stop after %d questions", after)
		}
		for i := range s.table.entries {
			f := s.table.entries[i].load()
			if f.Depth == 0 {
				continue
			}
			again := searcher{table: newTable(10)}
			q := Node{Board: f.Board, Depth: int(f.Depth), Bound: int(f.Lower)}
			if f.Lower > -worst && again.search(&q) < int(f.Lower) {
				t.Errorf("%+v is not worth %d", f.Board, f.Lower)
			}
			q.Bound = int(f.Upper) + 1
			if f.Upper < worst && again.search(&q) > int(f.Upper) {
				t.Errorf("%+v is worth more than %d", f.Board, f.Upper)
			}
		}
	}
}
