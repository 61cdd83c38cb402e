package peer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	life "github.com/satin-peer/satin/runs"
	"github.com/satin-peer/satin/steal"
)

// Whoever is out by a run's roster leaves that run and no other one, its work is not lost, the others give it nothing,
// and it comes back when it may. Members that may not say so are not heard.
func TestRosterIsKept(t *testing.T) {
	t.Parallel()
	list := swarm(t, 3, hasty)
	one, two := last(t), last(t)
	run := submit(t, list[0], "count", one.arg)
	other := submit(t, list[0], "count", two.arg)
	until(t, "all work on both", func() bool {
		return works(t, list[1], run) && works(t, list[2], run) && works(t, list[2], other)
	})
	number, author := uint64(0), ""
	until(t, "all know the owner's roster", func() bool {
		for _, p := range list {
			if number, author = p.RosterOf(run); author != list[0].ID().String() {
				return false
			}
		}
		return true
	})
	list[1].Usurp(run, list[2])
	list[0].Decide(run, list[1])
	until(t, "the one that is out has left", func() bool { return stateOf(t, list[1], run) == control.RunRefused })
	until(t, "the third has heard of it, too", func() bool {
		n, _ := list[2].RosterOf(run)
		return n > number
	})
	if _, by := list[2].RosterOf(run); by != author || stateOf(t, list[2], run) != control.RunRunning {
		t.Errorf("a roster of %s counts, and the run is %s", by, stateOf(t, list[2], run))
	}
	for _, p := range []*peer.Peer{list[0], list[2]} {
		if member, barred := p.Gives(run, list[1]); member || !barred {
			t.Errorf("who is out is a member: %t, and barred: %t", member, barred)
		}
	}
	if s := stateOf(t, list[1], other); s != control.RunRunning {
		t.Errorf("the other run is %s there", s)
	}
	const age = 50 * time.Second
	if got := list[2].AgeOfRoster(list[0], list[1], age); got < age || got > 2*age {
		t.Errorf("a roster whose author was not heard for %s is told with an age of %s", age, got)
	}
	list[0].Decide(run)
	until(t, "it is back, and works", func() bool {
		return stateOf(t, list[1], run) == control.RunRunning && works(t, list[1], run)
	})
	one.end(t)
	two.end(t)
	if got := await[int](t, list[0], run); got != one.want {
		t.Errorf("the answer is %d, want %d", got, one.want)
	}
	if got := await[int](t, list[0], other); got != two.want {
		t.Errorf("the answer to the other is %d, want %d", got, two.want)
	}
}

