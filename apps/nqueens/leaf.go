package nqueens

// A solver counts the solutions below a board, on one core and fast: this is where the time of a run goes, in
// the jobs as in the sequential program.
//
// The search goes down the rows in batches. A batch is up to batchSize boards with the same rows filled;
// expanding one appends every board with one queen more to the batch of the next row, and when that is full
// it is expanded first. Whether a board has a future, and whether it has more choices, is as good as random.
// A branch on it would be mispredicted half the time and cost more than all the work on the board; so expand
// has none: it always writes the new board, and moves on by 0 or 1.
type solver struct {
	last  int // index of the last row
	turn  int // the last row in which the sides can get their queens; last+1 if there is no such rule
	sides uint32
	ends  uint32 // the columns that are allowed in the last row
	tying uint32 // those of them where one more edge ties

	corner int // before this row, column 1 is closed

	rows   [MaxN][batchSize]node // the batch of each row
	turned [batchSize]node       // the batch of row turn, in order
}

// batchSize is a power of two. 128 boards of 16 bytes in each of some ten rows stay within the 32 KiB of a
// small first-level cache; smaller batches cost more time than they save.
const batchSize = 128

// wrap keeps an index within a batch, and tells the compiler so.
const wrap = batchSize - 1

// node is a board of a batch.
type node struct {
	free, left, right uint32 // as in Board
	choices           uint32 // the columns that its next queen can take and has not tried; never empty
}

// count returns the number of solutions below b, in thirds.
func (s *solver) count(b Board) uint64 {
	switch {
	case b.left() == 0:
		return weight[b.Ties]
	case b.left() < 2 || b.Row < 2 || b.Row <= b.Edge:
		// Too low for a batch, or in the few rows at the top that have rules of their own.
		var sum uint64
		for next := range b.moves {
			sum += s.count(next)
		}
		return sum
	}
	choices := b.choices()
	if choices == 0 {
		return 0
	}
	s.last = int(b.N) - 1
	s.turn, s.sides, s.tying = s.last+1, 0, 0
	s.ends = 1<<b.N - 1
	s.corner = int(b.Second)
	if b.Edge > 0 {
		s.turn, s.sides = int(b.turn()), b.sides()
		s.ends, s.tying = b.middle(), 1<<b.Edge|1<<b.turn()
	}
	s.rows[b.Row][0] = node{b.Free, b.Left, b.Right, choices}
	return s.descend(int(b.Row), 1, int(b.Ties))
}

// descend counts the solutions below the first size boards of a row's batch, on which ties edges tie.
func (s *solver) descend(row, size, ties int) (sum uint64) {
	in := s.rows[row][:size]
	if row != s.turn {
		return s.expand(in, row, ties)
	}
	// Boards whose sides both have their queens go to the front of turned. Those with one side open must take it now,
	// which makes one more edge tie, and go to the back. The rest is dead.
	front, back := 0, batchSize
	for _, b := range in {
		open := b.free & s.sides
		if open == 0 {
			s.turned[front] = b
			front++
		} else if b.choices &= open; b.choices != 0 && open != s.sides {
			back--
			s.turned[back] = b
		}
	}
	if front > 0 {
		sum = s.expand(s.turned[:front], row, ties)
	}
	if back < batchSize {
		sum += s.expand(s.turned[back:], row, ties+1)
	}
	return sum
}

// expand counts the solutions below a batch, and uses it up.
func (s *solver) expand(in []node, row, ties int) (sum uint64) {
	if row == s.last-1 {
		return s.finish(in, ties)
	}
	open := ^uint32(0)
	if row+1 < s.corner {
		open = ^uint32(1 << 1)
	}
	size := 0
	for more := len(in); more > 0; in = in[:more] {
		if size+more > batchSize {
			sum += s.descend(row+1, size, ties)
			size = 0
		}
		more, size = fill(&s.rows[row+1], size, in, open)
	}
	if size > 0 {
		sum += s.descend(row+1, size, ties)
	}
	return sum
}

// fill places one queen on each board of in, and appends those of the new boards that have a future to the
// size boards in out, which must have room for len(in) more. Boards with choices left move to the front of
// in. It returns how many they are, and the new size of out. Open are the columns that the row after in's
// does not forbid.
func fill(out *[batchSize]node, size int, in []node, open uint32) (int, int) {
	more := 0
	for _, b := range in {
		queen := b.choices & -b.choices
		b.choices ^= queen
		in[more] = b
		more += one(b.choices != 0)
		b.free ^= queen
		b.left = (b.left | queen) << 1
		b.right = (b.right | queen) >> 1
		b.choices = b.free & open &^ (b.left | b.right)
		out[size&wrap] = b
		// the next row has a square, and so has the one after it
		size += one(b.choices != 0) & one(b.free&^(b.left<<1|b.right>>1) != 0)
	}
	return more, size
}

// finish is expand for the last row but one: what it gets is solved or dead.
func (s *solver) finish(in []node, ties int) uint64 {
	all, tied := 0, 0
	for more := len(in); more > 0; in = in[:more] {
		more = 0
		for _, b := range in {
			queen := b.choices & -b.choices
			b.choices ^= queen
			in[more] = b
			more += one(b.choices != 0)
			end := (b.free ^ queen) & s.ends &^ ((b.left|queen)<<1 | (b.right|queen)>>1)
			all += one(end != 0)
			tied += one(end&s.tying != 0)
		}
	}
	sum := uint64(all-tied) * weight[ties]
	if tied > 0 {
		sum += uint64(tied) * weight[ties+1]
	}
	return sum
}

// one is 1 if b holds. It compiles to an instruction, not to a branch.
func one(b bool) int {
	if b {
		return 1
	}
	return 0
}
