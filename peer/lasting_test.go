package peer_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/satin-peer/satin"
)

func init() {
	satin.Register("peertest.count", count, satin.Exact())
	satin.Register("peertest.nap", nap)
	satin.Register("peertest.heap", heap, satin.Exact())
	satin.Register("peertest.pile", pile, satin.Exact())
	satin.Register("peertest.drag", drag)
	satin.Register("peertest.crawl", crawl)
}

// A Forest is a binary tree of jobs, whose leaves are counted. A leaf takes its time, and hardly any of the
// processor's, until the file End is there.
type Forest struct {
	End   string
	Depth int
}

// leafTakes is long enough that a leaf's outcome is kept.
const leafTakes = 25 * time.Millisecond

// ended are the ends that this process has seen: there are many leaves.
var ended sync.Map

func count(f *satin.Frame, x Forest) int {
	if x.Depth == 0 {
		if _, over := ended.Load(x.End); over {
			return 1
		}
		if _, err := os.Stat(x.End); err == nil {
			ended.Store(x.End, true)
		} else {
			time.Sleep(leafTakes)
		}
		return 1
	}
	x.Depth--
	one := satin.Spawn(f, count, x)
	return count(f, x) + one.Get()
}

// nap does one leaf after the other until the end, and lets all other cores idle.
func nap(f *satin.Frame, x Forest) (n int) {
	for x.Depth = 0; ; n += satin.Spawn(f, count, x).Get() {
		if _, err := os.Stat(x.End); err == nil {
			return n
		}
	}
}

// heapOf is more than goes with a message.
func heapOf(n int) []byte {
	b := bytes.Repeat(binary.BigEndian.AppendUint64(nil, uint64(n)), 17<<17)
	b[n%len(b)]++
	return b
}

// heap counts, and makes a large result of it.
func heap(f *satin.Frame, x Forest) []byte { return heapOf(count(f, x)) }

// pile does, too, and its own result is as large.
func pile(f *satin.Frame, x Forest) []byte {
	x.Depth--
	one := satin.Spawn(f, heap, x)
	n := count(f, x)
	b := one.Get()
	b[n]++
	return b
}

// drag has something to do until another peer has begun its oldest job, and then waits for its result.
func drag(f *satin.Frame, end string) int {
	one := satin.Spawn(f, crawl, end)
	for {
		if _, err := os.Stat(end); err == nil {
			return one.Get()
		}
		satin.Spawn(f, count, Forest{End: end}).Get()
	}
}

// crawl is done at once where it runs a second time; the first time it takes until it is aborted. The file says which
// it is.
func crawl(f *satin.Frame, end string) int {
	if err := os.Mkdir(end, 0o700); err != nil {
		return 2
	}
	for !f.Aborted() {
		time.Sleep(time.Millisecond)
	}
	return 1
}

// A lasting run goes on, in many jobs, until its test ends it: what is done to it meanwhile is done in the
// middle of it, however fast or slow the machine is. It costs hardly any processor time.
type lasting struct {
	arg  Forest
	want int
}

func last(t testing.TB) *lasting {
	return lastWith(t, 14) // four peers would need 100 s
}

// lastWith has a tree of another depth: for runs whose jobs are all run again, which a thousand leaves are enough for.
func lastWith(t testing.TB, depth int) *lasting {
	return &lasting{arg: Forest{End: filepath.Join(t.TempDir(), "end"), Depth: depth}, want: 1 << depth}
}

// end has the run end as soon as its peers can.
func (l *lasting) end(t testing.TB) {
	t.Helper()
	if err := os.WriteFile(l.arg.End, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
