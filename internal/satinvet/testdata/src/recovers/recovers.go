// Package recovers swallows the unwinding of aborted jobs. // want package:"registers recovers.fib}$"
package recovers

import (
	"errors"
	"fmt"

	"github.com/satin-peer/satin"
)

func init() { satin.Register("recovers.fib", fib) }

func fib(f *satin.Frame, n int) (r int) {
	defer func() {
		if v := recover(); v != nil { // want `recover here also swallows the unwinding of an aborted job: take the child's result with Future.Try`
			r = -1
		}
	}()
	x := satin.Spawn(f, fib, n)
	return x.Get()
}

func named(f *satin.Frame, n int) int {
	defer quiet() // want `recover here also swallows`
	return fib(f, n)
}

func direct(f *satin.Frame, n int) int {
	defer func() { recover() }() // want `recover here also swallows`
	return fib(f, n)
}

func quiet() {
	if v := recover(); v != nil {
		fmt.Println(v)
	}
}

func literal(f *satin.Frame, n int) (r int) {
	func() {
		defer func() { _ = recover() }() // want `recover here also swallows`
		r = fib(f, n)
	}()
	return r
}

// again gives every panic on.
func again(f *satin.Frame, n int) int {
	defer func() {
		if v := recover(); v != nil {
			fmt.Println("in again:", v)
			panic(v)
		}
	}()
	return fib(f, n)
}

// switched gives on what it does not know, and so does switchedLater.
func switched(f *satin.Frame, n int) (r int) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case int:
			r = v
		default:
			panic(v)
		}
	}()
	return fib(f, n)
}

func switchedLater(f *satin.Frame, n int) (r int) {
	defer func() {
		v := recover()
		switch v := v.(type) {
		case nil:
		case int:
			r = v
		default:
			panic(v)
		}
	}()
	return fib(f, n)
}

// switchedOff gives nothing on.
func switchedOff(f *satin.Frame, n int) (r int) {
	defer func() {
		switch v := recover().(type) { // want `recover here also swallows`
		case int:
			r = v
		}
	}()
	return fib(f, n)
}

// guarded recovers from code that does not touch the frame.
func guarded(f *satin.Frame, n int) (r int) {
	func() {
		defer func() { recover() }()
		r = 100 / n
	}()
	return r + divide(n)
}

func divide(n int) (r int) {
	defer quiet()
	return 100 / n
}

// try is how to do it.
func try(f *satin.Frame, n int) (int, error) {
	defer fmt.Println("done")
	x := satin.Spawn(f, fib, n)
	r, err := x.Try()
	if err != nil {
		return 0, errors.Join(err, errors.New("no result"))
	}
	return r, nil
}

func recoverOther(f *satin.Frame, n int) int {
	recover := func() int { return 1 }
	defer func() { recover() }()
	return fib(f, n)
}
