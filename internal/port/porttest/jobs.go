package porttest

import (
	"errors"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("porttest.fib", fib)
	satin.Register("porttest.echo", echo)
	satin.Register("porttest.seek", seek)
	satin.Register("porttest.long", long)
	satin.RegisterErr("porttest.fail", fail)
	satin.Register("porttest.panic", panics)
}

func fib(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	x := satin.Spawn(f, fib, n-1)
	y := fib(f, n-2)
	return x.Get() + y
}

func echo(_ *satin.Frame, n int) int { return n }

// seek spawns the job echo(n), again and again, until one comes to something else than n: somebody has taken
// it and said so.
func seek(f *satin.Frame, n int) int {
	for {
		x := satin.Spawn(f, echo, n)
		if fib(f, 15) != 610 {
			return -1
		}
		if got := x.Get(); got != n {
			return got
		}
	}
}

// long runs fib(n) without end: some milliseconds each time, as a rule in place.
func long(f *satin.Frame, n int) int {
	for {
		x := satin.Spawn(f, fib, n)
		y := satin.Spawn(f, fib, n)
		if y.Get() != x.Get() {
			return -1
		}
	}
}

func fail(_ *satin.Frame, n int) (int, error) { return n, errors.New("porttest: it failed") }

func panics(_ *satin.Frame, n int) int { panic("porttest: it panicked") }
