// Package nqueens counts the ways to place n queens on a board of n by n squares so that none attacks another
// (OEIS A000170), with bit masks, row by row, and counts solutions only once that are turned or mirrored
// copies of each other.
package nqueens

import (
	"fmt"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("nqueens.count", count, satin.Checked(Queens.check), satin.Exact(),
		satin.Small(Queens{N: 14, Leaf: 9}))
	satin.Register("nqueens.search", search, satin.Checked(Board.check), satin.Exact())
}

// Queens asks for the number of solutions.
type Queens struct {
	N    int // rows, columns and queens, 1 to MaxN
	Leaf int // with this many rows left, or fewer, a job counts the rest itself; 0 to MaxN
}

// check refuses what no board is.
func (q Queens) check() error {
	if q.N < 1 || q.N > MaxN || q.Leaf < 0 || q.Leaf > MaxN {
		return fmt.Errorf("%d queens with leaves of %d rows, allowed are 1 to %d and 0 to %d", q.N, q.Leaf, MaxN, MaxN)
	}
	return nil
}

// count is the root job.
func count(f *satin.Frame, q Queens) uint64 {
	if q.N == 1 {
		return 1
	}
	return search(f, empty(q.N, q.Leaf)) / third
}

// search counts the solutions below a board, in thirds.
func search(f *satin.Frame, b Board) (sum uint64) {
	if b.left() <= b.Leaf {
		var s solver
		return s.count(b)
	}
	g := satin.Fork(f, search) // a job for each place of the next queen
	for next := range b.moves {
		g.Spawn(next)
	}
	for n := range g.Results() {
		sum += n
	}
	return sum
}
