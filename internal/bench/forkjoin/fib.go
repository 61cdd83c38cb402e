package main

import "github.com/satin-peer/satin"

// fibSequential is the twin that every contender in Go is compared with.
func fibSequential(n int) int {
	if n < 2 {
		return n
	}
	return fibSequential(n-1) + fibSequential(n-2)
}

// fib spawns at every level, as the README's example does.
func fib(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	x := satin.Spawn(f, fib, n-1)
	y := fib(f, n-2)
	return x.Get() + y
}

// fibLoop is fib that takes its one child's result in a loop, as the paper's Table III does with an inlet.
func fibLoop(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	g := satin.Fork(f, fibLoop)
	g.Spawn(n - 1)
	sum := fibLoop(f, n-2)
	for r := range g.Results() {
		sum += r
	}
	return sum
}

// fibSpawns is how many jobs fib(n) spawns: one in each call with n >= 2. That is also the number of calls that the
// sequential twin makes for the same children.
func fibSpawns(n int) int {
	a, b := 0, 1 // fib(0), fib(1)
	for range n + 1 {
		a, b = b, a+b
	}
	return a - 1
}
