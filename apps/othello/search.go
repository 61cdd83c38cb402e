package othello

import (
	"math/bits"
	"slices"
)

// Node is a question: is the value of a position, for the player to move, at least Bound? The answer is a
// bound of the value on one side of Bound: at least Bound, then the value is at least the answer, or below
// it, then at most.
type Node struct {
	Board  Board
	Depth  int // moves to look ahead; passes are none
	Bound  int
	Exact  bool // the value is the difference of discs at the end; Depth is the number of empty squares
	Passed bool // the other has just passed
	Leaf   int  // up to this depth a node is searched in one job
}

// Values are between -worst and worst.
const worst = 64 * discs

// discs is what a disc of difference at the end of the game counts against a point of the evaluation.
const discs = 100

// over is the value of a position in which nobody can move.
func (n *Node) over() int {
	if n.Exact {
		return n.Board.score()
	}
	return n.Board.score() * discs
}

// value is that of a position at the end of the search.
func (n *Node) value() int {
	if n.Exact {
		return n.Board.score() // nothing is empty
	}
	return evaluate(n.Board)
}

// Squares by what they are worth: corners are never turned; the squares diagonally before an empty one give it away.
const (
	corners   = 0x8100000000000081
	xSquares  = 0x0042000000004200
	edges     = 0x3c0081818181003c
	forCorner = 60
	forX      = 20
	forEdge   = 4
	forMove   = 8
)

// evaluate guesses how good a position is, from the number of moves and the squares that are held. It is the
// opposite for the other player.
func evaluate(b Board) int {
	count := func(squares uint64) int {
		return bits.OnesCount64(b.Mine&squares) - bits.OnesCount64(b.Theirs&squares)
	}
	mobility := bits.OnesCount64(b.moves()) - bits.OnesCount64(b.pass().moves())
	return forMove*mobility + forCorner*count(corners) - forX*count(xSquares) + forEdge*count(edges)
}

// after is the question about the position after a move, as the other player sees it.
func (n *Node) after(to Board) Node {
	return Node{Board: to, Depth: n.Depth - 1, Bound: 1 - n.Bound, Exact: n.Exact, Leaf: n.Leaf}
}

// passed is the question about the position after a pass.
func (n *Node) passed() Node {
	return Node{Board: n.Board.pass(), Depth: n.Depth, Bound: 1 - n.Bound, Exact: n.Exact, Passed: true, Leaf: n.Leaf}
}

// A list holds positions after moves, the most promising first. No game comes to a position with more than 33 moves,
// but one that somebody makes up may have more.
type list struct {
	boards [mostMoves]Board
	n      int
}

const mostMoves = 64

// children are the positions after the moves, those first that leave the other the fewest moves, and corners
// before all.
func (n *Node) children() *list {
	var l list
	var keys [mostMoves]int
	for to := n.Board.moves(); to != 0; to &= to - 1 {
		at := to & -to
		b := n.Board.play(at)
		key := bits.OnesCount64(b.moves())
		if at&corners != 0 {
			key -= 8
		}
		i := l.n
		for ; i > 0 && keys[i-1] > key; i-- {
			l.boards[i], keys[i] = l.boards[i-1], keys[i-1]
		}
		l.boards[i], keys[i] = b, key
		l.n++
	}
	return &l
}

// promote puts those moves first that settle the question by what is known of the positions after them, from searches
// to other depths, too. It says how many these are, and whether each of the others is known not to settle it.
func (l *list) promote(n *Node, know func(Board) Fact) (settle int, othersFail bool) {
	othersFail = true
	for i, b := range l.boards[:l.n] {
		switch f := know(b); {
		case f.Depth == 0 || f.Exact != n.Exact:
			othersFail = false
		case -int(f.Upper) >= n.Bound:
			copy(l.boards[settle+1:i+1], l.boards[settle:i])
			l.boards[settle] = b
			settle++
		case -int(f.Lower) >= n.Bound:
			othersFail = false
		}
	}
	return settle, othersFail
}

