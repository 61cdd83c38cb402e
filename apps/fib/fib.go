// Package fib computes Fibonacci numbers the slow way: the smallest program there is for package satin, with
// nothing in it but spawning. What a run of it costs over [sequential] is the price of a spawn and its Get.
package fib

import (
	"fmt"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("fib.fib", fib, satin.Checked(check), satin.Exact(), satin.Small(31))
	satin.Register("fib.coarse", coarse, satin.Checked(func(c Call) error { return check(c.N) }), satin.Exact())
}

// check refuses what would overflow.
func check(n int) error {
	if n < 0 || n > maxN {
		return fmt.Errorf("it is %d, allowed are 0 to %d", n, maxN)
	}
	return nil
}

// fib spawns at every level.
func fib(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	x := satin.Spawn(f, fib, n-1) // may be stolen, here or on the other side of the world
	y := fib(f, n-2)              // an ordinary call
	return x.Get() + y
}

// Call is a call of Fibonacci that stops spawning below a threshold. The threshold is part of the argument
// because a job knows nothing but its argument.
type Call struct {
	N         int // at least 0
	Threshold int // jobs for at most this N run the sequential program
}

// coarse is fib with leaves.
func coarse(f *satin.Frame, c Call) int {
	if c.N < 2 || c.N <= c.Threshold {
		return sequential(c.N)
	}
	x := satin.Spawn(f, coarse, Call{c.N - 1, c.Threshold})
	y := coarse(f, Call{c.N - 2, c.Threshold})
	return x.Get() + y
}
