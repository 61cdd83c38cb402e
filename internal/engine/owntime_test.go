package engine_test

import (
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/job"
)

// ownTimes runs a program whose leaves alone take time, and gives by path what each kept job says that it took by
// itself, what is due of the leaves, and what the whole says that went into none of them.
func ownTimes(t *testing.T, fn func(*satin.Frame, keepArg) int, full int,
	total time.Duration) (said, due map[string]int64, rest int64) {
	t.Helper()
	c := newLeafClock(t, 20*time.Millisecond)
	c.s.full = full
	done := make(chan engine.Outcome, 1)
	g, err := c.p.Submit(engine.Job{ID: job.ID{Run: job.RunID{1}}, Func: nameOf(fn),
		Arg: keepArg{int64(total), 88172645463325252}}, func(o engine.Outcome) { done <- o })
	if err != nil {
		t.Fatal(err)
	}
	if o := <-done; o.Failure != nil {
		t.Fatal(o.Failure)
	}
	said, due = map[string]int64{}, map[string]int64{}
	for i, k := range c.s.kept {
		if full == 0 || (i+1)%full > 0 {
			said[k.ID.Path.String()] = int64(k.Own)
		}
	}
	for _, l := range c.leaves {
		path := l.path
		for ; len(path) > 0; path = path[:len(path)-1] {
			if _, kept := said[path.String()]; kept {
				break
			}
		}
		due[path.String()] += l.took
	}
	return said, due, int64(g.Own())
}

// What a kept job took by itself is without the kept jobs in it; what the host refuses belongs to what is above it, and
// what is left to the whole. So all of them together took as long as the leaves.
func TestOwnTimes(t *testing.T) {
	for _, fn := range []func(*satin.Frame, keepArg) int{keepBinary, keepLoop, keepGroup, keepSync, keepWide,
		keepMixed} {
		for _, full := range []int{0, 3} {
			said, due, rest := ownTimes(t, fn, full, 2*time.Second)
			for path, own := range said {
				if own != due[path] {
					t.Errorf("%s: %s took %d by itself, not %d", nameOf(fn), path, own, due[path])
				}
			}
			if whole := due[job.Path(nil).String()]; rest != whole || len(said) < 20 {
				t.Errorf("%s, %d kept: in none of them went %d, not %d", nameOf(fn), len(said), rest, whole)
			}
		}
	}
}