// A run that is to use few peers well begins with few. When it is efficient it asks for more, up to its limit, and
// says so; whoever is not wanted takes no part.
func TestRunGrows(t *testing.T) {
	t.Parallel()
	list := swarm(t, 3, hasty, func(c *peer.Config) { c.AdaptEvery = time.Second })
	until(t, "all are known", func() bool {
		known, _ := list[0].Peers(t.Context())
		return len(known) == 2
	})
	work := last(t)
	b, err := wire.Value().Encode(work.arg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := list[0].Submit(t.Context(), control.Submission{App: "peertest", Function: "peertest.count", Argument: b,
		Adapt: "paper", MinPeers: 1, MaxPeers: 2})
	if err != nil {
		t.Fatal(err)
	}
	taking := func() (n int) {
		for _, p := range list {
			if runs(t, p)[r.Run].State == control.RunRunning {
				n++
			}
		}
		return n
	}
	until(t, "it has asked for more", func() bool {
		roster := runs(t, list[0])[r.Run].Roster
		return roster != nil && roster.Wanted == 2 && len(roster.Log) == 1
	})
	until(t, "two take part", func() bool { return taking() == 2 })
	work.end(t)
	if got := await[int](t, list[0], r.Run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
}

// A run that may have copies made does not wait for a peer that has a job for long and is heard: this one runs it too,
// and what is done first counts.
func TestEagerRunPassesSlowPeer(t *testing.T) {
	t.Parallel()
	list := swarm(t, 2, hasty, func(c *peer.Config) {
		c.Workers, c.Steal.LeaseEnd = 1, 0 // else it is run here after half a minute in any case
		// a busy machine is silent for some heartbeats, and what is put back is no copy
		c.Steal.HeartbeatEvery, c.Steal.WideHeartbeatEvery = 5*time.Second, 5*time.Second
	})
	b, err := wire.Value().Encode(filepath.Join(t.TempDir(), "begun"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := list[0].Submit(t.Context(), control.Submission{App: "peertest", Function: "peertest.drag", Argument: b,
		Eager: 100})
	if err != nil {
		t.Fatal(err)
	}
	if got := await[int](t, list[0], r.Run); got != 2 {
		t.Errorf("the answer is %d, of the slow one", got)
	}
	until(t, "the copy is counted", func() bool {
		i := runs(t, list[0])[r.Run]
		return i.Eager == 100 && i.Stats != nil && i.Stats.Copies == 1 && i.Stats.CopiesWon == 1
	})
}

// Peers that have nothing to do count: a run with one job on three peers uses a third of them, and asks for no more.
// (They were silent, so it used all that it knew of, and sent home whoever was one too many for twice as many.)
func TestIdlePeersCount(t *testing.T) {
	t.Parallel()
	list := swarm(t, 3, hasty, func(c *peer.Config) { c.AdaptEvery, c.Workers = time.Second, 1 })
	run := submit(t, list[0], "crawl", filepath.Join(t.TempDir(), "begun"))
	until(t, "all three are measured", func() bool { return list[0].Measured(run) == 3 })
	until(t, "at most a half is in use", func() bool { // of whoever came late in a period less is told than its share
		e := runs(t, list[0])[run].Efficiency
		return e > 0 && e <= 0.5
	})
	if err := list[0].Cancel(t.Context(), run); err != nil {
		t.Error(err)
	}
}

// A run that may have two peers does not keep a place for one that is paused: the third has it.
func TestPausedPeersTakeNoSeat(t *testing.T) {
	t.Parallel()
	list := swarm(t, 3, hasty)
	work := last(t)
	b, err := wire.Value().Encode(work.arg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := list[0].Submit(t.Context(), control.Submission{App: "peertest", Function: "peertest.count", Argument: b,
		MaxPeers: 2})
	if err != nil {
		t.Fatal(err)
	}
	has := func(p *peer.Peer) bool {
		n, _ := list[0].RosterOf(r.Run)
		member, _ := list[0].Gives(r.Run, p)
		return n > 0 && member
	}
	until(t, "one of two has a place", func() bool { return has(list[1]) != has(list[2]) })
	seated, other := list[1], list[2]
	if has(other) {
		seated, other = other, seated
	}
	if err := seated.Pause(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	until(t, "the other one has it", func() bool { return has(other) && !has(seated) && works(t, other, r.Run) })
	work.end(t)
	if got := await[int](t, list[0], r.Run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
}

// All peers of a run that adapts measure themselves by the same job, which has run where the root is: that names it.
func TestYardstickTravels(t *testing.T) {
	t.Parallel()
	list := swarm(t, 2, hasty, func(c *peer.Config) { c.Workers = 32 }) // as much time as one has in a minute
	work := last(t)
	run := submit(t, list[0], "nap", work.arg)
	until(t, "both have measured how fast they are, by the same", func() bool {
		one, two := list[0].SpeedOf(run), list[1].SpeedOf(run)
		return one.Took > 0 && two.Took > 0 && one.Yardstick == two.Yardstick
	})
	work.end(t)
	if got := await[int](t, list[0], run); got == 0 {
		t.Error("it has not napped")
	}
}

// A peer's coordinator hears from its streams how fast results come, of peers in other clusters.
func TestStreamsTellOfLinks(t *testing.T) {
	t.Parallel()
	list := swarm(t, 2)
	stranger := open(t)
	if got := list[0].Timed(stranger, 70_000); got != 70_000 {
		t.Errorf("another cluster has %v bytes a second", got)
	}
	if got := list[0].Timed(list[1], 70_000); got != 0 {
		t.Errorf("the same cluster has %v bytes a second", got)
	}
}

// What a run's owner wants of it is in its manifest, or refused.
func TestAdaptIsChecked(t *testing.T) {
	t.Parallel()
	p := open(t)
	for _, c := range []struct {
		sub  control.Submission
		want string
	}{
		{control.Submission{Adapt: "on"}, "there are off, paper and volunteers"},
		{control.Submission{MinPeers: 3, MaxPeers: 2}, "the greatest number of peers is 2"},
		{control.Submission{MinPeers: -1, MaxPeers: -1}, "the greatest number of peers is -1"},
		{control.Submission{Eager: 101}, "0 to 100"},
		{control.Submission{Eager: 5, Verify: "quorum=2"}, "cannot go with --verify"},
		{control.Submission{Adapt: "off", MaxPeers: 2}, "does not adapt"},
		{control.Submission{Adapt: "paper", Verify: "quorum=2"}, "cannot go with --verify quorum=2"},
		{control.Submission{Adapt: "volunteers", Verify: "spot=0.1"}, "cannot go with --verify spot=0.1"},
		{control.Submission{MaxPeers: 2, Verify: "doubt=1e-4"}, "cannot go with --verify doubt=1e-4"},
	} {
		c.sub.App, c.sub.Function, c.sub.Argument = "peertest", "peertest.fib", []byte{1}
		if _, err := p.Submit(t.Context(), c.sub); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.sub, err)
		}
	}
	long := control.Submission{App: "peertest", Function: "peertest.fib", Argument: make([]byte, 1<<20)}
	if _, err := p.Submit(t.Context(), long); err == nil ||
		!strings.Contains(err.Error(), "the argument of peertest.fib") {
		t.Errorf("an argument that is longer than those of others that are looked at: %v", err)
	}
}

// The owner's command is run for a run that has fewer peers than it wants, with how many are missing.
func TestMachinesAreAskedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	asked, command := filepath.Join(dir, "asked"), filepath.Join(dir, "more")
	script := fmt.Sprintf("#!/bin/sh\necho \"$@\" > %[1]s.new && mv %[1]s.new %[1]s\necho one; echo two >&2; exit 3\n", asked)
	if err := os.WriteFile(command, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	var log book
	list := swarm(t, 1, hasty, func(c *peer.Config) {
		c.Provision, c.ProvisionMost = []string{command, "--large one"}, 2
		c.Runs = life.DefaultConfig()
		c.Runs.ProvisionAfter = 20 * time.Millisecond
	}, logging(&log))
	work := last(t)
	b, err := wire.Value().Encode(work.arg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := list[0].Submit(t.Context(), control.Submission{App: "peertest", Function: "peertest.count", Argument: b,
		Adapt: "volunteers", MinPeers: 4})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the command has been run", func() bool {
		got, _ := os.ReadFile(asked)
		return string(got) == fmt.Sprintf("--large one 2 %s\n", r.Run)
	})
	until(t, "its failure is in the log, in one line", func() bool {
		return log.has(`machines=2 error="exit status 3" printed=one?two?`)
	})
	said := runs(t, list[0])[r.Run].Roster.Log
	if len(said) != 1 || !strings.HasPrefix(said[0].Text, "2 machines asked for") {
		t.Errorf("people are told %+v", said)
	}
	work.end(t)
	if got := await[int](t, list[0], r.Run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
}

// The figures of an answer are those of all that took part, to the end: what others did last they tell when they hear
// of it. The answer does not wait long for who is slow, but says so, and counts it when it comes.
func TestAnswerCountsAllJobs(t *testing.T) {
	t.Parallel()
	list := swarm(t, 2, func(c *peer.Config) {
		c.Workers, c.Steal = 1, steal.Local()
		// of a peer that is silent, since its machine is busy, jobs would be done twice
		c.Steal.HeartbeatEvery, c.Steal.WideHeartbeatEvery, c.Steal.LeaseEnd = 5*time.Second, 5*time.Second, 0
	})
	work := last(t)
	run := submit(t, list[0], "count", work.arg)
	until(t, "both work", func() bool { return works(t, list[0], run) && works(t, list[1], run) })
	work.end(t)
	var o control.Outcome
	until(t, "all have told what they did last", func() bool {
		var err error
		if o, err = list[0].Wait(deadline(t), run, nil); err != nil {
			t.Fatal(err)
		}
		return o.Unheard == 0
	})
	if got := o.Stats.Executed; got != uint64(work.want) {
		t.Errorf("%d jobs were executed by all, want %d", got, work.want)
	}
	status, err := list[0].Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if used := status.Work.CPUUsed; used < o.Gave[list[1].ID().String()] {
		t.Errorf("%v s of others were used, %v s given", used, o.Gave)
	}
}
