package session_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

func init() {
	satin.Register("session_test.cutters", cutters)
	satin.Register("session_test.cutter", cutter)
	satin.Register("session_test.gatherer", gatherer)
	satin.Register("session_test.slabber", slabber)
}

// A slab is an argument as large as its Data.
type slab struct {
	Data  []byte
	Depth int
}

// cuttersWait holds up all leaves until a test has seen what it wants to see.
var cuttersWait atomic.Bool

// Slabs are what cutters cut, and into how many steps of halves.
type slabs struct{ Slabs, Bytes, Depth int }

// newSlab is one of them.
func (s slabs) newSlab(i int) slab {
	part := make([]byte, 10_007)
	for k := range part {
		part[k] = byte(k*k>>3 + i)
	}
	b := make([]byte, 0, s.Bytes+len(part))
	for len(b) < s.Bytes {
		b = append(b, part...)
	}
	return slab{b[:s.Bytes], s.Depth}
}

// cutters hands each of its jobs a slab of its own.
func cutters(f *satin.Frame, s slabs) int {
	g := satin.Fork(f, cutter)
	for i := range s.Slabs {
		g.Spawn(s.newSlab(i))
	}
	sum := 0
	for v := range g.Results() {
		sum += v
	}
	return sum
}

// cutter spawns a job for each half of its slab, which is whole.
func cutter(f *satin.Frame, s slab) int {
	if s.Depth > 0 {
		half := len(s.Data) / 2
		g := satin.Fork(f, cutter)
		g.Spawn(slab{s.Data[:half], s.Depth - 1})
		g.Spawn(slab{s.Data[half:], s.Depth - 1})
		sum := 0
		for v := range g.Results() {
			sum += v
		}
		return sum
	}
	for cuttersWait.Load() && !f.Aborted() {
		fib(f, 5) // lets thieves have what waits
		time.Sleep(time.Millisecond)
	}
	return weight(s.Data)
}

func weight(data []byte) (sum int) {
	for i := 0; i < len(data); i += 97 {
		sum += (i%1000 + 1) * int(data[i])
	}
	return sum
}

// Jobs are stolen whatever the size of their arguments: also those that are larger than any message, and than anything
// else that travels whole. Whoever steals one may pass its halves on; whoever is lost loses nothing.
func TestLargeArgumentsTravel(t *testing.T) {
	for _, c := range []struct {
		name  string
		slabs slabs
		lossy bool
		kill  int // a thief, or 0
	}{{"beyond a message", slabs{4, 700_000, 1}, false, 0}, {"lossy, and a thief dies", slabs{4, 700_000, 1}, true, 1},
		{"beyond a value", slabs{2, 17 << 20, 0}, false, 0}} {
		if testing.Short() && c.slabs.Bytes > wire.MaxValue {
			continue // the race detector looks at each byte
		}
		t.Run(c.name, func(t *testing.T) {
			peers := min(3, c.slabs.Slabs)
			w := newWorld(t, peers, "session_test.cutters", c.slabs)
			w.lossy = c.lossy
			w.stolenFrom(peers, c.kill)
			want := 0
			for i := range c.slabs.Slabs {
				b, n := c.slabs.newSlab(i).Data, c.slabs.Bytes>>c.slabs.Depth
				for ; len(b) > 0; b = b[n:] {
					want += weight(b[:n])
				}
			}
			if got := w.answer(); got != want {
				t.Errorf("%v, want %d", got, want)
			}
			if n := w.sum(func(s *steal.Stats) uint64 { return s.PutBackTooLarge }); n > 0 {
				t.Errorf("%d jobs stayed because they are large", n)
			}
		})
	}
}

// stolenFrom starts so many peers, and has the jobs go on when all but the first have stolen. One of these is killed
// before that; 0: none.
func (w *world) stolenFrom(peers, killed int) {
	cuttersWait.Store(true)
	var list []*worldPeer
	for i := range peers {
		list = append(list, w.start(i, nil))
	}
	w.until("all others have stolen and work", func() bool {
		return !slices.ContainsFunc(list[1:], func(p *worldPeer) bool { return p.Stats().Held == 0 })
	})
	if killed > 0 {
		w.kill(list[killed])
	}
	cuttersWait.Store(false)
}

// gatherer has each of its jobs make a slab.
func gatherer(f *satin.Frame, s slabs) int {
	g := satin.Fork(f, slabber)
	for i := range s.Slabs {
		s.Depth = i
		g.Spawn(s)
	}
	sum := 0
	for v := range g.Results() {
		sum += weight(v.Data)
	}
	return sum
}

// slabber makes one; Depth is its number.
func slabber(f *satin.Frame, s slabs) slab {
	for cuttersWait.Load() && !f.Aborted() {
		fib(f, 5)
		time.Sleep(time.Millisecond)
	}
	return s.newSlab(s.Depth)
}

// A stolen job's result comes home whatever its size, also if what carries it is lost, and if its thief is. Where its
// thief has no room for it, or whoever waits for it, somebody else does the job, and nobody waits in vain.
func TestLargeResultsTravel(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("the race detector looks at each byte")
	}
	for _, c := range []struct {
		name  string
		slabs slabs
		lossy bool
		kill  int
		tight int
		back  func(*steal.Stats) uint64 // what is counted of jobs that are done again
	}{{"beyond a value", slabs{Slabs: 3, Bytes: 17 << 20}, false, 0, -1, nil},
		{"lossy, and a thief dies", slabs{Slabs: 3, Bytes: 17 << 20}, true, 1, -1, nil},
		{"40 MiB", slabs{Slabs: 2, Bytes: 40 << 20}, false, 0, -1, nil},
		{"a thief without room", slabs{Slabs: 2, Bytes: 17 << 20}, false, 0, 1,
			func(s *steal.Stats) uint64 { return s.JobsReturned }}, // its owner may have had a copy of the job by then
		{"an owner without room", slabs{Slabs: 3, Bytes: 17 << 20}, false, 0, 0,
			func(s *steal.Stats) uint64 { return s.PutBackUnusable }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.slabs.Slabs, "session_test.gatherer", c.slabs)
			w.lossy, w.tight = c.lossy, c.tight
			if c.back != nil {
				w.cfg = unhurried()
			}
			w.stolenFrom(c.slabs.Slabs, c.kill)
			want := 0
			for i := range c.slabs.Slabs {
				want += weight(c.slabs.newSlab(i).Data)
			}
			if got := w.answer(); got != want {
				t.Errorf("%v, want %d", got, want)
			}
			if c.back != nil && w.sum(c.back) == 0 {
				t.Errorf("no result was refused: %s", w)
			}
			t.Logf("%d results came home", w.sum(func(s *steal.Stats) uint64 { return s.ResultsUsed }))
		})
	}
}
