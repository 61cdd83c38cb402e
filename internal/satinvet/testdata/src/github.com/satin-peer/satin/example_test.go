// want package:"registers github.com/satin-peer/satin_test.fib}$"

package satin_test

import "github.com/satin-peer/satin"

func init() { satin.Register("example.fib", fib) }

func fib(f *satin.Frame, n int) int {
	satin.Spawn(f, fib, n) // want `the result of satin.Spawn is dropped`
	return n
}

func Example() {}
