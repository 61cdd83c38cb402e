package peer

import (
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// One run, one owner and one sender have a half of the memory each, all together all of it; what must be held is
// counted beyond that; in an own run only what others send counts; refusals are said once for each run.
func TestMemory(t *testing.T) {
	const mib = 1 << 20
	q := &memory{}
	var r runs.Config
	var s stream.Config
	q.divide(128*mib, &r, &s)
	if q.most != 64*mib || r.ManifestBytes != 32*mib || s.BulkMemoryTotal != 128*mib/5 || s.BulkMemory != 16*mib {
		t.Fatalf("128 MiB are %d, %d, %d and %d", q.most, r.ManifestBytes, s.BulkMemoryTotal, s.BulkMemory)
	}
	said := map[byte]int{}
	enter := func(run byte, owner runs.PeerID) steal.Room {
		return q.enter(job.RunID{run}, owner, owner == "self", func(string) { said[run]++ })
	}
	fill := func(run byte, room steal.Room, from steal.PeerID) (n int) {
		for range 100 {
			if room.Take(from, mib, false) {
				n++
			}
		}
		return n
	}
	one := enter(1, "a")
	for _, step := range []struct {
		run   byte
		owner runs.PeerID
		from  steal.PeerID
		most  int
		why   string
	}{
		{1, "a", "x", 32, "x has sent"}, {2, "b", "x", 0, "x has sent"}, {3, "a", "y", 0, "of its owner's runs"},
		{4, "self", "", 100, ""}, {4, "self", "x", 0, "x has sent"}, {4, "self", "z", 32, "z has sent"},
		{5, "c", "", 0, "of others"},
	} {
		room := one
		if step.run != 1 {
			room = enter(step.run, step.owner)
		}
		n := fill(step.run, room, step.from)
		if why := q.trouble(job.RunID{step.run}); n != step.most || !strings.Contains(why, step.why) {
			t.Errorf("%+v: %d MiB are taken: %s", step, n, why)
		}
	}
	if one.Take("y", mib, true) || q.used() != 65*mib {
		t.Errorf("what must be held is not counted: %d", q.used())
	}
	one.Give("y", mib)
	one.Give("x", 8*mib)
	if n := fill(6, enter(6, "d"), "x"); n != 8 {
		t.Errorf("what was given back leaves %d MiB", n)
	}
	q.leave(job.RunID{1})
	one.Give("x", 24*mib) // a session that ends late
	if n := fill(7, enter(7, "e"), "x"); n != 24 {
		t.Errorf("a run that is over leaves its sender %d MiB", n)
	}
	if said[1] != 1 || said[2] != 1 {
		t.Errorf("refusals are said %v times", said)
	}
}

// The collector is told of what others have given and what this peer needs, and not against the user's will.
func TestMemoryIsCollected(t *testing.T) {
	old := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(old)
	const mib = 1 << 20
	q := &memory{most: 48 * mib}
	room := q.enter(job.RunID{1}, "a", false, nil)
	for _, c := range []struct{ kept, given, live, want int64 }{
		{0, 0, 10, 40}, {16, 0, 20, 56}, {0, 1 << 10, 30, 1080}, {0, 0, 400, 516}, {0, 0, 10, 56},
	} {
		room.Take("x", int(c.kept*mib), true)
		q.collectBeside(c.given*mib, c.live*mib)
		if got := debug.SetMemoryLimit(-1); got != c.want*mib {
			t.Errorf("%+v: the limit is %d MiB", c, got/mib)
		}
	}
	debug.SetMemoryLimit(1 << 30)
	(&memory{most: 1}).collectBeside(0, 0)
	if debug.SetMemoryLimit(-1) != 1<<30 {
		t.Error("the user's limit is gone")
	}
}
