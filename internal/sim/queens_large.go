package sim

import (
	"math/bits"
	"time"
)

// LargeQueens is the tree of an N-queens problem that is too large to search: its jobs are real positions,
// but what a leaf costs is estimated with random descents (Knuth, "Estimating the efficiency of backtrack
// programs", 1975), the same each time. Estimates scatter more than the truth, so such a tree is somewhat
// harder to balance than the real one.
type LargeQueens struct {
	N        int           // board size, 4 to 22
	Grain    time.Duration // a position estimated to cost at most this is a leaf …
	Rows     int           // … and so is one with at most so many rows left
	Position time.Duration // cost of visiting one position at speed 1
}

// A position is in Node.Key and Node.Form: 22 bits each of the attacked diagonals, 20 of the columns, and in
// Form the other two above the row. Node.Work is a leaf's cost.
const (
	largeBits   = 22
	largeLow    = 64 - 2*largeBits
	largeRow    = 8 // bits of Form for the row
	descents    = 4 // of an estimate
	largeMask   = 1<<largeBits - 1
	largeLeaf   = 1 << 30 // in Form: the position is a leaf
	largeLowSet = 1<<largeLow - 1
)

// Root is the empty board.
func (q *LargeQueens) Root() Node { return Node{Size: int32(q.N)} }

func (q *LargeQueens) position(n Node) (columns, left, right uint32) {
	top := uint32(n.Form&^largeLeaf) >> largeRow
	return uint32(n.Key&largeLowSet) | top<<largeLow, uint32(n.Key >> largeLow & largeMask),
		uint32(n.Key >> (largeLow + largeBits))
}

// Children places a queen in the next row.
func (q *LargeQueens) Children(n Node, buf []Node) []Node {
	if n.Form&largeLeaf != 0 || n.Size == 0 {
		return buf
	}
	columns, left, right := q.position(n)
	board := uint32(1)<<q.N - 1
	for free := board &^ (columns | left | right); free != 0; free &= free - 1 {
		bit := free & -free
		c, l, r := columns|bit, (left|bit)<<1&board, (right|bit)>>1
		child := Node{
			Key:  uint64(c&largeLowSet) | uint64(l)<<largeLow | uint64(r)<<(largeLow+largeBits),
			Size: n.Size - 1, Form: int32(c>>largeLow<<largeRow) | (n.Form&(1<<largeRow-1) + 1),
		}
		if cost := q.estimate(child.Key, c, l, r); cost <= int64(q.Grain) || int(child.Size) <= q.Rows {
			child.Work, child.Form = cost, child.Form|largeLeaf
		}
		buf = append(buf, child)
	}
	return buf
}

// estimate is the mean of a few descents, each of which takes a random free square in every row and
// multiplies the choices.
func (q *LargeQueens) estimate(key uint64, columns, left, right uint32) int64 {
	board := uint32(1)<<q.N - 1
	sum, h := 0.0, key
	for range descents {
		width := 1.0
		for c, l, r := columns, left, right; ; {
			sum += width
			free := board &^ (c | l | r)
			if free == 0 {
				break
			}
			choices := bits.OnesCount32(free)
			width *= float64(choices)
			h = mix(h)
			for range h % uint64(choices) {
				free &= free - 1
			}
			bit := free & -free
			c, l, r = c|bit, (l|bit)<<1&board, (r|bit)>>1
		}
	}
	return int64(sum / descents * float64(q.Position))
}

// Cost of a leaf is what was estimated; other positions are visited once.
func (q *LargeQueens) Cost(n Node) int64 {
	if n.Form&largeLeaf != 0 {
		return n.Work
	}
	return int64(q.Position)
}

// Any is false: every solution counts.
func (q *LargeQueens) Any(Node) bool { return false }

// Found is false.
func (q *LargeQueens) Found(Node) bool { return false }

// ArgBytes is a board: a byte a row, and CBOR's heads.
func (q *LargeQueens) ArgBytes(n Node) int { return 12 + int(n.Form&(1<<largeRow-1)) }

// ResultBytes is a count.
func (q *LargeQueens) ResultBytes(Node) int { return 24 }
