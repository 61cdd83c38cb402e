package main

import (
	"math/bits"
	"sync"

	"github.com/satin-peer/satin"
)

// Board is a position of the queens kernel: the columns and diagonals that are taken, as bits of the next row.
type Board struct{ All, Columns, Left, Right uint32 }

func (b Board) free() uint32 { return b.All &^ (b.Columns | b.Left | b.Right) }

func (b Board) place(queen uint32) Board {
	return Board{b.All, b.Columns | queen, (b.Left | queen) << 1, (b.Right | queen) >> 1}
}

func queensSequential(b Board) (n int) {
	if b.Columns == b.All {
		return 1
	}
	for m := b.free(); m != 0; m &= m - 1 {
		n += queensSequential(b.place(m & -m))
	}
	return n
}

// queens spawns a job for every position, without symmetry and without a threshold.
func queens(f *satin.Frame, b Board) (n int) {
	if b.Columns == b.All {
		return 1
	}
	g := satin.Fork(f, queens)
	for m := b.free(); m != 0; m &= m - 1 {
		g.Spawn(b.place(m & -m))
	}
	for r := range g.Results() {
		n += r
	}
	return n
}

// queensGoroutines is the same with a goroutine for every position.
func queensGoroutines(b Board) (n int) {
	if b.Columns == b.All {
		return 1
	}
	counts := make([]int, bits.OnesCount32(b.free()))
	var wg sync.WaitGroup
	wg.Add(len(counts))
	for i, m := 0, b.free(); m != 0; i, m = i+1, m&(m-1) {
		go func() {
			counts[i] = queensGoroutines(b.place(m & -m))
			wg.Done()
		}()
	}
	wg.Wait()
	for _, c := range counts {
		n += c
	}
	return n
}

// queensSpawns counts the positions below b: the jobs that queens spawns.
func queensSpawns(b Board) (n int) {
	for m := b.free(); m != 0 && b.Columns != b.All; m &= m - 1 {
		n += 1 + queensSpawns(b.place(m&-m))
	}
	return n
}
