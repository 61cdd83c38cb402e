package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

func init() {
	satin.Register("test.fib", fib)
	satin.Register("test.fib2", fib2)
	satin.Register("test.queens", queens)
	satin.Register("test.first", first)
	satin.Register("test.chain", chain)
	satin.Register("test.wide", wide)
	satin.Register("test.boom", boom)
	satin.Register("test.mixed", mixed)
	satin.RegisterErr("test.odd", odd)
}

func fib(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	x := satin.Spawn(f, fib, n-1)
	y := fib(f, n-2)
	return x.Get() + y
}

func fib2(f *satin.Frame, n int) int { // both spawned, taken in the wrong order
	if n < 2 {
		return n
	}
	x := satin.Spawn(f, fib2, n-1)
	y := satin.Spawn(f, fib2, n-2)
	return x.Get() + y.Get()
}

type board struct{ All, Cols, Left, Right uint32 }

func (b board) free() uint32 { return b.All &^ (b.Cols | b.Left | b.Right) }
func (b board) place(q uint32) board {
	return board{b.All, b.Cols | q, (b.Left | q) << 1, (b.Right | q) >> 1}
}

func queens(f *satin.Frame, b board) (n int) {
	if b.Cols == b.All {
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

func first(f *satin.Frame, b board) board {
	if b.Cols == b.All {
		return b
	}
	g := satin.Fork(f, first)
	for m := b.free(); m != 0; m &= m - 1 {
		g.Spawn(b.place(m & -m))
	}
	for r := range g.Results() {
		if r.Cols != 0 {
			return r
		}
	}
	return board{}
}

func chain(f *satin.Frame, n int) int {
	if n == 0 {
		return 0
	}
	return satin.Spawn(f, chain, n-1).Get() + 1
}

func wide(f *satin.Frame, n int) int {
	g := satin.Fork(f, fib)
	for range n {
		g.Spawn(1)
	}
	s := 0
	for r := range g.Results() {
		s += r
	}
	return s
}

func boom(f *satin.Frame, n int) int {
	if n == 0 {
		panic("boom")
	}
	x := satin.Spawn(f, boom, n-1)
	y := satin.Spawn(f, fib, n)
	return x.Get() + y.Get()
}

func mixed(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	g := satin.Fork(f, mixed)
	x := satin.Spawn(f, fib, n-1)
	g.Spawn(n - 1)
	y := satin.Spawn(f, fib2, n-2)
	g.Spawn(n - 2)
	s := x.Get()
	for r := range g.Results() {
		s += r
	}
	return s + y.Get()
}

func odd(f *satin.Frame, n int) (int, error) {
	if n%7 == 3 {
		return 0, fmt.Errorf("%d is unlucky", n)
	}
	g := satin.ForkErr(f, odd)
	for i := range n {
		g.Spawn(i)
	}
	sum := n
	for r, err := range g.Results() {
		if err == nil {
			sum += r
		}
	}
	return sum, nil
}

func testPool(t testing.TB, workers int) *engine.Pool {
	t.Helper()
	if workers == 0 {
		return nil
	}
	p, err := engine.NewPool(engine.Config{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func run[A, R any](t testing.TB, p *engine.Pool, fn func(*satin.Frame, A) R, arg A) R {
	t.Helper()
	r, err := Run(context.Background(), p, fn, arg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Programs come to the sequential results on any number of workers.
func TestResults(t *testing.T) {
	rounds, large := 4, 100_000 // a million frames come near to Go's limit of 1 GB
	if testing.Short() {
		rounds, large = 2, 30_000
	}
	for _, n := range []int{0, 1, 2, 4, 8} {
		t.Run(fmt.Sprint(n, " workers"), func(t *testing.T) {
			p := testPool(t, n)
			for range rounds {
				if r := run(t, p, fib, 18); r != 2584 {
					t.Fatal(r)
				}
				if r := run(t, p, fib2, 16); r != 987 {
					t.Fatal(r)
				}
				if r := run(t, p, queens, board{All: 1<<8 - 1}); r != 92 {
					t.Fatal(r)
				}
				if r := run(t, p, first, board{All: 1<<10 - 1}); r.Cols != r.All {
					t.Fatal(r)
				}
				want := run(t, nil, mixed, 9)
				if r := run(t, p, mixed, 9); r != want {
					t.Fatal(r, want)
				}
			}
			if r := run(t, p, chain, large); r != large {
				t.Fatal(r)
			}
			if r := run(t, p, wide, large); r != large {
				t.Fatal(r)
			}
			_, err := Run(context.Background(), p, boom, 12)
			if je := (*satin.JobError)(nil); !errors.As(err, &je) || je.Panic != "boom" || je.Func != "test.boom" ||
				len(je.ID.Path) != 12 {
				t.Fatal(err)
			}
			want, _ := RunErr(context.Background(), nil, odd, 12)
			r, err := RunErr(context.Background(), p, odd, 12)
			if r != want || err != nil {
				t.Fatal(r, err)
			}
			if _, err := RunErr(context.Background(), p, odd, 10); err == nil {
				t.Fatal("no error")
			} else {
				t.Log(err)
			}
			if p != nil {
				share, _ := p.Progress()
				t.Logf("%+v %v", p.Stats(), share)
			}
		})
	}
}
