package othello

import (
	"math/rand/v2"
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
	all := Facts{make([][]Fact, shards)}
	shard, _ := f.Board.place()
	all.Shards[shard] = []Fact{f}
	return all
}

// TestPlacesJoin: a table of places is what Facts are, whatever comes in which order.
func TestPlacesJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	table, facts := make([]Fact, Places), Facts{}
	for _, f := range factsOfGames(r, 3000) {
		table[f.Place()] = table[f.Place()].Join(f)
		facts = join(facts, oneFact(f))
	}
	for _, s := range facts.Shards {
		for _, f := range s {
			if table[f.Place()] != f {
				t.Fatalf("a place has %+v, and %+v was joined there", table[f.Place()], f)
			}
			table[f.Place()] = Fact{}
		}
	}
	for i, f := range table {
		if f != (Fact{}) {
			t.Errorf("place %d has %+v too", i, f)
		}
	}
}

// TestQuestions: what a question depends on gives its answer, and a job that answers it alone gives it too.
func TestQuestions(t *testing.T) {
	var answer func(n Node) int
	answer = func(n Node) int {
		if n.AtLeaf() {
			a, positions := n.Alone()
			if positions == 0 {
				t.Fatalf("%+v was answered without a look", n)
			}
			return a
		}
		next, passes := n.Next()
		if len(next) == 0 {
			return n.Over()
		}
		best := -Worst
		for _, q := range next {
			if best = max(best, -answer(q)); best >= n.Bound && !passes {
				break
			}
		}
		return best
	}
	top := Beginning(8, 3)
	value, positions := top.Twin()
	if got := mtdf(top, top.Guess(), answer); got != value || positions < 1000 {
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
