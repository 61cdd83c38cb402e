package engine_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("test.size", size)
	satin.Register("test.givesAway", givesAway)
}

func size(_ *satin.Frame, b []byte) int { return len(b) }

// given is what jobs had as arguments.
var given []weak.Pointer[byte]

//go:noinline
func give() []byte {
	b := make([]byte, 1<<10)
	given = append(given, weak.Make(&b[0]))
	return b
}

// givesAway has children whose results are taken in all ways, or not at all.
func givesAway(f *satin.Frame, _ []byte) (sum int) {
	g := satin.Fork(f, size)
	for range 3 {
		g.Spawn(give())
	}
	x, y := satin.Spawn(f, size, give()), satin.Spawn(f, size, give())
	sum = x.Get() + y.Get() // in the wrong order
	for n := range g.Results() {
		sum += n
	}
	satin.Spawn(f, size, give())
	f.Abort()
	return sum + satin.Spawn(f, size, give()).Get()
}

// TestArgumentsGo: an idle pool holds nothing of what its jobs had.
func TestArgumentsGo(t *testing.T) {
	p := testPool(t, 1)
	for range 2 {
		if sum := run(t, p, givesAway, give()); sum != 6<<10 {
			t.Fatal(sum)
		}
		until(t, "the core is idle", func() bool { return p.Idle() == 1 })
	}
	p.Close() // the worker is waiting, then: it was idle
	runtime.GC()
	for i, b := range given {
		if b.Value() != nil {
			t.Errorf("argument %d of %d is there still", i, len(given))
		}
	}
	runtime.KeepAlive(p)
}
