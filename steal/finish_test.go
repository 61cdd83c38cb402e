package steal

import (
	"slices"
	"testing"
	"time"

	"github.com/satin-peer/satin/steal/policy"
)

// Guards whoever wants to stop after the jobs at hand: nothing more is asked for or taken, what is here begins and goes
// home, and when there is nothing left that can be seen. Afterwards it steals as before.
func TestFinish(t *testing.T) {
	f := newFetcher(t)
	f.get(1, 3, 5) // two begin, one waits
	f.out = f.Stand(f.now, Stance{Finish: true})
	f.wants()
	f.get(7)
	f.wants()
	if m := f.out.Messages; len(m) != 1 || m[0].Return == nil || !slices.Equal(m[0].Return.Handles, []Handle{7}) {
		t.Errorf("a job that comes all the same is answered by %+v", m)
	}
	f.out = f.Finished(f.now, 1, []byte("one"), nil)
	f.Report(f.now, Load{Workers: 2, Idle: 1, Runs: 2})
	f.out = f.Finished(f.now, 2, []byte("three"), nil)
	for i, h := range []Handle{1, 3} {
		if n := f.Holding(); n != 3-i {
			t.Errorf("it holds %d jobs, want %d", n, 3-i)
		}
		f.Step(f.now, &Message{From: Address{Peer: "a", Inc: 1}, To: f.self, Ack: &ResultAck{Handle: h}})
	}
	f.out = f.Finished(f.now, 3, []byte("five"), nil)
	f.Step(f.now, &Message{From: Address{Peer: "a", Inc: 1}, To: f.self, Ack: &ResultAck{Handle: 5}})
	f.Report(f.now, Load{Workers: 2, Idle: 2, Runs: 3})
	f.policy.steals = []policy.Steal{{Victim: "a", Max: 1}}
	f.out = f.Tick(f.now + time.Second)
	asks := func(m *Message) bool { return m.Request != nil }
	if f.Holding() != 0 || slices.ContainsFunc(f.out.Messages, asks) || f.segments.wanting() != 0 {
		t.Errorf("it holds %d jobs, has %d workers to give jobs to, and sends %+v", f.Holding(), f.segments.wanting(),
			f.out.Messages)
	}
	f.policy.steals = []policy.Steal{{Victim: "a", Max: 1}}
	if f.out = f.Stand(f.now, Stance{}); !slices.ContainsFunc(f.out.Messages, asks) || f.segments.wanting() != 2 {
		t.Errorf("afterwards it sends %+v", f.out.Messages)
	}
}

// Guards a run that lends its cores to others: without one it wants a job while it holds none, hands it to the engine,
// and wants no second one; and one that has no core otherwise wants nothing.
func TestTurnsAskWithoutACore(t *testing.T) {
	f := newFetcher(t)
	wants := func(what string, n int) {
		t.Helper()
		if is := f.segments.wanting(); is != n {
			t.Errorf("%s it wants %d jobs, not %d", what, is, n)
		}
	}
	f.Report(f.now, Load{})
	wants("paused", 0)
	f.Stand(f.now, Stance{Turns: true})
	wants("in turns", 1)
	f.get(1)
	if !f.segments.anyRuns() {
		t.Error("the engine has not got the job")
	}
	wants("with a job", 0)
	f.Report(f.now, Load{Runs: 1, Queued: 1})
	wants("with a job that waits", 0)
	f.Finished(f.now, 1, []byte("one"), nil)
	f.Report(f.now, Load{Runs: 1})
	wants("afterwards", 1)
}

// Guards a run whose owner finishes while a thief's machine is paused, or withholds a job: it does the job itself, or
// its root would never end, nor what it was told to finish. No job is begun only because there is nothing else.
func TestFinishingWaitsForNoThief(t *testing.T) {
	for still, want := range map[bool]uint64{true: 1, false: 0} {
		cfg := LAN()
		cfg.EagerAfter, cfg.EagerPercent = time.Millisecond, 100
		c := victimCore(t, cfg, 2)
		give(t, c, 0, 1, 1)
		c.Stand(c.now, Stance{Finish: true})
		c.thief.failures = 9
		for seq := uint64(1); seq <= 10; seq++ {
			c.Report(c.now, Load{Workers: 1, Idle: 1})
			c.Step(c.now+time.Second, &Message{From: thiefNo(0), To: c.self,
				Heartbeat: &Heartbeat{Seq: seq, Held: []Handle{1}, Seen: seq, Still: still}})
		}
		if c.segments.runs != want {
			t.Errorf("of a thief that has no core %v, %d copies have begun here, want %d", still, c.segments.runs, want)
		}
	}
}
