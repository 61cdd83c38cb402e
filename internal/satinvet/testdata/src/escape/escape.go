// Package escape lets handles out of the frame they belong to. // want package:"registers escape.fib, escape.fine}$"
package escape

import (
	"context"
	"sync"
	"time"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("escape.fib", fib)
	satin.Register("escape.fine", fine)
}

var current *satin.Frame // want `package-level variable current holds a satin.Frame, which is good only while its job runs`

var pending []satin.Future[int, int] // want `package-level variable pending holds a satin.Future`

// A tree and its nodes lead to each other, and both to a Frame.
type (
	tree struct {
		root *node
		f    *satin.Frame
	}
	node struct{ of *tree }
)

var oak tree // want `package-level variable oak holds a satin.Frame`

var acorn node // want `package-level variable acorn holds a satin.Frame`

var anything any

var hook func()

var pool *satin.Pool // a Pool leads to Frames, but may be kept

type solver struct {
	f    *satin.Frame
	best int
}

func fib(f *satin.Frame, n int) int {
	x := satin.Spawn(f, fib, n)
	y := satin.Spawn(f, fib, n)
	current = f                 // want `this keeps a satin.Frame in package-level variable current` `job fib writes package-level variable`
	anything = f                // want `this keeps a satin.Frame in package-level variable anything` `job fib writes package-level variable`
	anything = &solver{f: f}    // want `this keeps a satin.Frame in package-level variable anything` `job fib writes package-level variable`
	pending[0] = x              // want `this keeps a satin.Future in package-level variable pending` `job fib writes package-level variable`
	hook = func() { f.Abort() } // want `this keeps a satin.Frame in package-level variable hook` `job fib writes package-level variable`
	ch := make(chan any, 1)
	ch <- f // want `this sends a satin.Frame to another goroutine`
	ch <- []any{n}
	ch <- func() { f.Sync() }    // want `this sends a satin.Frame to another goroutine`
	go f.Sync()                  // want `f, which is a satin.Frame, is used in another goroutine here.*spawn a job instead of starting a goroutine`
	go func() { fib(f, n) }()    // want `f, which is a satin.Frame, is used in another goroutine here`
	go fib(f, n)                 // want `f, which is a satin.Frame, is used in another goroutine here`
	go func() { use(x.Get()) }() // want `x, which is a satin.Future, is used in another goroutine here`
	work := func() { use(y.Get()) }
	go work() // want `y, which is a satin.Future, is used in another goroutine here`
	s := &solver{f: f}
	go s.step() // want `s, which holds a satin.Frame, is used in another goroutine here`
	go func(f *satin.Frame) {}(nil)
	var wg sync.WaitGroup
	wg.Go(func() { f.Sync() }) // want `f, which is a satin.Frame, is used in another goroutine here`
	wg.Go(func() { use(n) })
	time.AfterFunc(time.Second, f.Abort)                          // want `f, which is a satin.Frame, is used in another goroutine here`
	context.AfterFunc(context.Background(), func() { f.Abort() }) // want `f, which is a satin.Frame, is used in another goroutine here`
	return 0
}

func use(int) {}

func (s *solver) step() {}

func (s *solver) keep(f *satin.Frame, frames []*satin.Frame) {
	s.f = f       // want `this stores a satin.Frame in s.f, which may outlive the job: pass the Frame as the first parameter instead`
	frames[0] = f // want `this stores a satin.Frame in frames\[0\], which may outlive the job`
}

// own has a solver of its own: what it keeps goes when it returns.
func (s solver) own(f *satin.Frame) {
	s.f = f
	s.step()
}

// fine keeps its handles in memory of its own, which goes when it returns.
func fine(f *satin.Frame, n int) int {
	s := solver{f: f}
	s.f = f
	xs := make([]satin.Future[int, int], n)
	spawnAll(f, xs)
	sum := 0
	for _, x := range xs {
		sum += x.Get()
	}
	done := make(chan int)
	go func() { done <- n }()
	f2 := f
	abort := func() { f2.Abort() }
	if sum > 10 {
		abort()
	}
	return sum + <-done
}

func spawnAll(f *satin.Frame, xs []satin.Future[int, int]) {
	for i := range xs {
		xs[i] = satin.Spawn(f, fib, i)
	}
}

func start(f *satin.Frame, n int) satin.Future[int, int] { return satin.Spawn(f, fib, n) }

func runs(p *satin.Pool) {
	go satin.Run(context.Background(), p, fib, 1)
	go func() { satin.Run(context.Background(), pool, fib, 1) }()
}
