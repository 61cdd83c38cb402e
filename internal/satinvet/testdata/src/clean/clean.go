// Package clean is programs as they should be: nothing in it is reported. // want package:"registers clean.fib, clean.first, clean.queens, clean.tour}$"
package clean

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("clean.fib", fib)
	satin.Register("clean.queens", queens)
	satin.Register("clean.first", first)
	satin.RegisterErr("clean.tour", tour)
}

func fib(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	x := satin.Spawn(f, fib, n-1)
	y := fib(f, n-2)
	return x.Get() + y
}

type board struct{ All, Cols, L, R uint32 }

func (b board) with(p uint32) board {
	return board{b.All, b.Cols | p, (b.L | p) << 1, (b.R | p) >> 1}
}

func (b board) free() uint32 { return b.All &^ (b.Cols | b.L | b.R) }

func queens(f *satin.Frame, b board) (n int) {
	if b.Cols == b.All {
		return 1
	}
	g := satin.Fork(f, queens)
	for free := b.free(); free != 0; free &= free - 1 {
		g.Spawn(b.with(free & -free))
	}
	for r := range g.Results() {
		n += r
	}
	return n
}

func first(f *satin.Frame, b board) board {
	if b.Cols == b.All {
		return b
	}
	g := satin.Fork(f, first)
	free := b.free()
	for range 2 {
		g.Spawn(b.with(free & -free))
		free &= free - 1
	}
	for r, err := range g.Tries() {
		switch {
		case err != nil:
			continue
		case r.Cols != 0:
			return r
		}
		if free != 0 {
			g.Spawn(b.with(free & -free))
			free &= free - 1
		}
	}
	return board{}
}

type path struct {
	Cities []int
	Bound  int
}

func tour(f *satin.Frame, p path) (best path, err error) {
	if len(p.Cities) == 0 {
		return p, errors.New("no cities")
	}
	g := satin.ForkErr(f, tour)
	sizes := satin.Fork(f, fib)
	for i := range p.Cities {
		next := path{slices.Clone(p.Cities), p.Bound}
		next.Cities[0], next.Cities[i] = next.Cities[i], next.Cities[0]
		g.Spawn(next)
		sizes.Spawn(i)
	}
	for r, err := range g.Results() {
		if err != nil {
			return best, fmt.Errorf("tour: %w", err)
		}
		best = r
	}
	best.Bound = len(slices.Collect(sizes.Results()))
	return best, nil
}

// branches has a left child always and a right one sometimes.
func branches(f *satin.Frame, n int) (sum int) {
	var right satin.Future[int, int]
	left := satin.Spawn(f, fib, n)
	both := n%2 == 0
	if both {
		right = satin.Spawn(f, fib, n+1)
	}
	if f.Aborted() {
		return 0
	}
	sum = left.Get()
	if both {
		sum += right.Get()
	}
	return sum
}

func window(f *satin.Frame, n int) (sum int) {
	x := satin.Spawn(f, fib, 0)
	for i := range n {
		next := satin.Spawn(f, fib, i)
		sum += x.Get()
		x = next
	}
	return sum + x.Get()
}

// Root runs a job, with or without a pool.
func Root(ctx context.Context, p *satin.Pool, n int) (int, error) {
	return satin.Run(ctx, p, fib, n)
}
