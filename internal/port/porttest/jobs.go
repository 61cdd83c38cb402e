package porttest

import (
	"errors"
	"slices"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("porttest.fib", fib)
	satin.Register("porttest.echo", echo)
	satin.Register("porttest.seek", seek)
	satin.Register("porttest.deeper", deeper)
	satin.Register("porttest.home", atHome)
	satin.Register("porttest.mixed", mixed)
	satin.Register("porttest.homely", homely)
	satin.Register("porttest.long", long)
	satin.Register("porttest.shares", shares)
	satin.Register("porttest.sharing", sharing)
	satin.RegisterErr("porttest.fail", fail)
	satin.Register("porttest.panic", panics)
	satin.RegisterObject("porttest.append", appendTo)
	satin.RegisterLattice("porttest.most", most, natural)
	satin.Register("porttest.grow", grow)
	satin.Register("porttest.read", read)
	satin.RegisterGuard(read, enough)
	satin.Register("porttest.give", give)
	satin.Register("porttest.guess", guess, satin.Essence(tens), satin.Certificate(isSquare))
}

func fib(f *satin.Frame, n int) int {
	if n < 2 {
		return n
	}
	x := satin.Spawn(f, fib, n-1)
	y := fib(f, n-2)
	return x.Get() + y
}

func echo(_ *satin.Frame, n int) int { return n }

// seek spawns the job echo(n), again and again, until one comes to something else than n: somebody has taken
// it and said so.
func seek(f *satin.Frame, n int) int {
	for {
		x := satin.Spawn(f, echo, n)
		if fib(f, 15) != 610 {
			return -1
		}
		if got := x.Get(); got != n {
			return got
		}
	}
}

// A home cannot be encoded.
type home int

func (home) MarshalBinary() ([]byte, error)  { return nil, errors.New("porttest: it stays") }
func (*home) UnmarshalBinary(b []byte) error { return nil }

// atHome has no children: these could leave.
func atHome(f *satin.Frame, h home) int {
	if h < 2 {
		return int(h)
	}
	return atHome(f, h-1) + atHome(f, h-2)
}

// mixed is seek with two older jobs, of which the first cannot leave.
func mixed(f *satin.Frame, n int) int {
	x, y := satin.Spawn(f, atHome, 1), satin.Spawn(f, echo, n)
	got := seek(f, n)
	return got + y.Get() + n*x.Get()
}

// homely is n jobs that cannot leave.
func homely(f *satin.Frame, n int) (sum int) {
	var all []satin.Future[home, int]
	for range n {
		all = append(all, satin.Spawn(f, atHome, 20))
	}
	for i := range all {
		sum += all[n-1-i].Get()
	}
	return sum
}

// deeper writes down the hint of n+1 jobs, each the child of the one before, as digits.
func deeper(f *satin.Frame, n int) int {
	if n == 0 {
		return f.Deeper()
	}
	return 10*satin.Spawn(f, deeper, n-1).Get() + f.Deeper()
}

// long runs fib(n) without end: some milliseconds each time, as a rule in place.
func long(f *satin.Frame, n int) int {
	for {
		x := satin.Spawn(f, fib, n)
		y := satin.Spawn(f, fib, n)
		if y.Get() != x.Get() {
			return -1
		}
	}
}

// A share is fib(N), down to what a shared value says.
type share struct {
	Least satin.Constant[int]
	N     int
}

// shares is long with jobs that read a shared value.
func shares(f *satin.Frame, n int) int {
	least := satin.ShareConstant(f, 20)
	for {
		x := satin.Spawn(f, sharing, share{least, n})
		y := satin.Spawn(f, sharing, share{least, n})
		if y.Get() != x.Get() {
			return -1
		}
	}
}

func sharing(f *satin.Frame, s share) int {
	if s.N < s.Least.Read(f) {
		return fib(f, s.N)
	}
	x := satin.Spawn(f, sharing, share{s.Least, s.N - 1})
	y := sharing(f, share{s.Least, s.N - 2})
	return x.Get() + y
}

func fail(_ *satin.Frame, n int) (int, error) { return n, errors.New("porttest: it failed") }

func panics(_ *satin.Frame, n int) int { panic("porttest: it panicked") }

// appendTo is a global method.
func appendTo(old []int, n int) []int { return append(slices.Clone(old), n) }

func most(a, b int) int { return max(a, b) }

func natural(_ string, n int) error {
	if n < 0 {
		return errors.New("it is negative")
	}
	return nil
}

// A reading names a value of each kind.
type reading struct {
	Large satin.Constant[[]byte]
	List  satin.Object[[]int, int]
	Most  satin.Lattice[string, int]
}

// read gives what it reads, and offers one more of what is much.
func read(f *satin.Frame, r reading) []int {
	was := r.Most.Value(f)
	if was >= 20 {
		r.Most.Offer(f, was+1)
	}
	return append(slices.Clone(r.List.Read(f)), len(r.Large.Read(f)), was)
}

// enough is the guard of read.
func enough(f *satin.Frame, r reading) bool { return r.Most.Value(f) >= 10 }

// give spawns read, again and again, until somebody has taken it and says what came of it.
func give(f *satin.Frame, size int) []int {
	list := satin.Share(f, appendTo, []int{1})
	r := reading{satin.ShareConstant(f, make([]byte, size)), list.Write(f, 2),
		satin.ShareLattice(f, most, "most", 0)}
	r.Most.Offer(f, 10)
	for {
		x := satin.Spawn(f, read, r)
		if fib(f, 15) != 610 {
			return nil
		}
		if got := x.Get(); len(got) != 4 {
			return got
		}
	}
}

// guess is judged: it gives a square of its argument or, failing that, some number, of which the tens count.
func guess(_ *satin.Frame, n int) int { return n }

func tens(_, v int) (int, error) { return v / 10 * 10, nil }

func isSquare(n, v int) (bool, error) {
	switch {
	case v < 0:
		return false, errors.New("a square is not negative")
	case v == 13:
		panic("unlucky")
	case v == 0:
		return false, satin.ErrNothing
	}
	return v == n*n, nil
}

// grow shares a lattice of its own.
func grow(f *satin.Frame, n int) int {
	l := satin.ShareLattice(f, most, "grow", 0)
	l.Offer(f, n)
	return l.Value(f)
}
