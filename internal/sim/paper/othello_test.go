package paper

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/apps/othello"
	"github.com/satin-peer/satin/internal/sim"
)

// TestGameTells: what a job finds is known on its machine at once and on another when the next message has come, which
// pays for it once; what is not new is not told.
func TestGameTells(t *testing.T) {
	g := newGame(8, 3, true, time.Second, 1000, 2)
	q := othello.Beginning(4, 3)
	q.Bound = 1
	n, place := g.node(&q), q.Board.Place()
	at := func(peer int, now time.Duration) sim.Where { return sim.Where{Peer: peer, Now: now} }
	knows := func(peer int, now time.Duration) bool {
		_, ok := g.hear(at(peer, now)).facts[place].Settles(&q)
		return ok
	}
	if got := g.question(n); got != q {
		t.Fatalf("a question comes back as %+v, not %+v", got, q)
	}
	for range 2 {
		g.Ended(at(0, 10*time.Millisecond), n, answerOf(5))
	}
	if g.seen.facts != 1 || g.seen.tells != 1 || len(g.told[0]) != 1 {
		t.Errorf("told %d facts in %d messages", g.seen.facts, g.seen.tells)
	}
	if !knows(0, 10*time.Millisecond) || knows(1, tellEvery) {
		t.Error("it is known on another machine at once, or not even on its own")
	}
	for range 2 {
		if later := tellEvery + objectsLocal.Latency; !knows(1, later) || g.known[1].debt != 1 || g.known[0].debt != 0 {
			t.Errorf("after %v the other knows %v, and they owe for %d and %d facts", later, knows(1, later),
				g.known[0].debt, g.known[1].debt)
		}
	}
	children, cost, answer, _ := g.Begin(at(1, time.Second), n, nil)
	if len(children) != 0 || answer != answerOf(5) || cost != g.time(1+hearCost) || g.known[1].debt != 0 {
		t.Errorf("it begins with %d jobs, costs %d, answers %+v", len(children), cost, answer)
	}
}

// TestGameAnswers: the answers of jobs make the value, with a cut where one suffices.
func TestGameAnswers(t *testing.T) {
	g := newGame(8, 3, true, time.Second, 1000, 1)
	q := othello.Beginning(4, 3)
	q.Bound = 10
	n := g.node(&q)
	child := g.node(&othello.Node{Depth: 3})
	sum, enough := g.Came(n, child, sim.Result{}, answerOf(-7))
	if sum != answerOf(7) || enough {
		t.Errorf("after -7: %+v, %v", sum, enough)
	}
	easy := q
	easy.Bound = -20
	for q, want := range map[othello.Node][3]int{q: {4}, easy: {1, 2, 1}} {
		first, _, _, job := g.Begin(sim.Where{}, g.node(&q), nil)
		got := [3]int{len(first)}
		for phase := 1; phase < len(got); phase++ {
			got[phase] = len(g.Next(g.node(&q), job, phase, answerOf(-othello.Worst), nil))
		}
		if got != want {
			t.Errorf("at least %d? %v moves are asked about at once, want %v", q.Bound, got, want)
		}
	}
	sum, enough = g.Came(n, child, sum, answerOf(-10))
	if next := g.Next(n, 0, 1, sum, nil); sum != answerOf(10) || !enough || len(next) > 0 {
		t.Errorf("after -10: %+v, %v, and %d jobs follow", sum, enough, len(next))
	}
	g.aborts = false
	if _, enough = g.Came(n, child, sum, answerOf(-10)); enough {
		t.Error("without aborts the others are not waited for")
	}
}

// TestGameAsksAhead: a question of which nothing is known is asked first looking less far; its answer is none of a
// move, and says whether all moves are asked about at once.
func TestGameAsksAhead(t *testing.T) {
	g := newGame(12, 3, true, time.Second, 1000, 1)
	q := othello.Beginning(10, 3)
	q.Bound = 10
	n := g.node(&q)
	for answer, want := range map[int]int{9: 4, 10: 1} {
		asked, _, _, job := g.Begin(sim.Where{}, n, nil)
		if len(asked) != 1 || g.question(asked[0]).Depth != 8 {
			t.Fatalf("it begins with %+v", asked)
		}
		sum, enough := g.Came(n, asked[0], sim.Result{}, answerOf(answer))
		moves := g.Next(n, job, 1, sum, nil)
		if enough || len(moves) != want {
			t.Fatalf("after %d: %v, and %d moves are asked about, not %d", answer, enough, len(moves), want)
		}
		if sum, enough = g.Came(n, moves[0], sum, answerOf(-3)); sum != answerOf(3) || enough {
			t.Errorf("a move's answer makes it %+v, %v", sum, enough)
		}
		if more := len(g.Next(n, job, 2, sum, nil)); more != min(2, 4-want) {
			t.Errorf("%d more are asked about after %d", more, want)
		}
	}
}
