// Package conform is what every guest must be able to do, in Go: the same words with the same answers as
// guest/conform/conform.c. The suite in internal/module runs it.
package conform

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/apps"
)

func init() {
	satin.Register("conform.fib", fib)
	satin.Register("conform.sequential", sequential)
	satin.Register("conform.count_of", countOf)
	satin.Register("conform.queens", queens)
	satin.Register("conform.queens_of", queensOf)
	satin.Register("conform.echo", echo)
	satin.Register("conform.first", first)
	satin.Register("conform.forever", forever)
	satin.Register("conform.aborted", aborted)
	satin.RegisterErr("conform.fails", fails)
	satin.Register("conform.caught", caught)
	satin.RegisterErr("conform.wordy", wordy)
	satin.RegisterErr("conform.beside", beside)
	satin.Register("conform.panics", panics)
	satin.Register("conform.deep", deep)
	satin.Register("conform.floats", floats)
	satin.Register("conform.halves", halves)
	satin.Register("conform.weigh", weigh)
	satin.Register("conform.constant", constant)
	satin.Register("conform.sum", sum)
	satin.Register("conform.object", object)
	satin.Register("conform.look", look)
	satin.RegisterObject("conform.steps", moveSteps)
	satin.Register("conform.lattice", lattice)
	satin.Register("conform.search", search)
	satin.RegisterLattice("conform.least", least, checkLeast)
	satin.RegisterLattice[uint64]("conform.most", most, nil)
	satin.Register("conform.guarded", guarded)
	satin.Register("conform.within", within)
	satin.RegisterGuard(within, withinGuard)
	satin.Register("conform.invalid", invalid)
	satin.Register("conform.waits", waits)
	satin.Register("conform.offers_it", offersIt)
	satin.Register("conform.file", file)
	satin.Register("conform.executes", executes)
	satin.Register("conform.home", atHome)
	satin.Register("conform.homely", homely)
	satin.RegisterErr("conform.half", half)
	satin.Register("conform.halfway", halfway)
	satin.RegisterError("conform.none", errNone)
	satin.Register("conform.upwards", upwards)
	satin.Register("conform.shares", shares)
}

// App says what to compute by its first argument, and how large by its second.
var App = apps.App{
	Name:     "conform",
	Summary:  "what every guest must be able to do",
	Args:     "WHAT N",
	Examples: []string{"fib 20"},
	Setup: func(*flag.FlagSet) func(args []string) (*apps.Problem, error) {
		return func(args []string) (*apps.Problem, error) {
			if err := apps.ArgCount(args, 2, "WHAT N"); err != nil {
				return nil, err
			}
			n, err := apps.Int("N", args[1], 0, 1e9)
			if err != nil {
				return nil, err
			}
			var arg any = uint32(n)
			if args[0] == "file" {
				if arg, err = apps.ReadFile("input", 1<<16); err != nil {
					return nil, err
				}
			}
			problem := &apps.Problem{
				Title: args[0],
				Root:  "conform." + args[0],
				Arg:   arg,
				Check: func(any) error { return nil },
				Answer: func(v any) apps.Answer {
					u, _ := v.(uint64)
					return apps.Answer{Text: strconv.FormatUint(u, 10)}
				},
			}
			switch args[0] {
			case "odd":
				err = errNone
			case "output":
				err = apps.CheckOutput("file")
			case "saves":
				problem.Save = func(any) error { return nil }
			}
			return problem, err
		}
	},
}

func fib(f *satin.Frame, n uint32) uint64 {
	if n < 2 {
		return uint64(n)
	}
	x := satin.Spawn(f, fib, n-1)
	y := fib(f, n-2)
	return x.Get() + y
}

func plain(n uint32) uint64 {
	if n < 2 {
		return uint64(n)
	}
	return plain(n-1) + plain(n-2)
}

func sequential(_ *satin.Frame, n uint32) uint64 { return plain(n) }

func count(all, columns, left, right uint32) (n uint64) {
	if columns == all {
		return 1
	}
	for free := all &^ (columns | left | right); free != 0; free &= free - 1 {
		bit := free & -free
		n += count(all, columns|bit, (left|bit)<<1, (right|bit)>>1)
	}
	return n
}

func countOf(_ *satin.Frame, n uint32) uint64 { return count(1<<n-1, 0, 0, 0) }

type board struct{ All, Columns, Left, Right uint32 }

func queens(f *satin.Frame, b board) (n uint64) {
	if b.Columns == b.All {
		return 1
	}
	g := satin.Fork(f, queens)
	for free := b.All &^ (b.Columns | b.Left | b.Right); free != 0; free &= free - 1 {
		bit := free & -free
		g.Spawn(board{b.All, b.Columns | bit, (b.Left | bit) << 1, (b.Right | bit) >> 1})
	}
	for r := range g.Results() {
		n += r
	}
	return n
}

func queensOf(f *satin.Frame, n uint32) uint64 { return queens(f, board{All: 1<<n - 1}) }

func echo(f *satin.Frame, n uint32) uint64 { return fib(f, 10) - 55 + uint64(n) }

