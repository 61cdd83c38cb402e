// Package othello plays and solves Othello: the best moves to a depth, or the exact end of the game, and the
// number of positions that a game can reach (perft).
//
// A question about a position, whether its value is at least a bound, asks one about the position after each
// move; one that the other player cannot answer well settles it. The most promising move is asked about
// first, since it often settles the question; the others are jobs, and as soon as one of them settles it the
// rest is aborted, wherever it runs.
package othello

import (
	"math/bits"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("othello.solve", solve)
	satin.Register("othello.search", search)
	satin.Register("othello.perft", perft)
}

// solve finds the value of a position and all moves that reach it.
func solve(f *satin.Frame, n Node) Best {
	value := mtdf(n, n.guess(), func(n Node) int { return search(f, n) })
	return bestOf(n, value, func(questions []Node) []int {
		answers := make([]int, len(questions))
		asked := make([]satin.Future[Node, int], len(questions))
		for i := range questions {
			asked[i] = satin.Spawn(f, search, questions[i])
		}
		for i := len(asked) - 1; i >= 0; i-- { // the newest first, which is cheapest
			answers[i] = asked[i].Get()
		}
		return answers
	})
}

// search answers a question.
func search(f *satin.Frame, n Node) int {
	if n.Depth <= n.Leaf {
		s := searcher{table: newTable(leafTable), stop: f.Aborted}
		return s.search(&n)
	}
	l := n.children()
	if l.n == 0 {
		if n.Passed {
			return n.over()
		}
		return -search(f, n.passed())
	}
	best := -search(f, n.after(l.boards[0]))
	if best >= n.Bound || l.n == 1 {
		return best
	}
	g := satin.Fork(f, search)
	for i := l.n - 1; i > 0; i-- { // the newest job runs first, so the most promising one comes last
		g.Spawn(n.after(l.boards[i]))
	}
	for value := range g.Results() {
		if best = max(best, -value); best >= n.Bound {
			break // which aborts the others
		}
	}
	return best
}

// Walk is a position and how far to go from it.
type Walk struct {
	Board  Board
	Depth  int
	Passed bool
	Leaf   int
}

// perft counts the positions that so many moves lead to, a position reached in two ways twice. A pass is a
// move; a game that is over counts once.
func perft(f *satin.Frame, w Walk) (count uint64) {
	if w.Depth <= w.Leaf {
		return walk(w.Board, w.Depth, w.Passed)
	}
	to := w.Board.moves()
	if to == 0 {
		if w.Passed {
			return 1
		}
		return perft(f, Walk{Board: w.Board.pass(), Depth: w.Depth - 1, Passed: true, Leaf: w.Leaf})
	}
	g := satin.Fork(f, perft)
	for ; to != 0; to &= to - 1 {
		g.Spawn(Walk{Board: w.Board.play(to & -to), Depth: w.Depth - 1, Leaf: w.Leaf})
	}
	for n := range g.Results() {
		count += n
	}
	return count
}

// walk is perft alone.
func walk(b Board, depth int, passed bool) (count uint64) {
	if depth == 0 {
		return 1
	}
	to := b.moves()
	switch {
	case to == 0 && passed:
		return 1
	case to == 0:
		return walk(b.pass(), depth-1, true)
	case depth == 1:
		return uint64(bits.OnesCount64(to))
	}
	for ; to != 0; to &= to - 1 {
		count += walk(b.play(to&-to), depth-1, false)
	}
	return count
}
