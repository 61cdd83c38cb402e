package othello

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// factsOfGames are about positions of random games.
func factsOfGames(r *rand.Rand, n int) []Fact {
	facts := make([]Fact, n)
	for i := range facts {
		b := start
		for range 8 + r.IntN(30) {
			if to := b.moves(); to != 0 {
				for range r.IntN(8) {
					if to&(to-1) != 0 {
						to &= to - 1
					}
				}
				b = b.play(to & -to)
			}
		}
		facts[i] = (&Node{Board: b, Depth: 1 + r.IntN(10), Bound: r.IntN(9)}).fact(r.IntN(9))
	}
	return facts
}

func oneFact(f Fact) Facts {
	all := Facts{Shards: make([][]Fact, shards)}
	shard, _ := f.Board.place()
	all.Shards[shard] = []Fact{f}
	return all
}

// TestPlacesJoin: a table of places is what Facts are, whatever comes in which order.
func TestPlacesJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	table, facts := make([]Fact, Places), Facts{}
	for _, f := range factsOfGames(r, 3000) {
		table[f.Board.Place()] = table[f.Board.Place()].Join(f)
		facts = join(facts, oneFact(f))
	}
	for _, s := range facts.Shards {
		for _, f := range s {
			if table[f.Board.Place()] != f {
				t.Fatalf("a place has %+v, and %+v was joined there", table[f.Board.Place()], f)
			}
			table[f.Board.Place()] = Fact{}
		}
	}
	for i, f := range table {
		if f != (Fact{}) {
			t.Errorf("place %d has %+v too", i, f)
		}
	}
}

// knowing is a table of some facts.
func knowing(facts ...Fact) func(Board) Fact {
	return func(b Board) Fact {
		for _, f := range facts {
			if f.Board == b {
				return f
			}
		}
		return Fact{}
	}
}

// TestPlan: what is known from a search to another depth says which moves come first, and whether none will settle the
// question; what is known of the end of the game says nothing of an evaluation.
func TestPlan(t *testing.T) {
	n := Node{Board: start, Depth: 8, Bound: 10}
	unknown := n.children()
	about := func(i, bound, answer int) Fact {
		q := Node{Board: unknown.boards[i], Depth: 5, Bound: bound}
		return q.fact(answer)
	}
	own := func(answer int) Fact { return (&Node{Board: start, Depth: 6, Bound: 10}).fact(answer) }
	exact := about(2, 5, -50)
	exact.Exact = true
	fail := []Fact{about(0, -9, -9), about(1, -9, 0), about(2, -9, 4), about(3, -9, -9)}
	for name, c := range map[string]struct {
		known    []Fact
		first    int
		hopeless bool
		looks    bool
	}{
		"a move settles it":               {[]Fact{about(2, -9, -10)}, 2, false, false},
		"a move nearly settles it":        {[]Fact{about(2, -8, -9)}, 0, true, true},
		"a move fails":                    {[]Fact{about(0, -9, -9)}, 0, true, true},
		"all moves fail":                  {fail, 0, true, false},
		"it had failed":                   {[]Fact{own(9)}, 0, true, false},
		"it had succeeded":                {[]Fact{own(10)}, 0, false, false},
		"a move settles the game's end":   {[]Fact{exact}, 0, true, true},
		"it failed, but for one move now": {[]Fact{own(9), about(3, -9, -10)}, 3, false, false},
	} {
		l, hopeless, looked := n.plan(knowing(c.known...))
		if c.looks != (looked > 0) || hopeless != c.hopeless || l.n != unknown.n ||
			!c.looks && l.boards[0] != unknown.boards[c.first] {
			t.Errorf("%s: hopeless %v, looked at %d positions, first of %d %v", name, hopeless, looked, l.n, l.boards[0])
		}
	}
}

// TestDeepen: a value is found by searches that look two moves further each, but for the end of the game.
func TestDeepen(t *testing.T) {
	for depth, want := range map[int][]int{3: {3}, 7: {5, 7}, 8: {4, 6, 8}} {
		for _, exact := range []bool{false, true} {
			var got []int
			value := deepen(Node{Board: start, Depth: depth, Exact: exact}, func(n Node) int {
				if len(got) == 0 || got[len(got)-1] != n.Depth {
					got = append(got, n.Depth)
				}
				return 20 // the value
			})
			if exact {
				want = []int{depth}
			}
			if value != 20 || !slices.Equal(got, want) {
				t.Errorf("%d moves, exact %v: searched %v, found %d", depth, exact, got, value)
			}
		}
	}
}

