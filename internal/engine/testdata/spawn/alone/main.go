// Alone spawns, and shares nothing.
package main

import (
	"context"

	"github.com/satin-peer/satin"
)

func init() { satin.Register("spawn.fib", fib) }

func fib(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	first := satin.Spawn(f, fib, n-1)
	return fib(f, n-2) + first.Get()
}

func main() {
	if _, err := satin.Run(context.Background(), nil, fib, 20); err != nil {
		panic(err)
	}
}
