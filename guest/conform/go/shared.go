package conform

import (
	"errors"
	"math"

	"github.com/satin-peer/satin"
)

// A part is some of the numbers of a constant.
type part struct {
	Numbers  satin.Constant[[]uint32]
	From, To uint32
}

func sum(f *satin.Frame, p part) uint64 {
	if p.To-p.From > 16 {
		mid := (p.From + p.To) / 2
		x := satin.Spawn(f, sum, part{p.Numbers, p.From, mid})
		s := sum(f, part{p.Numbers, mid, p.To})
		return x.Get() + s
	}
	s := fib(f, 18) - 2584
	for _, n := range p.Numbers.Read(f)[p.From:p.To] {
		s += uint64(n)
	}
	return s
}

func constant(f *satin.Frame, n uint32) uint64 {
	all := make([]uint32, n)
	for i := range all {
		all[i] = uint32(i)
	}
	return sum(f, part{satin.ShareConstant(f, all), 0, n})
}

func moveSteps(state uint64, w uint32) uint64 { return 31*state + uint64(w) }

type version struct{ At satin.Object[uint64, uint32] }

func look(f *satin.Frame, v version) uint64 { return fib(f, 18) - 2584 + v.At.Read(f) }

func object(f *satin.Frame, n uint32) (s uint64) {
	at := satin.Share(f, moveSteps, 1)
	g := satin.Fork(f, look)
	for i := range n {
		at = at.Write(f, i+1)
		g.Spawn(version{at})
	}
	for r := range g.Results() {
		s += r
	}
	return s
}

func least(a, b uint64) uint64 { return min(a, b) }

// most is of a lattice whose offers nobody can check.
func most(a, b uint64) uint64 { return max(a, b) }

func checkLeast(about, v uint64) error {
	if v < about {
		return errors.New("it is less than there can be")
	}
	return nil
}

type offers struct {
	Best     satin.Lattice[uint64, uint64]
	From, To uint32
}

func search(f *satin.Frame, o offers) uint64 {
	if o.To-o.From > 1 {
		mid := (o.From + o.To) / 2
		x := satin.Spawn(f, search, offers{o.Best, o.From, mid})
		b := search(f, offers{o.Best, mid, o.To})
		return min(x.Get(), b)
	}
	v := 1000 + uint64(o.From*2654435761>>8) + fib(f, 8) - 21
	o.Best.Offer(f, v)
	if o.Best.Value(f) > v {
		panic("a job does not see its own offer")
	}
	return v
}

func shareLeast(f *satin.Frame) satin.Lattice[uint64, uint64] {
	return satin.ShareLattice(f, least, uint64(1000), math.MaxUint64)
}

func lattice(f *satin.Frame, n uint32) uint64 {
	best := shareLeast(f)
	if best.Value(f) != math.MaxUint64 {
		panic("there is a value that nobody has offered")
	}
	best.Offer(f, search(f, offers{best, 0, n}))
	return best.Value(f)
}

type bounded struct {
	Best satin.Lattice[uint64, uint64]
	Most uint64
}

func withinGuard(f *satin.Frame, b bounded) bool { return b.Best.Value(f) <= b.Most }

func within(f *satin.Frame, b bounded) uint64 {
	if !withinGuard(f, b) {
		return 0
	}
	return fib(f, 10) - 54
}

func guarded(f *satin.Frame, n uint32) (s uint64) {
	best := shareLeast(f)
	g := satin.Fork(f, within)
	for i := range uint64(n) {
		best.Offer(f, 2000-i)
		g.Spawn(bounded{best, 2000 - i})
	}
	for r := range g.Results() {
		s += r
	}
	return s
}

func waits(f *satin.Frame, n uint32) uint64 {
	best := shareLeast(f)
	for best.Value(f) > uint64(n) {
		fib(f, 6)
	}
	return best.Value(f)
}

func offersIt(f *satin.Frame, n uint32) uint64 {
	shareLeast(f).Offer(f, uint64(n))
	return uint64(n)
}

func invalid(f *satin.Frame, n uint32) uint64 {
	shareLeast(f).Offer(f, uint64(n))
	return 0
}

// file sums up the bytes of the file that was given to the run.
func file(f *satin.Frame, text []byte) (s uint64) {
	for _, b := range satin.ShareConstant(f, text).Read(f) {
		s += uint64(b)
	}
	return s
}

// upwards has children that share what their spawner reads, which modules cannot.
func upwards(f *satin.Frame, n uint32) (sum uint64) {
	g := satin.Fork(f, shares)
	for i := range n {
		g.Spawn(i)
	}
	for c := range g.Results() {
		sum += c.Read(f)
	}
	return sum
}

func shares(f *satin.Frame, n uint32) satin.Constant[uint64] {
	fib(f, 12)
	return satin.ShareConstant(f, uint64(n))
}