// plan is in what order a question's moves are asked about, and whether it is to be expected that none settles it: by
// what is known from searches to other depths, else at a glance.
func (n *Node) plan(know func(Board) Fact) (l *list, hopeless bool, looked uint64) {
	l = n.children()
	if l.n == 0 {
		return l, false, 0
	}
	f := know(n.Board)
	known := f.Depth > 0 && f.Exact == n.Exact
	switch settle, othersFail := l.promote(n, know); {
	case settle > 0, known && int(f.Lower) >= n.Bound:
		return l, false, 0
	case othersFail, known && int(f.Upper) < n.Bound:
		return l, true, 0
	}
	return n.glance(l)
}

const deepened = 7 // from here on an unsure question is asked less deep first

// unsure says whether so little is known of a question that it is asked first looking two moves less far, which finds
// out in what order to ask about the moves: neither it nor a move that settles it has been searched as far. Of the end
// of a game there is nothing shallower.
func (n *Node) unsure(l *list, know func(Board) Fact) bool {
	if n.Exact || n.Depth < deepened || int(know(n.Board).Depth) >= n.Depth-2 {
		return false
	}
	return !slices.ContainsFunc(l.boards[:l.n], func(b Board) bool {
		f := know(b)
		return int(f.Depth) >= n.Depth-3 && -int(f.Upper) >= n.Bound
	})
}

// shallower is the question to ask first.
func (n *Node) shallower() Node {
	first := *n
	first.Depth -= 2
	return first
}

// ahead is the question that a job asks first, if it does: where that would look no further than a glance, a glance is
// less.
func (n *Node) ahead(know func(Board) Fact) (first Node, ok bool) {
	if n.Depth-2 <= glanceDepth {
		return first, false
	}
	l := n.children()
	return n.shallower(), l.n > 0 && n.unsure(l, know)
}

// besides adds the answer to the question that was asked ahead to what is known, where another fact may have its place.
func (n *Node) besides(answer int, know func(Board) Fact) func(Board) Fact {
	first := n.shallower()
	return func(b Board) Fact {
		if b == n.Board {
			return first.fact(answer)
		}
		return know(b)
	}
}

const (
	glanceDepth = 6 // how far a glance looks at most
	glanceTable = 9 // bits of the size of its table
)

// glance is plan from an answer some moves ahead: as many, even or odd, as the question looks, since an evaluation
// favours whoever moved last. At the end of the game it guesses nothing.
func (n *Node) glance(l *list) (_ *list, hopeless bool, looked uint64) {
	depth := min(glanceDepth, n.Depth-2)
	if depth -= (n.Depth - depth) % 2; n.Exact || depth < 1 {
		return l, false, 0
	}
	ahead, s := *n, searcher{table: newTable(glanceTable)}
	ahead.Depth = depth
	hopeless = s.search(&ahead) < n.Bound
	l.promote(n, s.table.find)
	return l, hopeless, s.positions
}

// wave is how many of all moves have been asked about after the next few, if none of those before it has settled the
// question: as many as there are, if it is hopeless, since then all have to be. Where one suffices the eldest is asked
// about first and its young brothers wait (Feldmann, Monien, Mysliwietz, Vornberger, "Distributed game-tree search",
// 1989); the more fail, the less likely it is that one suffices, and the more are asked about at once.
func wave(before, all int, hopeless bool) int {
	if hopeless {
		return all
	}
	return min(all, 2*before+1)
}

// A searcher answers questions alone.
type searcher struct {
	table  *table
	stop   func() bool // it gives up, with any answer, when this says so; may be nil
	gaveUp bool

	positions uint64 // that it looked at
}

// search answers a question: alpha-beta with an empty window (Knuth and Moore, "An analysis of alpha-beta pruning",
// 1975), fail-soft.
func (s *searcher) search(n *Node) int {
	s.positions++
	if n.Depth == 0 {
		return n.value()
	}
	if n.Depth <= sortDepth {
		return s.searchUnsorted(n)
	}
	if s.gaveUp = s.gaveUp || n.Depth >= stopDepth && s.stop != nil && s.stop(); s.gaveUp {
		return 0
	}
	known := s.table.find(n.Board)
	if answer, ok := known.settles(n); ok {
		return answer
	}
	l := n.children()
	if l.n == 0 {
		return s.searchPass(n)
	}
	if n.unsure(l, s.table.find) {
		first := n.shallower()
		s.search(&first)
	}
	if n.Depth-1 > sortDepth { // else nothing is known of them
		l.promote(n, s.table.find)
	}
	best := -worst
	for _, b := range l.boards[:l.n] {
		next := n.after(b)
		if best = max(best, -s.search(&next)); best >= n.Bound {
			break
		}
	}
	if !s.gaveUp {
		s.table.learn(n, best)
	}
	return best
}

