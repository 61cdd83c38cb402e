package main

import (
	"sync"

	"github.com/alitto/pond/v2"
	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc"
	"golang.org/x/sync/errgroup"
)

// The other ways to run fib(n-1) beside fib(n-2) in Go, each as its documentation would have it. None of them
// offers a result, so the child writes it into a variable of its parent.

func fibGoroutines(n int) int {
	if n < 2 {
		return n
	}
	var x int
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		x = fibGoroutines(n - 1)
		wg.Done()
	}()
	y := fibGoroutines(n - 2)
	wg.Wait()
	return x + y
}

func fibErrgroup(n int) int {
	if n < 2 {
		return n
	}
	var x int
	var g errgroup.Group
	g.Go(func() error {
		x = fibErrgroup(n - 1)
		return nil
	})
	y := fibErrgroup(n - 2)
	_ = g.Wait() // the children return no error
	return x + y
}

func fibConc(n int) int {
	if n < 2 {
		return n
	}
	var x int
	var wg conc.WaitGroup
	wg.Go(func() { x = fibConc(n - 1) })
	y := fibConc(n - 2)
	wg.Wait()
	return x + y
}

// fibAnts submits to a pool of goroutines. A bounded pool deadlocks on nested work: its goroutines all wait
// for children that none is left to run. With size -1 it has no bound.
func fibAnts(p *ants.Pool, n int) int {
	if n < 2 {
		return n
	}
	var x int
	var wg sync.WaitGroup
	wg.Add(1)
	if err := p.Submit(func() {
		x = fibAnts(p, n-1)
		wg.Done()
	}); err != nil {
		panic(err)
	}
	y := fibAnts(p, n-2)
	wg.Wait()
	return x + y
}

// fibPond does the same with pond, and deadlocks when bounded for the same reason.
func fibPond(p pond.Pool, n int) int {
	if n < 2 {
		return n
	}
	var x int
	task := p.Submit(func() { x = fibPond(p, n-1) })
	y := fibPond(p, n-2)
	if err := task.Wait(); err != nil {
		panic(err)
	}
	return x + y
}
