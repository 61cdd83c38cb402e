// Sharing spawns the same jobs, and has others that share values of every kind, with a guard.
package main

import (
	"context"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("spawn.fib", fib)
	satin.Register("spawn.reads", reads)
	satin.RegisterObject("spawn.list", add)
	satin.RegisterLattice[string]("spawn.most", most, nil)
	satin.RegisterGuard(reads, func(f *satin.Frame, a all) bool { return a.Most.Value(f) > 1 })
}

type all struct {
	Text satin.Constant[string]
	List satin.Object[[]int, int]
	Most satin.Lattice[string, int]
}

func add(list []int, n int) []int { return append(list[:len(list):len(list)], n) }

func most(a, b int) int { return max(a, b) }

func reads(f *satin.Frame, a all) int {
	a.Most.Offer(f, 3)
	return len(a.Text.Read(f)) + len(a.List.Write(f, 1).Read(f))
}

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