const (
	stopDepth = 5 // from here on stop is asked
	sortDepth = 3 // up to here the order of moves saves less than sorting them costs
)

func (s *searcher) searchUnsorted(n *Node) int {
	to := n.Board.moves()
	if to == 0 {
		return s.searchPass(n)
	}
	best := -worst
	for ; to != 0 && best < n.Bound; to &= to - 1 {
		next := n.after(n.Board.play(to & -to))
		best = max(best, -s.search(&next))
	}
	return best
}

func (s *searcher) searchPass(n *Node) int {
	if n.Passed {
		return n.over()
	}
	next := n.passed()
	return -s.search(&next)
}

// mtdf finds the value of a position by asking questions, each with the last answer as its bound, beginning with a
// guess (Plaat, Schaeffer, Pijls, de Bruin, "Best-first fixed-depth minimax algorithms", 1996). ask answers one.
func mtdf(n Node, guess int, ask func(Node) int) int {
	lower, upper, value := -worst, worst, guess
	for lower < upper {
		n = n.From(lower, value)
		if value = ask(n); value >= n.Bound {
			lower = value
		} else {
			upper = value
		}
	}
	return value
}

const firstDepth = 4 // of searches, or one more

// First is how deep the first search for a value looks.
func (n *Node) First() int {
	if n.Exact {
		return n.Depth
	}
	return min(n.Depth, firstDepth+n.Depth%2)
}

// deepen finds the value of a position by shallower searches first, which find out what to ask about first (Slate and
// Atkin, "Chess 4.5", 1977): each looks two moves further, since an evaluation favours whoever moved last. The exact
// end of a game is searched at once.
func deepen(n Node, ask func(Node) int) int {
	value := n.guess()
	for depth := n.First(); depth < n.Depth; depth += 2 {
		at := n
		at.Depth = depth
		value = mtdf(at, value, ask)
	}
	return mtdf(n, value, ask)
}

// Best is what a search found: the value for the player to move, in discs if it is exact, and the moves that
// reach it, by their squares: empty if the player must pass or the game is over.
type Best struct {
	Value int
	Moves []int
}

// bestOf finds all moves that reach the value. ask answers whether the position after a move is worth it, for all
// moves at once.
func bestOf(n Node, value int, ask func([]Node) []int) Best {
	best := Best{Value: value}
	var squares []int
	var questions []Node
	for to := n.Board.moves(); to != 0; to &= to - 1 {
		squares = append(squares, bits.TrailingZeros64(to))
		question := n.after(n.Board.play(to & -to))
		question.Bound = 1 - value // is it at most -value?
		questions = append(questions, question)
	}
	for i, answer := range ask(questions) {
		if -answer >= value {
			best.Moves = append(best.Moves, squares[i])
		}
	}
	return best
}

// guess is where the search for a value begins.
func (n *Node) guess() int {
	if n.Exact {
		return 0
	}
	return evaluate(n.Board)
}

const aloneTable = 24 // bits of the size of the twin's table, for all of its search, at most (400 MB)

// newTwin is the sequential program for a problem. Its table has room for what its search finds, which with each move
// is four times as much: one of a million facts has it look at a quarter more positions in a search of 18 moves.
func newTwin(n *Node) *searcher {
	return &searcher{table: newTable(min(3*n.Depth+2, max(20, 2*n.Depth-6), aloneTable))}
}

// solveAlone is the sequential twin of solve.
func solveAlone(n Node) Best {
	s := newTwin(&n)
	return s.solve(n)
}

func (s *searcher) solve(n Node) Best {
	ask := func(n Node) int { return s.search(&n) }
	value := deepen(n, ask)
	return bestOf(n, value, func(questions []Node) []int {
		answers := make([]int, len(questions))
		for i, q := range questions {
			answers[i] = ask(q)
		}
		return answers
	})
}
