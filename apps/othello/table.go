package othello

import "sync/atomic"

// A table remembers what was found out about positions (a transposition table): the same position is reached by many
// orders of moves. It holds facts only, so whoever looks into it is never misled, whatever was replaced or forgotten.
// Several cores may use one at once.
type table struct {
	entries []entry // a power of two of them; those of depth 0 are none
}

// entry is a fact, packed. Who writes one locks it by a bit of rest, or gives up if another has; who reads it and finds
// that rest is not what it was, locked or with another number of writes, has found nothing.
type entry struct{ mine, theirs, rest atomic.Uint64 }

// Of rest: 16 bits each are for the bounds, 8 for the depth, then come these, and the number of writes above them.
const (
	packedExact = 1 << 40
	entryLocked = 1 << 41
	entryWrites = 1 << 42
)

func (e *entry) load() Fact {
	rest := e.rest.Load()
	b := Board{e.mine.Load(), e.theirs.Load()}
	if rest&entryLocked != 0 || e.rest.Load() != rest {
		return Fact{}
	}
	return Fact{b, int16(rest), int16(rest >> 16), int8(rest >> 32), rest&packedExact != 0}
}

func (e *entry) store(f Fact) {
	old := e.rest.Load()
	if old&entryLocked != 0 || !e.rest.CompareAndSwap(old, old|entryLocked) {
		return
	}
	e.mine.Store(f.Board.Mine)
	e.theirs.Store(f.Board.Theirs)
	rest := uint64(uint16(f.Lower)) | uint64(uint16(f.Upper))<<16 | uint64(f.Depth)<<32
	if f.Exact {
		rest |= packedExact
	}
	e.rest.Store(rest | old&^(entryWrites-1) + entryWrites)
}

// newTable makes a table with room for some 1 << size facts.
func newTable(size int) *table { return &table{make([]entry, 1<<size)} }

// hash is Fibonacci's.
func (b Board) hash() uint64 {
	return (b.Mine*0x9e3779b97f4a7c15 ^ b.Theirs) * 0xc2b2ae3d27d4eb4f >> 32
}

// place finds where a position's fact is, if it is there.
func (t *table) place(b Board) *entry { return &t.entries[b.hash()&uint64(len(t.entries)-1)] }

// find is what is known of a position; a fact of depth 0 is nothing.
func (t *table) find(b Board) Fact {
	if f := t.place(b).load(); f.Board == b {
		return f
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
	if old := e.load(); old.about(n) {
		f.Lower, f.Upper = max(old.Lower, f.Lower), min(old.Upper, f.Upper)
	}
	e.store(f)
}

// Bits of the size of a table of a machine, at most (25 MB), and of one that is a leaf's alone.
const (
	machineTable = 20
	leafTable    = 12
)

// A machine is a table of the process, for all jobs of a run there: what leaves have found, which is too much to tell
// others. It goes to nobody, as a table only says what need not be searched again.
type machine struct{ table *atomic.Pointer[table] }

func newMachine() machine { return machine{new(atomic.Pointer[table])} }

// MarshalBinary leaves the table behind.
func (m machine) MarshalBinary() ([]byte, error) { return nil, nil }

// UnmarshalBinary is the other half.
func (m *machine) UnmarshalBinary([]byte) error { return nil }

// tableFor is the machine's table, with room for a search as deep, or a leaf's if there is none yet. One that is too
// small is replaced: it is of a search that was so shallow that it is soon made again.
func (m machine) tableFor(depth int) *table {
	size := min(2*depth+4, machineTable)
	if m.table == nil {
		return newTable(min(size, leafTable))
	}
	for {
		t := m.table.Load()
		if t != nil && len(t.entries) >= 1<<size {
			return t
		}
		if larger := newTable(size); m.table.CompareAndSwap(t, larger) {
			return larger
		}
	}
}

// find is what the machine knows of a position.
func (m machine) find(b Board) Fact {
	if m.table == nil || m.table.Load() == nil {
		return Fact{}
	}
	return m.table.Load().find(b)
}