// first spawns more in its inlet, and aborts the rest when it has what it wants.
func first(f *satin.Frame, n uint32) uint64 {
	g := satin.Fork(f, echo)
	more := uint32(0)
	for ; more < 8; more++ {
		g.Spawn(more)
	}
	for r := range g.Results() {
		if r == uint64(n) {
			break
		}
		if more < 300 {
			g.Spawn(more)
			more++
		}
	}
	return uint64(n)
}

func forever(_ *satin.Frame, n uint32) uint64 {
	for i := uint32(0); ; i++ {
		if i == math.MaxUint32 && n == math.MaxUint32 {
			return uint64(i)
		}
	}
}

func aborted(f *satin.Frame, n uint32) uint64 {
	//satinvet:ignore its result never comes: it is aborted
	satin.Spawn(f, forever, n)
	r := fib(f, 25) - 75025 + uint64(n)
	f.Abort()
	return r
}

var errNone = errors.New("there is none at all")

func fails(f *satin.Frame, n uint32) (uint64, error) {
	if n == 0 {
		return 0, errNone
	}
	x := satin.SpawnErr(f, fails, n-1)
	fib(f, 15)
	return x.Get()
}

func caught(f *satin.Frame, n uint32) uint64 {
	x := satin.SpawnErr(f, fails, n)
	fib(f, 15)
	if _, err := x.Get(); err == nil {
		return 0
	}
	return uint64(n)
}

func wordy(f *satin.Frame, n uint32) (uint64, error) {
	fib(f, 15)
	return 0, errors.New(strings.Repeat("that there is nothing at all takes a great many words to say,", 6))
}

// beside fails with the first of two errors: a job between them deals with those of its own children only.
func beside(f *satin.Frame, n uint32) (uint64, error) {
	w, c, x := satin.SpawnErr(f, wordy, n), satin.Spawn(f, caught, n), satin.SpawnErr(f, fails, n)
	_, err := x.Get()
	c.Get()
	_, second := w.Get()
	return 0, cmp.Or(err, second)
}

func panics(f *satin.Frame, n uint32) uint64 {
	if n == 0 {
		panic("this cannot go on")
	}
	x := satin.Spawn(f, panics, n-1)
	fib(f, 15)
	return x.Get()
}

func deep(f *satin.Frame, n uint32) uint64 {
	if n == 0 {
		return 0
	}
	x := satin.Spawn(f, deep, n-1)
	return x.Get() + 1
}

// halves cuts n bytes in two, each half the argument of a job, and adds up what they weigh.
func halves(f *satin.Frame, n uint32) uint64 {
	b := bytes.Repeat([]byte{1}, int(n))
	x := satin.Spawn(f, weigh, b[:n/2])
	y := satin.Spawn(f, weigh, b[n/2:])
	return x.Get() + y.Get()
}

// weigh gives others time to take the job beside it.
func weigh(f *satin.Frame, b []byte) uint64 {
	if fib(f, 20) != plain(20) {
		return 0
	}
	return uint64(bytes.Count(b, []byte{1}))
}

// floats gives the bits of a sum, and of a NaN that the sum is added to.
func floats(_ *satin.Frame, n uint32) uint64 {
	sum, zero := 0.0, 0.0
	for i := uint32(1); i <= n; i++ {
		sign := 1.0
		if i%2 == 0 {
			sign = -0.9
		}
		sum += float64(1 / float64(i) * sign)
	}
	return math.Float64bits(sum) ^ math.Float64bits(zero/zero+sum)
}

// executes asks for what modules have not: 1 if it is told so.
func executes(f *satin.Frame, _ uint32) uint64 {
	_, err := satin.Exec(f, "tool", nil)
	if err != nil && strings.HasPrefix(err.Error(), "no executables are run here") {
		return 1
	}
	return 0
}

// A home cannot be encoded.
type home uint32

func (home) MarshalBinary() ([]byte, error) { return nil, errors.New("it stays") }
func (*home) UnmarshalBinary([]byte) error  { return nil }

func atHome(f *satin.Frame, h home) uint64 { return fib(f, uint32(h)) }

// homely spawns n jobs that cannot leave, and then others that can.
func homely(f *satin.Frame, n uint32) uint64 {
	all := make([]satin.Future[home, uint64], n)
	for i := range all {
		all[i] = satin.Spawn(f, atHome, 12)
	}
	sum := fib(f, 22)
	for i := range all {
		sum += all[i].Get()
	}
	return sum
}

// half fails, or panics, with an error that is registered; beside one that it returns it has a result.
func half(f *satin.Frame, n uint32) (uint64, error) {
	fib(f, 12)
	if n%2 == 0 {
		panic(errNone)
	}
	return uint64(n), fmt.Errorf("%d: %w", n, errNone)
}

// halfway adds up what n children that fail as expected have come to.
func halfway(f *satin.Frame, n uint32) (sum uint64) {
	g := satin.ForkErr(f, half)
	for i := range n {
		g.Spawn(i)
	}
	for v, err := range g.Results() {
		if errors.Is(err, errNone) {
			sum += 1000 + v
		}
	}
	return sum
}
