// Package lost throws results away. // want package:"registers lost.fib, lost.try}$"
package lost

import (
	"fmt"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("lost.fib", fib)
	satin.RegisterErr("lost.try", try)
}

func fib(f *satin.Frame, n int) int {
	satin.Spawn(f, fib, n-1)              // want `the result of satin.Spawn is dropped: keep the Future and call Get`
	_ = satin.Spawn(f, fib, n-1)          // want `the result of satin.Spawn is dropped`
	var _ = satin.Spawn(f, fib, n-1)      // want `the result of satin.Spawn is dropped`
	defer satin.Spawn(f, fib, n-1)        // want `the result of satin.Spawn is dropped`
	satin.Fork(f, fib)                    // want `the group that satin.Fork opens is dropped`
	_, y := 1, satin.SpawnErr(f, try, n)  // y is taken below
	_, _ = satin.SpawnErr(f, try, n), n+1 // want `the result of satin.SpawnErr is dropped`
	v, _ := y.Get()
	return v
}

func try(f *satin.Frame, n int) (int, error) {
	x := satin.Spawn(f, fib, n) // want `the result of the job in x is never taken: call x.Get`
	_ = x
	y := satin.Spawn(f, fib, n) // want `the result of the job in y is never taken`
	y = satin.Spawn(f, fib, n)
	var z satin.FutureErr[int, int]
	z = satin.SpawnErr(f, try, n) // want `the result of the job in z is never taken`
	z = satin.SpawnErr(f, try, n)
	v, err := z.Get()
	return v + y.Get(), err
}

// early returns leave a child to the implicit sync on one path only: that is allowed.
func early(f *satin.Frame, n int) int {
	x := satin.Spawn(f, fib, n)
	if n == 0 {
		return 0
	}
	return x.Get()
}

func printed(f *satin.Frame, n int) any {
	x := satin.Spawn(f, fib, n)
	y := satin.Spawn(f, fib, n)
	fmt.Println("result", x) // want `x is a satin.Future, not a result: call Get`
	if x == y {              // want `this compares satin.Futures, not their results`
		return x // want `x is a satin.Future, not a result`
	}
	var v any
	v = x                     // want `x is a satin.Future, not a result`
	var w any = y             // want `y is a satin.Future, not a result`
	fmt.Print(any(y), v, w)   // want `y is a satin.Future, not a result`
	func() any { return x }() // want `x is a satin.Future, not a result`
	fmt.Println(x.Get(), y.Get())
	keep(x)
	return x.Get()
}

func keep[T any](T) {}

func group(f *satin.Frame, n int) (sum int) {
	g := satin.Fork(f, fib)
	g.Spawn(1)
	for r := range g.Results() {
		sum += r
		if r > 10 {
			g.Spawn(r)
		}
	}
	g.Spawn(2) // want `the results of this child of g are never read: range over g.Results after it`
	return sum
}

func unread(f *satin.Frame, n int) {
	g := satin.ForkErr(f, try)
	for i := range n {
		g.Spawn(i) // want `the results of this child of g are never read`
	}
	f.Sync()
}

func givenUp(f *satin.Frame, n int) (sum int) {
	g, h := satin.Fork(f, fib), satin.ForkErr(f, try)
	g.Spawn(n)
	h.Spawn(n) // want `the results of this child of h are never read`
	if h.Abort(); n > 10 {
		g.Abort()
		return n
	}
	for r := range g.Results() {
		sum += r
	}
	return sum
}

func notRanged(f *satin.Frame, n int) {
	g := satin.Fork(f, fib)
	g.Spawn(n)
	g.Results()    // want `g.Results\(\) alone takes no result and waits for nothing: range over it`
	_ = g.Tries()  // want `g.Tries\(\) alone takes no result`
	fmt.Println(g) // want `g is a satin.Group, not a result: range over Results`
}
