package satin_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("example.fib", fib)
	satin.Register("example.queens", queens)
	satin.Register("example.divides", divides)
	satin.Register("example.composite", composite)
	satin.Register("example.careful", careful)
	satin.Register("example.faulty", faulty)
	satin.RegisterErr("example.parse", parse)
	satin.RegisterErr("example.parseAll", parseAll)
}

// fib spawns one half of the work and calls the other.
func fib(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	x := satin.Spawn(f, fib, n-1)
	y := fib(f, n-2)
	return x.Get() + y
}

func ExampleSpawn() {
	pool, err := satin.NewPool(satin.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	n, err := satin.Run(context.Background(), pool, fib, 30)
	fmt.Println(n, err)
	// Output: 832040 <nil>
}

// Without a pool the same program is the sequential one.
func ExampleRun_sequential() {
	n, err := satin.Run(context.Background(), nil, fib, 30)
	fmt.Println(n, err)
	// Output: 832040 <nil>
}

// A Board is a chess board with queens in its first rows. Its fields are exported because it may have to travel.
type Board struct {
	Size, Rows         int
	Cols, Diag1, Diag2 uint64
}

// queens counts the ways to complete a board: a group of children, one for each free column.
func queens(f *satin.Frame, b Board) (n int) {
	if b.Rows == b.Size {
		return 1
	}
	g := satin.Fork(f, queens)
	for col := range b.Size {
		c, d1, d2 := uint64(1)<<col, uint64(1)<<(b.Rows+col), uint64(1)<<(b.Rows-col+b.Size)
		if b.Cols&c|b.Diag1&d1|b.Diag2&d2 == 0 {
			g.Spawn(Board{b.Size, b.Rows + 1, b.Cols | c, b.Diag1 | d1, b.Diag2 | d2})
		}
	}
	for r := range g.Results() {
		n += r
	}
	return n
}

func ExampleFork() {
	n, err := satin.Run(context.Background(), nil, queens, Board{Size: 8})
	fmt.Println(n, err)
	// Output: 92 <nil>
}

// A Range asks whether one of [From, To) divides N.
type Range struct{ N, From, To int }

// divides looks for a divisor by trial.
func divides(f *satin.Frame, r Range) bool {
	for d := r.From; d < r.To; d++ {
		if r.N%d == 0 {
			return true
		}
		if d%1024 == 0 && f.Aborted() { // a long leaf may ask whether it is still wanted
			return false
		}
	}
	return false
}

// composite needs one divisor only: leaving the loop aborts the children that still search.
func composite(f *satin.Frame, n int) bool {
	g := satin.Fork(f, divides)
	for d := 2; d*d <= n; d += 10_000 {
		g.Spawn(Range{n, d, min(d+10_000, n)})
	}
	for found := range g.Results() {
		if found {
			return true
		}
	}
	return false
}

// The body of a Results loop is the paper's inlet, and leaving it the paper's abort.
func ExampleGroup_Results_abort() {
	ctx := context.Background()
	a, _ := satin.Run(ctx, nil, composite, 1_000_003*999_983)
	b, _ := satin.Run(ctx, nil, composite, 1_000_000_007)
	fmt.Println(a, b)
	// Output: true false
}

// faulty panics.
func faulty(f *satin.Frame, n int) int { return 10 / n }

// careful survives the panic of a child.
func careful(f *satin.Frame, n int) int {
	bad, good := satin.Spawn(f, faulty, 0), satin.Spawn(f, faulty, n)
	if _, err := bad.Try(); err != nil {
		var job *satin.JobError
		fmt.Println(errors.As(err, &job), job.Func, job.ID.Path, job.Panic)
	}
	return good.Get()
}

func ExampleFuture_Try() {
	n, err := satin.Run(context.Background(), nil, careful, 5)
	fmt.Println(n, err)
	// Output:
	// true example.faulty 1 runtime error: integer divide by zero
	// 2 <nil>
}

// parse is a job that may return an error.
func parse(f *satin.Frame, s string) (int, error) {
	var n int
	if _, err := fmt.Sscan(s, &n); err != nil {
		return 0, fmt.Errorf("%q is no number", s)
	}
	return n, nil
}

// parseAll gives up at the first error, which aborts the other children.
func parseAll(f *satin.Frame, words []string) (sum int, err error) {
	g := satin.ForkErr(f, parse)
	for _, w := range words {
		g.Spawn(w)
	}
	for n, err := range g.Results() {
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

func ExampleForkErr() {
	ctx := context.Background()
	fmt.Println(satin.RunErr(ctx, nil, parseAll, []string{"3", "4", "5"}))
	_, err := satin.RunErr(ctx, nil, parseAll, []string{"3", "four", "5"})
	var job *satin.JobError
	fmt.Println(errors.As(err, &job), job.Func, job.ID.Path, job.Err)
	// Output:
	// 12 <nil>
	// true example.parse 2 "four" is no number
}
