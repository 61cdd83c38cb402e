package engine_test

import (
	"strings"
	"testing"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

func init() {
	satin.Register("test.bulky", bulky)
	satin.Register("test.nilFuncs", nilFuncs)
}

// bulky has an argument and a result that would not fit on a stack that may not grow.
func bulky(f *satin.Frame, a [512]int) [512]int {
	if a[0] == 0 {
		return a
	}
	a[0]--
	b := satin.Spawn(f, bulky, a).Get()
	b[1]++
	return b
}

// Large arguments and results come through unchanged.
func TestBulkyTypes(t *testing.T) {
	for _, workers := range []int{0, 2} {
		if b := run(t, testPool(t, workers), bulky, [512]int{0: 100}); b[1] != 100 {
			t.Error(b[1])
		}
	}
}

// nilFuncs spawns a nil function in every way, in slots that were used and in ones that were not, and counts
// clear panics.
func nilFuncs(f *satin.Frame, used int) (clear int) {
	for range used {
		satin.Spawn(f, fib, 1)
	}
	f.Sync()
	try := func(spawn func()) {
		defer func() {
			if s, ok := recover().(string); ok && strings.Contains(s, "nil function") {
				clear++
			}
		}()
		spawn()
	}
	var fn func(*satin.Frame, [512]byte) [512]byte
	var fails func(*satin.Frame, [512]byte) ([512]byte, error)
	try(func() { satin.Spawn(f, fn, [512]byte{1}) })
	try(func() { g := satin.Fork(f, fn); g.Spawn([512]byte{1}) })
	try(func() { satin.SpawnErr(f, fails, [512]byte{1}) })
	try(func() { g := satin.ForkErr(f, fails); g.Spawn([512]byte{1}) })
	return clear
}

// A nil function is refused where it is spawned, wherever on the stack, and nothing is left behind.
func TestNilFunction(t *testing.T) {
	for _, workers := range []int{0, 1, 2} {
		p := testPool(t, workers)
		for _, used := range []int{0, 1, engine.FirstSlots + 10} {
			if n := run(t, p, nilFuncs, used); n != 4 {
				t.Errorf("%d workers, %d slots used: %d of 4 nil functions were refused", workers, used, n)
			}
		}
		if r := run(t, p, fib, 15); r != 610 {
			t.Error("after nil functions:", r)
		}
	}
}

// TestTopLevel: what a function is called, or its package's folder, makes no closure of it.
func TestTopLevel(t *testing.T) {
	for symbol, want := range map[string]string{
		"main.functional":                    "",
		"example.org/a.b/c.funcs2":           "",
		"example.org/long-range.Near":        "",
		"example.org/long-range.Near.func1":  "a closure",
		"example.org/long-range.Near-range1": "a closure",
		"main.Near.gowrap1":                  "a closure",
		"main.glob..func1":                   "a closure",
		"main.(*T).Near":                     "a method",
		"main.T.Near":                        "a method",
		"example.org/long-range.T.Near-fm":   "a method value",
		"example.org/long-range.Near[...]":   "an instance of a generic function",
	} {
		if got := engine.NotTopLevel(symbol); got != want {
			t.Errorf("%s is %q, want %q", symbol, got, want)
		}
	}
}
