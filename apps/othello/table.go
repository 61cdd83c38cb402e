package othello

// A table remembers what was found out about positions (a transposition table): the same position is reached by many
// orders of moves. It holds facts only, bounds of a value to a depth, so whoever looks into it
// is never misled, whatever was replaced or forgotten. It belongs to one search.
type table struct {
	entries []fact // a power of two of them
}

// A fact says between which bounds the value of a position is, for the player to move, searched to a depth.
type fact struct {
	board        Board
	lower, upper int16
	depth        int8 // 0: nothing is here
	exact        bool
}

// newTable makes a table with room for some 1 << size facts.
func newTable(size int) *table { return &table{entries: make([]fact, 1<<size)} }

// place finds where a position's fact is, if it is there (Fibonacci hashing).
func (t *table) place(b Board) *fact {
	h := (b.Mine*0x9e3779b97f4a7c15 ^ b.Theirs) * 0xc2b2ae3d27d4eb4f
	return &t.entries[(h>>32)&uint64(len(t.entries)-1)]
}

// settles gives an answer to the question, if what is known suffices.
func (t *table) settles(n *Node) (answer int, ok bool) {
	e := t.place(n.Board)
	if e.depth != int8(n.Depth) || e.exact != n.Exact || e.board != n.Board {
		return 0, false
	}
	switch {
	case int(e.lower) >= n.Bound:
		return int(e.lower), true
	case int(e.upper) < n.Bound:
		return int(e.upper), true
	}
	return 0, false
}

// learn keeps an answer. What was known of another position goes: it is older, and deeper facts are found
// again from what is below them.
func (t *table) learn(n *Node, answer int) {
	e := t.place(n.Board)
	if e.depth != int8(n.Depth) || e.exact != n.Exact || e.board != n.Board {
		*e = fact{board: n.Board, lower: -worst, upper: worst, depth: int8(n.Depth), exact: n.Exact}
	}
	if answer >= n.Bound {
		e.lower = max(e.lower, int16(answer))
	} else {
		e.upper = min(e.upper, int16(answer))
	}
}
