package compute

import (
	"testing"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/engine"
	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
)

// TestWritesWait: as many writes are applied at a time as cores have no job, as many as there are cores if something is
// wanted, until none waits, and one at a time when the oldest has waited for long.
func TestWritesWait(t *testing.T) {
	begun := time.Now()
	w := writes{patience: port.ApplyAfter, most: 2}
	for i := range 6 {
		w.waiting = append(w.waiting, waitingWrite{port.Order{}, begun.Add(time.Duration(i))})
	}
	for _, c := range []struct {
		what        string
		after       time.Duration
		idle, ended int
		hurry       bool
		want        int
		again       time.Duration
	}{
		{"all cores have jobs", time.Millisecond, 0, 0, false, 0, port.ApplyAfter - time.Millisecond},
		{"one has none", 0, 1, 0, false, 1, 0},
		{"that is at it", 0, 1, 0, false, 0, 0},
		{"another has none", 0, 2, 0, false, 1, 0},
		{"all have jobs again, and much time has passed", 2 * port.ApplyAfter, 0, 0, false, 0, 0},
		{"both have ended", 2 * port.ApplyAfter, 0, 2, false, 1, 0},
		{"something is wanted", 0, 0, 0, true, 1, 0},
		{"one has ended", 0, 0, 1, false, 1, 0},
		{"the other has", 0, 0, 1, false, 1, 0},
		{"all have", 0, 8, 2, false, 0, 0},
	} {
		w.running, w.hurry = w.running-c.ended, w.hurry || c.hurry
		got, again := w.take(begun.Add(c.after), c.idle)
		if len(got) != c.want || again != c.again {
			t.Errorf("%s: %d begin, the next look is after %v; want %d, %v", c.what, len(got), again, c.want, c.again)
		}
	}
	if w.running != 0 || len(w.waiting) != 0 {
		t.Errorf("in the end %d are at work, %d wait", w.running, len(w.waiting))
	}
}

// TestWritesWaitForCores: a write is applied when a core has no job, however it came to have none, or when something is
// wanted, and not before.
func TestWritesWaitForCores(t *testing.T) {
	a, b := newPlace(t), newPlace(t)
	b.sharing.writes.patience = time.Hour
	_, _ = a.leave(submit(t, a.pool, "compute.share", 20).(reading))
	var list *port.Shared
	var lattice sharedobj.Digest
	for range 3 {
		e := a.await(port.Made)
		b.bring(e)
		switch e.Shared.Recipe.Kind {
		case sharedobj.Phased:
			list = e.Shared
		case sharedobj.Lattice:
			lattice = e.Shared.Recipe.Digest()
		}
	}
	data, err := b.sharing.Encode(7)
	if err != nil {
		t.Fatal(err)
	}
	cores := func(n int) { b.Do(&port.Order{Kind: port.Cores, Max: n, Others: true}) }
	let := make(chan struct{})
	for i, c := range []struct {
		what        string
		before, end func()
	}{
		{"it has no cores, and gets one", func() { cores(0) }, func() { cores(1) }},
		{"its core has a job, which ends", func() {
			blocked = make(chan struct{})
			b.run("compute.block", []byte{0})
			<-blocked
		}, func() { let <- struct{}{} }},
		{"it has no cores, and something is wanted", func() { cores(0) }, func() { b.sharing.Want(engine.Name{1}) }},
	} {
		release = let
		c.before()
		b.Do(&port.Order{Kind: port.Apply, Shared: &port.Shared{Ticket: sharedobj.Ticket(i + 1),
			Digest: sharedobj.Digest{byte(i)}, Parent: list.Recipe.Digest(), Name: list.Recipe.Name, Data: data}})
		for range 2 { // when the second is answered the sharer has seen what is due
			b.Do(&port.Order{Kind: port.Encode, Shared: &port.Shared{Digest: lattice}})
			b.await(port.Encoded)
		}
		b.sharing.mu.Lock()
		n := len(b.sharing.writes.waiting)
		b.sharing.mu.Unlock()
		if n != 1 {
			t.Errorf("%s: before that %d writes wait", c.what, n)
		}
		c.end()
		if e := b.await(port.Applied); e.Shared.State == nil || e.Shared.Ticket != sharedobj.Ticket(i+1) {
			t.Errorf("%s: the write gives %+v", c.what, e.Shared)
		}
	}
}

var blocked, release chan struct{}

// block keeps its core.
func block(*satin.Frame, int) int {
	close(blocked)
	<-release
	return 0
}

func init() { satin.Register("compute.block", block) }
