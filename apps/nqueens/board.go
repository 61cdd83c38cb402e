package nqueens

import (
	"fmt"
	"math/bits"
)

// Symmetry. Every solution with n > 1 queens has four edge queens: the one in the first row, in the last row,
// in the first column and in the last column. Call the distance of an edge queen from the nearer end of its
// edge its offset, and let k be the smallest of the four offsets. Turning and mirroring the board permutes
// the eight half edges, and takes any of them to any other in exactly one way. So instead of all solutions it
// is enough to look at those whose first row has its queen in the left half at offset k, no other edge having
// a smaller one: if t edges of such a solution tie, have offset k, then it stands for 8/t solutions, because
// its turned and mirrored copies are met t times in all. (A queen in the middle of its edge has no half; but
// then k is half the side, all four edge queens are in the middle, and those of the first and last row attack
// each other.)
//
// For k > 0 this means: no queen in the first or last column before row k or after row n-1-k, none in the
// last row left of column k or right of column n-1-k. For k = 0, a queen in the corner, the first row and the
// first column tie, always these two. There it is better to use the reflection in the diagonal through that
// corner and let each pair stand for 8: the queen of the second column must be further down than the queen of
// the second row is to the right.
//
// The counts are kept in thirds, as 24/t for t up to 4 is a whole number.

const third = 3

// weight[t] is what a solution with t tied edges adds, in thirds.
var weight = [5]uint64{0, 24, 12, 8, 6}

// Board is a board with queens in its first rows that do not attack each other: the argument of a job.
type Board struct {
	N    int8 // rows and columns, 1 to MaxN
	Leaf int8 // with this many rows left, or fewer, a job counts the rest itself
	Row  int8 // the next row to place a queen in

	Edge   int8 // k: the column of the queen in row 0
	Second int8 // the column of the queen in row 1; kept for boards with a queen in the corner only
	Ties   int8 // how many edges have their queen at offset Edge, of those that are known

	Free  uint32 // columns without a queen, as bits
	Left  uint32 // squares of this row that are attacked along a diagonal from the upper left
	Right uint32 // and from the upper right
}

// check refuses what no board is: leaves have arrays of MaxN rows.
func (b Board) check() error {
	squares := uint32(1)<<max(b.N, 0) - 1
	if b.N < 1 || b.N > MaxN || b.Leaf < 0 || b.Row < 0 || b.Row > b.N || b.Free&^squares != 0 {
		return fmt.Errorf("row %d of a board of %d, with leaves of %d and free columns %#x, which no board of 1 to %d has",
			b.Row, b.N, b.Leaf, b.Free, MaxN)
	}
	return nil
}

// empty is the board that everything starts from.
func empty(n, leaf int) Board {
	return Board{N: int8(n), Leaf: int8(leaf), Free: 1<<n - 1}
}

// left says how many rows have no queen yet.
func (b *Board) left() int8 { return b.N - b.Row }

// turn is the last row in which the first and the last column can get their queens.
func (b *Board) turn() int8 { return b.N - 1 - b.Edge }

// sides are the first and the last column.
func (b *Board) sides() uint32 { return 1 | 1<<(b.N-1) }

// middle are the columns at least Edge away from both sides.
func (b *Board) middle() uint32 {
	full := uint32(1)<<b.N - 1
	return full >> b.Edge & (full << b.Edge)
}

// choices are the columns where the next row can have its queen.
func (b *Board) choices() uint32 {
	free := b.Free &^ (b.Left | b.Right)
	switch {
	case b.Row == 0:
		return 1<<(b.N/2) - 1 // the left half
	case b.Edge == 0:
		if b.Row > 1 && b.Row < b.Second {
			free &^= 1 << 1
		}
		return free
	case b.Row < b.Edge:
		free &^= b.sides()
	case b.Row == b.turn():
		switch open := b.Free & b.sides(); open {
		case 0:
		case b.sides():
			return 0 // two columns and one row
		default:
			free &= open
		}
	}
	if b.left() == 1 {
		free &= b.middle()
	}
	return free
}

// place puts a queen in a column of the next row, given as a bit.
func (b *Board) place(column uint32) Board {
	next := *b
	next.Row++
	next.Free &^= column
	next.Left = (b.Left | column) << 1
	next.Right = (b.Right | column) >> 1
	switch {
	case b.Row == 0:
		next.Edge = int8(bits.TrailingZeros32(column))
		next.Ties = 1
	case b.Edge == 0:
		if b.Row == 1 {
			next.Second = int8(bits.TrailingZeros32(column))
		}
	default:
		if column&b.tying() != 0 {
			next.Ties++
		}
	}
	return next
}

// tying are the columns where a queen in the next row makes one more edge tie.
func (b *Board) tying() (columns uint32) {
	if b.Row == b.Edge || b.Row == b.turn() {
		columns = b.sides()
	}
	if b.left() == 1 {
		columns |= 1<<b.Edge | 1<<b.turn()
	}
	return columns
}

// moves are the boards with one queen more.
func (b *Board) moves(yield func(Board) bool) {
	for free := b.choices(); free != 0; free &= free - 1 {
		if !yield(b.place(free & -free)) {
			return
		}
	}
}
