package othello

// A table remembers what was found out about positions (a transposition table): the same position is reached by many
// orders of moves. It holds facts only, so whoever looks into it is never misled, whatever was replaced or forgotten.
// It belongs to one search.
type table struct {
	entries []Fact // a power of two of them; those of depth 0 are none
}

// newTable makes a table with room for some 1 << size facts.
func newTable(size int) *table { return &table{entries: make([]Fact, 1<<size)} }

// hash is Fibonacci's.
func (b Board) hash() uint64 {
	return (b.Mine*0x9e3779b97f4a7c15 ^ b.Theirs) * 0xc2b2ae3d27d4eb4f >> 32
}

// place finds where a position's fact is, if it is there.
func (t *table) place(b Board) *Fact { return &t.entries[b.hash()&uint64(len(t.entries)-1)] }

// find is what is known of a position; a fact of depth 0 is nothing.
func (t *table) find(b Board) Fact {
	if e := t.place(b); e.Board == b {
		return *e
	}
	return Fact{}
}

// about says whether the fact is one about the question's value.
func (e *Fact) about(n *Node) bool {
	return e.Depth == int8(n.Depth) && e.Exact == n.Exact && e.Board == n.Board
}

// settles gives an answer to the question, if what is known suffices.
func (e *Fact) settles(n *Node) (answer int, ok bool) {
	switch {
	case !e.about(n):
		return 0, false
	case int(e.Lower) >= n.Bound:
		return int(e.Lower), true
	case int(e.Upper) < n.Bound:
		return int(e.Upper), true
	}
	return 0, false
}

// fact is what an answer to a question says.
func (n *Node) fact(answer int) Fact {
	f := Fact{Board: n.Board, Lower: -worst, Upper: worst, Depth: int8(n.Depth), Exact: n.Exact}
	if answer >= n.Bound {
		f.Lower = int16(answer)
	} else {
		f.Upper = int16(answer)
	}
	return f
}

// learn keeps an answer. What was known of another position goes: it is older, and deeper facts are found
// again from what is below them.
func (t *table) learn(n *Node, answer int) {
	e, f := t.place(n.Board), n.fact(answer)
	if e.about(n) {
		f.Lower, f.Upper = max(e.Lower, f.Lower), min(e.Upper, f.Upper)
	}
	*e = f
}
