// Package silenced has its reasons. // want package:"registers silenced.fib}$"
package silenced

import "github.com/satin-peer/satin"

func init() { satin.Register("silenced.fib", fib) }

func fib(f *satin.Frame, n int) int {
	satin.Spawn(f, fib, 1) //satinvet:ignore the child is here to be aborted
	//satinvet:ignore and so is this one
	satin.Spawn(f, fib, 2)
	satin.Spawn(f, fib, 3) // want `the result of satin.Spawn is dropped`
	x := satin.Spawn(f, fib, 4)
	return x.Get() /* want `this satinvet:ignore silences nothing: remove it` */ //satinvet:ignore there is nothing here
}

func other(f *satin.Frame, n int) int {
	satin.Spawn(f, fib, 1) /* want `satinvet:ignore needs a reason` `the result of satin.Spawn is dropped` */ //satinvet:ignore
	return n
}
