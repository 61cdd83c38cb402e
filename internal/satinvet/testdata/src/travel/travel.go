// Package travel spawns what cannot leave the process. // want package:"registers travel.fib, travel.handsFrame, travel.handsFuture, travel.handsGroup, travel.other}$"
package travel

import (
	"context"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("travel.fib", fib)
	satin.Register("travel.other", other)
	satin.Register("travel.lit", func(f *satin.Frame, n int) int { return n }) // want `a closure cannot be a job, it cannot travel to another machine: make it a registered top-level function`
	satin.Register("travel.method", board{}.search)                            // want `a method value cannot be a job`
	satin.Register("travel.instance", generic[int])                            // want `an instance of a generic function cannot be a job`
	satin.Register("travel.frame", handsFrame)                                 // want `the argument of job handsFrame holds a satin.Frame.*every job gets its own Frame`
	satin.Register("travel.future", handsFuture)                               // want `the result of job handsFuture holds a satin.Future.*call Get first and hand over the result`
	satin.Register("travel.group", handsGroup)                                 // want `the argument of job handsGroup holds a satin.Group.*range over Results first`
	register("travel.wrapped", func(f *satin.Frame, n int) int { return n })   // want `a closure cannot be a job`
}

func register(name string, fn func(*satin.Frame, int) int) { satin.Register(name, fn) } // want register:"registers a parameter"

type board struct{ N int }

func (b board) search(f *satin.Frame, n int) int { return n }

func generic[T any](f *satin.Frame, x T) int { return 0 }

func pair[T, U any](f *satin.Frame, x T) (u U) { return u }

type job func(*satin.Frame, int) int

var literal = func(f *satin.Frame, n int) int { return n }

var alias = other

type withFrame struct {
	Deep []map[string]*satin.Frame
	Next *withFrame
}

func handsFrame(f *satin.Frame, a withFrame) int { return 0 }

func handsFuture(f *satin.Frame, a int) (r struct{ X [2]satin.Future[int, int] }) { return r }

func handsGroup(f *satin.Frame, a []satin.GroupErr[int, int]) int { return 0 }

func fib(f *satin.Frame, n int) int {
	local := func(f *satin.Frame, n int) int { return n }
	x1 := satin.Spawn(f, local, n)          // want `a closure cannot be a job`
	x2 := satin.Spawn(f, literal, n)        // want `a closure cannot be a job`
	x3 := satin.Spawn(f, board{}.search, n) // want `a method value cannot be a job`
	x4 := satin.Spawn(f, generic[int], n)   // want `an instance of a generic function cannot be a job`
	x5 := satin.Spawn(f, pair[int, int], n) // want `an instance of a generic function cannot be a job`
	x6 := satin.Spawn(f, job(fib), n)       // a conversion is still fib
	x7 := satin.Spawn(f, alias, n)          // this variable is still other
	g := satin.Fork(f, pick(n))             // a function nobody can name is left to run time
	g.Spawn(n)
	for r := range g.Results() {
		n += r
	}
	return x1.Get() + x2.Get() + x3.Get() + x4.Get() + x5.Get() + x6.Get() + x7.Get()
}

func other(f *satin.Frame, n int) int { return n }

func pick(int) job { return fib }

var boards struct{ fn func(*satin.Frame, int) int }

func root() (int, error) {
	satin.Run(context.Background(), nil, func(f *satin.Frame, n int) int { return n }, 1) // want `a closure cannot be a job`
	satin.RunPartial(context.Background(), 1, literal, 1)                                 // want `a closure cannot be a job`
	satin.Run(context.Background(), nil, generic, 1)                                      // want `an instance of a generic function cannot be a job`
	return satin.Run(context.Background(), nil, fib, 1)
}

// spawnIt is handed its function: what that is, is its caller's business.
func spawnIt[A any](f *satin.Frame, fn func(*satin.Frame, A) int, a A) int {
	x := satin.Spawn(f, fn, a)
	y := satin.Spawn(f, boards.fn, 1)
	return x.Get() + y.Get()
}
