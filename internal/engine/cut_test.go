package engine_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
)

func init() {
	satin.Register("cuttest.leaf", cutLeaf)
	satin.Register("cuttest.middle", cutMiddle)
}

var (
	cutPool  atomic.Pointer[engine.Pool]
	cutTaken = make(chan cutChild)
	cutLeave chan struct{} // of the test that runs
)

// A cutChild is what was taken, and from whom.
type cutChild struct {
	*engine.Taken
	from *engine.Worker
}

// A keepLog is a dropLog that notes which jobs are kept.
type keepLog struct {
	dropLog
	kept []string
}

func (l *keepLog) Kept(j engine.Job, _ engine.Outcome) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, j.ID.Path.String())
	return true
}

// cutLeaf has one of two children taken. If n is 20, it is then in a leaf that looks at nothing until the
// test lets it end.
func cutLeaf(f *satin.Frame, n int) int {
	x, y := satin.Spawn(f, fib, n), satin.Spawn(f, fib, 1)
	worker(f).ShareAll()
	cutTaken <- cutChild{cutPool.Load().GiveOldest(worker(f)), worker(f)}
	if n == 20 {
		<-cutLeave
	}
	v, err := x.Try()
	return y.Get() + v + len(fmt.Sprint(err))
}

// cutMiddle is between the root and a leaf: the path from what was taken leads through it.
func cutMiddle(f *satin.Frame, n int) int { return satin.Spawn(f, cutLeaf, n).Get() }

// TestCutThrough: when a guest is cancelled whose frame is in a long leaf, the thief of its child, and of no other
// guest's, is told in the same step. When the leaf ends at last everything unwinds, is told no second time, adds up,
// and nothing that came of it is kept.
func TestCutThrough(t *testing.T) {
	log := &keepLog{}
	p, err := engine.NewPool(engine.Config{Workers: 1, Host: log, KeepAfter: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	cutPool.Store(p)
	cutLeave = make(chan struct{})
	leave := sync.OnceFunc(func() { close(cutLeave) })
	defer leave()
	ended := make(chan engine.Outcome, 1)
	guest := func(n, size int, ended func(engine.Outcome)) (*engine.Guest, cutChild) {
		id := satin.JobID{Path: []uint32{uint32(n)}}
		g, err := p.Submit(engine.Job{ID: id, Func: "cuttest.middle", Arg: size}, ended)
		if err != nil {
			t.Fatal(err)
		}
		return g, <-cutTaken
	}
	_, wanted := guest(2, 21, func(o engine.Outcome) { ended <- o }) // it parks, and the one core is free for the other
	cancelled, lost := guest(1, 20, func(engine.Outcome) { t.Error("a cancelled guest ended") })
	cancelled.Cancel()
	told := func() []*engine.Taken {
		log.mu.Lock()
		defer log.mu.Unlock()
		return append([]*engine.Taken(nil), log.dropped...)
	}
	if d := told(); len(d) != 1 || d[0] != lost.Taken {
		t.Fatalf("told of %d jobs while the leaf ran on, want the one under the cancelled guest", len(d))
	}
	if ok, err := lost.End(engine.Outcome{Result: 6765}); ok || err != nil || lost.PutBack(true) {
		t.Error("a job that was dropped came back", ok, err)
	}
	if p.GiveOldest(lost.from) != nil {
		t.Error("a job under the cancelled guest was given away")
	}
	if ok, err := wanted.End(engine.Outcome{Result: 6765}); !ok || err != nil {
		t.Error(ok, err)
	}
	leave()
	if o := <-ended; o != (engine.Outcome{Result: 6765 + 1 + len("<nil>")}) {
		t.Error(o)
	}
	until(t, "all cores are idle", func() bool { return p.Idle() == 1 })
	if d := told(); len(d) != 1 {
		t.Errorf("told of %d drops", len(d))
	}
	log.mu.Lock()
	for _, path := range log.kept {
		if strings.HasPrefix(path, "1") {
			t.Errorf("%s was kept, which is under the cancelled guest", path)
		}
	}
	log.mu.Unlock()
	if s := p.Stats(); s.Spawned+s.Launched != s.Executed+s.Aborted+s.Returned {
		t.Errorf("jobs do not add up: %+v", s)
	}
}
