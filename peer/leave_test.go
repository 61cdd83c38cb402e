package peer_test

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	life "github.com/satin-peer/satin/runs"
)

// The last peer of another's run that leaves has nobody to hand over to: its disk keeps what it has computed, and it
// goes on from there when it is back.
func TestLastOneLeaves(t *testing.T) {
	t.Parallel()
	a, b, dirs, run, work := checkpointed(t)
	until(t, "the other has results", func() bool { return b.Stored(run) > 0 })
	a.Close() // without a word
	if err := b.Leave(deadline(t)); err != nil {
		t.Fatal(err)
	}
	b.Close()
	if n := b.Stored(run); n == 0 {
		t.Fatal("what the last peer had computed of the run is gone")
	}
	b = open(t, hasty, checkpointing, in(dirs[1]), func(c *peer.Config) { // it does not wait for a word
		c.Runs = life.DefaultConfig()
		c.Runs.DormantFor = time.Nanosecond
	})
	work.end(t)
	until(t, "it has the answer", func() bool { return stateOf(t, b, run) == control.RunDone })
}

// The disk of a peer that leaves keeps what it has of another's run if that is more than the peer had at hand, and
// handed over: what its memory had no room for, in this life or when that of an earlier one was read.
func TestLeaverHasMoreOnItsDisk(t *testing.T) {
	t.Parallel()
	for _, restarted := range []bool{false, true} {
		a := open(t, hasty, checkpointing)
		b := open(t, hasty, checkpointing, func(c *peer.Config) { c.Steal.MaxKept = 1 })
		if _, err := b.Join(deadline(t), address(t, a)); err != nil {
			t.Fatal(err)
		}
		work := last(t)
		run := submit(t, a, "count", work.arg)
		until(t, "the other has results", func() bool { return b.Stored(run) > 2 })
		if restarted {
			restored := b.LosesProcess(run)
			until(t, "one is at hand", func() bool { return restored() > 0 })
		} else {
			until(t, "one has no room", func() bool { return b.Displaced(run) > 0 })
		}
		if err := b.Leave(deadline(t)); err != nil {
			t.Fatal(err)
		}
		b.Close()
		if b.Stored(run) == 0 {
			t.Errorf("restarted %t: what it has not handed over is gone", restarted)
		}
		work.end(t)
	}
}

// A peer whose process of jobs has ended goes on with what its disk has of the run: it may be the only one that has it.
func TestProcessIsLost(t *testing.T) {
	t.Parallel()
	a := open(t, hasty, checkpointing)
	work := last(t)
	run := submit(t, a, "count", work.arg)
	until(t, "it has results", func() bool { return a.Stored(run) > 0 })
	restored := a.LosesProcess(run)
	until(t, "they are used", func() bool { return restored() > 0 })
	work.end(t)
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
}
