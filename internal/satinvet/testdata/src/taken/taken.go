// Package taken takes results twice, or before anything was spawned. // want package:"registers taken.fib}$"
package taken

import "github.com/satin-peer/satin"

func init() { satin.Register("taken.fib", fib) }

func fib(f *satin.Frame, n int) int {
	x := satin.Spawn(f, fib, n-1)
	return x.Get() + x.Get() // want `x is taken twice on a path to here, which panics`
}

func tryAgain(f *satin.Frame, n int) int {
	x := satin.Spawn(f, fib, n)
	v, err := x.Try()
	if err != nil {
		return x.Get() // want `x is taken twice`
	}
	return v
}

func branch(f *satin.Frame, n int) int {
	x := satin.Spawn(f, fib, n)
	sum := 0
	if n > 3 {
		sum = x.Get()
	}
	return sum + x.Get() // want `x is taken twice`
}

// correlated takes its Future once on each path that can happen.
func correlated(f *satin.Frame, n int) int {
	x := satin.Spawn(f, fib, n)
	done := false
	sum := 0
	if n > 3 {
		sum = x.Get()
		done = true
	}
	if done {
		return sum
	}
	return x.Get()
}

func again(f *satin.Frame, n int) int {
	x := satin.Spawn(f, fib, n)
	sum := x.Get()
	x = satin.Spawn(f, fib, n)
	return sum + x.Get()
}

func either(f *satin.Frame, n int) int {
	x := satin.Spawn(f, fib, n)
	if n > 3 {
		return x.Get()
	}
	return x.Get() + 1
}

func loop(f *satin.Frame, n int) (sum int) {
	x := satin.Spawn(f, fib, n)
	for range n {
		sum += x.Get() // want `x is taken again in a turn of this loop`
	}
	return sum
}

func loopAfter(f *satin.Frame, n int) (sum int) {
	x := satin.Spawn(f, fib, n)
	y := satin.Spawn(f, fib, n)
	sum = x.Get() + y.Get()
	for range n {
		sum += x.Get() // want `x is taken twice`
	}
	for range n {
		sum += y.Get() // want `y is taken twice`
		y = satin.Spawn(f, fib, n)
	}
	return sum + y.Get()
}

func loopMaybe(f *satin.Frame, n int) (sum int) {
	x := satin.Spawn(f, fib, n)
	sum = x.Get()
	for i := range n {
		sum += x.Get() // want `x is taken again in a turn of this loop`
		x = satin.Spawn(f, fib, i)
		if i == 7 {
			return sum + x.Get()
		}
	}
	return sum
}

// loopNext spawns for the next turn.
func loopNext(f *satin.Frame, n int) (sum int) {
	x := satin.Spawn(f, fib, n)
	for range n {
		sum += x.Get()
		x = satin.Spawn(f, fib, n)
	}
	return sum + x.Get()
}

func loopFor(f *satin.Frame, n int) (sum int) {
	x := satin.Spawn(f, fib, n)
	for i := 0; i < n; i++ {
		if i == 7 {
			sum++
		}
		sum += x.Get() // want `x is taken again in a turn of this loop`
	}
	return sum
}

func forever(f *satin.Frame, n int) (sum int) {
	x := satin.Spawn(f, fib, n)
	for {
		sum += x.Get() // want `x is taken twice`
		if sum > 10 {
			return sum
		}
	}
}

// once leaves the loop when it has taken the result.
func once(f *satin.Frame, n int) (sum int) {
	x := satin.Spawn(f, fib, n)
	for i := range n {
		if i == 5 {
			return x.Get()
		}
		if i == 6 {
			sum = x.Get()
			break
		}
	}
	for i := range n {
		y := satin.Spawn(f, fib, i)
		sum += y.Get()
	}
	return sum
}

func several(f *satin.Frame, n int) (sum int) {
	var xs []satin.Future[int, int]
	for i := range n {
		xs = append(xs, satin.Spawn(f, fib, i))
	}
	for _, x := range xs {
		sum += x.Get()
	}
	var last satin.Future[int, int]
	for _, last = range xs {
		sum++
	}
	return sum + last.Get()
}

func parameters(x, y satin.Future[int, int]) int {
	sum := x.Get() + y.Get()
	return sum + y.Get() // want `y is taken twice`
}

func nothing(f *satin.Frame, n int) int {
	var x satin.Future[int, int]
	return x.Get() // want `x is taken here, but on a path to here nothing was spawned into it`
}

func around(f *satin.Frame, n int) int {
	var x satin.Future[int, int]
	if n > 3 {
		x = satin.Spawn(f, fib, n)
	}
	return x.Get() // want `x is taken here, but on a path to here nothing was spawned`
}

// matched spawns and takes under the same condition.
func matched(f *satin.Frame, n int) int {
	var x satin.Future[int, int]
	if n > 3 {
		x = satin.Spawn(f, fib, n)
	}
	sum := fib(f, n)
	if n > 3 {
		sum += x.Get()
	}
	return sum
}

func noOther(f *satin.Frame, n int) int {
	var x satin.Future[int, int]
	switch {
	case n > 3:
		x = satin.Spawn(f, fib, n)
	case n > 2:
		x = satin.Spawn(f, fib, n+1)
	default:
		fail()
	}
	return x.Get()
}

func fail() { panic("never") }

// inTurn is set in the first turn of a loop that nobody can tell to have one.
func inTurn(f *satin.Frame, n int) int {
	var x satin.Future[int, int]
	for i := range n {
		if i == 0 {
			x = satin.Spawn(f, fib, n)
		}
	}
	return x.Get()
}

// perhaps takes x in one place or the other.
func perhaps(f *satin.Frame, n int) bool {
	x := satin.Spawn(f, fib, n)
	found := n > 3 && x.Get() > 0
	if n <= 3 {
		found = x.Get() > 0
	}
	return found
}

// captured is out of sight: the literal may run any number of times, or never.
func captured(f *satin.Frame, n int) int {
	x := satin.Spawn(f, fib, n)
	get := func() int { return x.Get() }
	if n > 3 {
		return get()
	}
	return x.Get()
}

func handedOn(f *satin.Frame, n int) int {
	x := satin.Spawn(f, fib, n)
	p := &x
	y := satin.Spawn(f, fib, n)
	sum := parameters(y, *p)
	return sum
}