// TestUnsure: a question is asked less deep first, unless it, or a move that settles it, was searched as far; jobs ask
// ahead only what is more than a glance; and then there is less to search.
func TestUnsure(t *testing.T) {
	n := Node{Board: start, Depth: 9, Bound: 10}
	l := n.children()
	about := func(depth, answer int) Fact {
		return (&Node{Board: l.boards[2], Depth: depth, Bound: -9}).fact(answer)
	}
	own := func(depth int) Fact { return (&Node{Board: start, Depth: depth, Bound: 10}).fact(0) }
	for name, c := range map[string]struct {
		known Fact
		want  bool
	}{
		"nothing is known":    {Fact{}, true},
		"it was asked":        {own(7), false},
		"it was asked before": {own(5), true},
		"a move settles it":   {about(6, -10), false},
		"a move settled it":   {about(5, -10), true},
		"a move fails":        {about(6, -9), true},
	} {
		first, got := n.Ahead(knowing(c.known))
		if got != c.want || got && (first.Depth != 7 || first.Board != start) {
			t.Errorf("%s: asked ahead %v, %+v", name, got, first)
		}
	}
	if f := n.Besides(12, knowing())(start); f.Depth != 7 || f.Lower != 12 {
		t.Errorf("the answer is known as %+v", f)
	}
	n.Exact = true
	end := n.unsure(l, knowing())
	n.Exact, n.Depth = false, 8
	if _, glance := n.Ahead(knowing()); end || glance {
		t.Errorf("asked ahead: the end of a game %v, what a glance sees %v", end, glance)
	}
	if _, positions := Beginning(12, 0).Twin(); positions > 430_000 {
		t.Errorf("the twin looks at %d positions; without a question ahead they are 452152", positions)
	}
}

// TestQuestions: what a question depends on gives its answer, and a job that answers it alone gives it too.
func TestQuestions(t *testing.T) {
	var answer func(n Node) int
	here := NewMachine()
	answer = func(n Node) int {
		if n.AtLeaf() {
			a, positions := n.Alone(here)
			if positions == 0 {
				t.Fatalf("%+v was answered without a look", n)
			}
			return a
		}
		next := n.Plan(knowing()).Questions
		if len(next) == 0 {
			return n.Over()
		}
		best := -Worst
		for _, q := range next {
			if best = max(best, -answer(q)); best >= n.Bound {
				break
			}
		}
		return best
	}
	top := Beginning(8, 3)
	value, positions := top.Twin()
	if got := deepen(top, answer); got != value || positions < 1000 {
		t.Errorf("the value is %d; the twin found %d in %d positions", got, value, positions)
	}
	if moves := len(top.Checks(value)); moves != 4 {
		t.Errorf("%d first moves, want 4", moves)
	}
}

// BenchmarkFacts is what it costs to tell of a fact, and to take one over that came with many, in positions that are
// looked at meanwhile. The simulator's tables have it.
func BenchmarkFacts(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	var table Facts
	for _, f := range factsOfGames(r, 2*Places) {
		table = join(table, oneFact(f))
	}
	const batch = 1000
	var looked, told, heard time.Duration
	positions := uint64(0)
	for b.Loop() {
		facts := factsOfGames(r, batch)
		var came Facts
		for _, f := range facts {
			came = join(came, oneFact(f))
		}
		began := time.Now()
		_, n := Beginning(9, 0).Twin()
		positions += n
		looked += time.Since(began)
		began = time.Now()
		for _, f := range facts {
			join(table, oneFact(f))
		}
		told += time.Since(began) / batch
		began = time.Now()
		join(table, came)
		heard += time.Since(began) / batch
	}
	position := looked.Seconds() / float64(positions)
	b.ReportMetric(1e9*position, "ns-position")
	b.ReportMetric(told.Seconds()/float64(b.N)/position, "positions-to-tell")
	b.ReportMetric(heard.Seconds()/float64(b.N)/position, "positions-to-hear")
}
