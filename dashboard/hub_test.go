package dashboard

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

// A counter is a peer that counts how often it is asked.
type counter struct {
	Source
	asked int
}

func (c *counter) Status(context.Context) (Status, error) {
	c.asked++
	return Status{Busy: c.asked}, nil
}
func (c *counter) Peers(context.Context) ([]Peer, error)        { return nil, nil }
func (c *counter) Watch(context.Context) ([]report.Part, error) { return nil, nil }
func (c *counter) Runs(context.Context) ([]Run, error)          { return make([]Run, maxRuns+3), nil }

// The peer is asked once a second while at least one watcher wants something, at once when the first does,
// and otherwise not.
func TestAsksWhileWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &counter{}
		h := newHub(source, time.Second)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go h.run(ctx)
		after := func(d time.Duration, want int, what string) {
			t.Helper()
			time.Sleep(d) // virtual time
			synctest.Wait()
			if source.asked != want {
				t.Errorf("%s: asked %d times, want %d", what, source.asked, want)
			}
			source.asked = 0
		}
		after(time.Hour, 0, "nobody")
		one, other := h.add(), h.add()
		after(time.Hour, 0, "two that want nothing")
		h.subscribe(one, true)
		after(100*time.Millisecond, 1, "one begins")
		if !h.isFresh() || len(one.wake) != 1 || len(other.wake) != 0 {
			t.Errorf("fresh: %v, woken: %d and %d", h.isFresh(), len(one.wake), len(other.wake))
		}
		h.subscribe(other, true)
		after(10*time.Second, 10, "two")
		h.subscribe(one, false)
		h.remove(one)
		after(10*time.Second, 10, "one of them goes")
		h.subscribe(other, false)
		if h.isFresh() {
			t.Error("what nobody keeps up to date counts as fresh")
		}
		after(time.Hour, 0, "the last is hidden")
		h.subscribe(other, true)
		after(0, 1, "it is seen again")
		h.remove(other)
	})
}

// What is too much to send is counted.
func TestCountsWhatIsLeftOut(t *testing.T) {
	h := newHub(&counter{}, time.Second)
	h.refresh(t.Context())
	c := h.store.since(0, true, topics[:])
	if got := string(c.Set[statusTopic]["left_out"]); got != `{"peers":0,"runs":3,"clusters":0}` {
		t.Errorf("left out: %s", got)
	}
}
