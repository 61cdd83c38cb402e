package peer_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/peer/preferences"
)

// swarm opens peers that all know the first.
func swarm(t *testing.T, n int, change ...func(*peer.Config)) []*peer.Peer {
	t.Helper()
	list := make([]*peer.Peer, n)
	for i := range list {
		list[i] = open(t, change...)
		if i > 0 {
			if _, err := list[i].Join(deadline(t), address(t, list[0])); err != nil {
				t.Fatal(err)
			}
		}
	}
	return list
}

// works says whether a peer has computed anything of a run.
func works(t *testing.T, p *peer.Peer, run string) bool {
	t.Helper()
	return runs(t, p)[run].Executed > 0
}

func runs(t *testing.T, p *peer.Peer) map[string]control.RunInfo {
	t.Helper()
	list, err := p.Runs(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]control.RunInfo{}
	for _, r := range list {
		m[r.Run] = r
	}
	return m
}

// Everybody learns of everybody from the first, though only the first was joined.
func TestMembersMeet(t *testing.T) {
	t.Parallel()
	list := swarm(t, 4)
	for _, p := range list {
		until(t, "every peer knows the three others", func() bool {
			known, _ := p.Peers(context.Background())
			return len(known) == 3
		})
	}
}

// Peers on one machine without labels find out that they are near each other, and agree on a name.
func TestClusterIsFound(t *testing.T) {
	t.Parallel()
	list := swarm(t, 3, func(c *peer.Config) { c.Cluster = "" })
	until(t, "all are in one cluster", func() bool {
		names := map[string]bool{}
		for _, p := range list {
			s, _ := p.Status(context.Background())
			for _, c := range s.Clusters {
				names[c.Name] = true
			}
			if !strings.HasPrefix(s.Clusters[0].Reason, "round trip") &&
				!strings.HasPrefix(s.Clusters[0].Reason, "same LAN") {
				return false
			}
		}
		return len(names) == 1
	})
}

// A peer that crashes in the middle of a run costs time, not the answer.
func TestPeerIsLost(t *testing.T) {
	t.Parallel()
	list := swarm(t, 3, hasty)
	work := last(t)
	run := submit(t, list[0], "count", work.arg)
	until(t, "both others have stolen", func() bool { return taken(list[1]) > 0 && taken(list[2]) > 0 })
	list[1].Close()
	work.end(t)
	if got := await[int](t, list[0], run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
	until(t, "the run is over on the other peer too", func() bool { return runs(t, list[2])[run].State.Ended() })
}

// A peer that leaves in the middle of a run costs no part of the answer, and the others know that it has left.
func TestPeerLeaves(t *testing.T) {
	t.Parallel()
	list := swarm(t, 3)
	work := last(t)
	run := submit(t, list[0], "count", work.arg)
	until(t, "a job was stolen", func() bool { return taken(list[1]) > 0 })
	if err := list[1].Leave(deadline(t)); err != nil {
		t.Fatal(err)
	}
	list[1].Close()
	until(t, "the others know that it has left", func() bool {
		known, _ := list[2].Peers(context.Background())
		return len(known) == 1
	})
	work.end(t)
	if got := await[int](t, list[0], run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
}

// Whoever comes in the middle of a run takes part in it.
func TestNewcomer(t *testing.T) {
	t.Parallel()
	a := open(t)
	work := last(t)
	run := submit(t, a, "count", work.arg)
	b := open(t)
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	until(t, "the newcomer has stolen", func() bool { return taken(b) > 0 })
	work.end(t)
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
}

// Two runs of two owners share the same peers, and each owner has its own answer.
func TestTwoOwnersAtOnce(t *testing.T) {
	t.Parallel()
	list := swarm(t, 3)
	work := last(t)
	one, two := submit(t, list[0], "count", work.arg), submit(t, list[1], "count", work.arg)
	until(t, "both runs are at work", func() bool { return works(t, list[0], one) && works(t, list[1], two) })
	work.end(t)
	for i, run := range []string{one, two} {
		if got := await[int](t, list[i], run); got != work.want {
			t.Errorf("the answer is %d, want %d", got, work.want)
		}
	}
}

// A run ends on all peers when its owner cancels it, and when nobody else does.
func TestCancelEndsTheRunEverywhere(t *testing.T) {
	t.Parallel()
	list := swarm(t, 2)
	run := submit(t, list[0], "count", last(t).arg)
	until(t, "the other takes part", func() bool { return taken(list[1]) > 0 })
	if err := list[1].Cancel(context.Background(), run); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("somebody else's cancel: %v", err)
	}
	if err := list[0].Cancel(context.Background(), run); err != nil {
		t.Fatal(err)
	}
	o, err := list[0].Wait(deadline(t), run, nil)
	if err != nil || o.State != control.RunCancelled {
		t.Errorf("got %v, %v", o.State, err)
	}
	until(t, "the other has heard", func() bool { return runs(t, list[1])[run].State == control.RunCancelled })
}

// A peer without the application, or with another version of it, says that it takes no part, and why.
func TestRefusedRun(t *testing.T) {
	t.Parallel()
	a, b := open(t), open(t)
	c, err := peer.Open(context.Background(), peer.Config{Host: host.Config{
		StateDir: t.TempDir(), Swarm: "test", Trust: host.TrustOpen, Listen: []string{"/ip4/127.0.0.1/tcp/0"},
	}, Workers: 1}, []peer.Application{{Name: "peertest", Version: [32]byte{1}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for _, p := range []*peer.Peer{b, c} {
		if _, err := p.Join(deadline(t), address(t, a)); err != nil {
			t.Fatal(err)
		}
	}
	run := submit(t, a, "count", last(t).arg)
	until(t, "the version is refused", func() bool {
		r := runs(t, c)[run]
		return r.State == control.RunRefused && strings.Contains(r.Why, "version")
	})
	if !complains(t, c, run) {
		t.Error("nobody who looks is told that it is refused")
	}
	if err := a.Cancel(context.Background(), run); err != nil {
		t.Fatal(err)
	}
	until(t, "nothing is said of the refusal when the run is over", func() bool { return !complains(t, c, run) })
	if _, err := b.Submit(context.Background(), control.Submission{App: "nothing",
		Function: "nothing.f"}); !errors.Is(err, control.ErrBadInput) {
		t.Errorf("an unknown application: %v", err)
	}
}

// complains says whether a peer speaks of a run that it refuses: its status, its list of runs or its doctor.
func complains(t *testing.T, p *peer.Peer, run string) bool {
	t.Helper()
	s, err := p.Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	checks, err := p.Doctor(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(s.WhyIdle, "takes no part") || runs(t, p)[run].State == control.RunRefused ||
		slices.ContainsFunc(checks, func(f control.Finding) bool {
			return f.Check == "work" && strings.Contains(f.Text, "was refused")
		})
}

// The answer is on the disk before it is told, and there for the next life of the peer.
func TestAnswerOutlivesThePeer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(c *peer.Config) { c.Host.StateDir = dir }
	a := open(t, in)
	run := submit(t, a, "fib", 20)
	if got := await[int](t, a, run); got != 6765 {
		t.Fatalf("fib(20) = %d", got)
	}
	a.Close()
	a = open(t, in)
	if r := runs(t, a)[run]; r.State != control.RunDone || !r.Mine || r.App != "peertest" ||
		!slices.Equal(r.Args, []string{"fib", "20"}) {
		t.Errorf("in the next life it is listed as %+v", r)
	}
	if got := await[int](t, a, run); got != 6765 {
		t.Errorf("in the next life fib(20) = %d", got)
	}
}

// Of runs that have ended little is held, however many there were.
func TestEndedRunsAreLetGo(t *testing.T) {
	t.Parallel()
	a := open(t)
	for range 20 {
		await[int](t, a, submit(t, a, "fib", 10))
	}
	until(t, "most sessions are let go", func() bool { return a.PastSessions() <= 8 })
	if n := len(runs(t, a)); n != 20 {
		t.Errorf("%d runs are listed", n)
	}
}

// A directory that somebody has removed is made again.
func TestRemovedAnswersAreMadeAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, func(c *peer.Config) { c.Host.StateDir = dir })
	for _, name := range []string{"answers", "own"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	run := submit(t, a, "fib", 10)
	if o, err := a.Wait(deadline(t), run, nil); err != nil || o.State != control.RunDone || o.Warning != "" {
		t.Errorf("got %s, warning %q, %v", o.State, o.Warning, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "answers", run+".answer")); err != nil {
		t.Error(err)
	}
}

// A state directory that is gone is noticed.
func TestRemovedStateDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	a := open(t, func(c *peer.Config) { c.Host.StateDir = dir })
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	all, err := a.Doctor(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if f.Check == "disk" && (f.Level != control.Problem || !strings.Contains(f.Text, "is gone")) {
			t.Errorf("the doctor says %+v", f)
		}
	}
	until(t, "the status says so", func() bool {
		s, _ := a.Status(context.Background())
		return s.Trouble != ""
	})
}

// A run uses no more cores of a peer than its owner has said.
func TestMaxCores(t *testing.T) {
	t.Parallel()
	two := func(c *peer.Config) { c.Workers = 2 }
	a, b := open(t, two), open(t, two)
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	arg, err := wire.Value().Encode(last(t).arg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Submit(context.Background(), control.Submission{App: "peertest", Function: "peertest.count",
		Argument: arg, MaxCores: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*peer.Peer{a, b} {
		until(t, "it works on the run", func() bool { return works(t, p, r.Run) })
		if n := p.CoresOf(r.Run); n != 1 || runs(t, p)[r.Run].MaxCores != 1 {
			t.Errorf("the run has %d cores, and says %d", n, runs(t, p)[r.Run].MaxCores)
		}
	}
	if _, err := a.Submit(context.Background(), control.Submission{App: "peertest", Function: "peertest.fib",
		Argument: []byte{1}, MaxCores: -1}); !errors.Is(err, control.ErrBadInput) {
		t.Errorf("-1 cores: %v", err)
	}
}

// Whoever waits for an answer that could not be kept learns of it.
func TestAnswerThatCannotBeKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, func(c *peer.Config) { c.Host.StateDir = dir })
	if err := os.RemoveAll(filepath.Join(dir, "answers")); err != nil {
		t.Fatal(err)
	}
	// where a directory should be
	if err := os.WriteFile(filepath.Join(dir, "answers"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := a.Wait(deadline(t), submit(t, a, "fib", 10), nil)
	if err != nil || o.State != control.RunDone || !strings.Contains(o.Warning, "could not be kept") {
		t.Errorf("got %s, warning %q, %v", o.State, o.Warning, err)
	}
}

// A paused peer computes nothing, and goes on afterwards.
func TestPause(t *testing.T) {
	t.Parallel()
	a := open(t)
	if err := a.Pause(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	run := submit(t, a, "fib", 25)
	s, _ := a.Status(context.Background())
	if s.State != control.PeerPaused || s.Busy != 0 {
		t.Errorf("paused: %v, %d busy", s.State, s.Busy)
	}
	if err := a.Resume(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := await[int](t, a, run); got != 75025 {
		t.Errorf("fib(25) = %d", got)
	}
}

// Who finishes does what it has, takes no more, and is paused then; the run goes on without it, and it can take part
// again.
func TestFinish(t *testing.T) {
	t.Parallel()
	a, b := open(t), open(t)
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	work := last(t)
	run := submit(t, a, "count", work.arg)
	status := func() control.Status {
		s, err := b.Status(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	until(t, "the other one works", func() bool { return status().Work.Taken > 0 })
	if err := b.Finish(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s := status(); s.State != control.PeerFinishing || s.Left == 0 {
		t.Errorf("with a job at hand it is %s, and has %d", s.State, s.Left)
	}
	work.end(t)
	until(t, "it has done what it had", func() bool {
		s := status()
		return s.State == control.PeerPaused && s.PausedUntil == nil
	})
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("%d leaves, want %d", got, work.want)
	}
	if err := b.Resume(context.Background()); err != nil || status().State == control.PeerPaused {
		t.Errorf("resumed it is %s: %v", status().State, err)
	}
}

// By default only whoever was invited is let in, and stays in.
func TestInvitation(t *testing.T) {
	t.Parallel()
	closed := func(c *peer.Config) { c.Host.Trust, c.Host.Swarm = host.TrustInvite, "" }
	a := open(t, closed, func(c *peer.Config) { c.Host.Swarm = "lab" })
	b := open(t, closed)
	if _, err := b.Join(deadline(t), address(t, a)); !errors.Is(err, control.ErrRefused) {
		t.Errorf("uninvited: %v", err)
	}
	inv, err := a.Invite(context.Background(), control.Invitation{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Join(deadline(t), inv.Line); err != nil {
		t.Fatal(err)
	}
	share(t, a, b)
}

// Doctor finds what is wrong and says what to do; with a member and no complaint all is well.
func TestDoctor(t *testing.T) {
	t.Parallel()
	find := func(p *peer.Peer, check string) control.Finding {
		all, err := p.Doctor(deadline(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			if (f.Fix == "") != (f.Level == control.Good) {
				t.Errorf("%s is %s with the advice %q", f.Check, f.Level, f.Fix)
			}
			if f.Check == check {
				return f
			}
		}
		t.Fatalf("%s was not looked at", check)
		return control.Finding{}
	}
	a := open(t)
	if f := find(a, "members"); f.Level != control.Problem || !strings.Contains(f.Fix, "join") {
		t.Errorf("alone: %+v", f)
	}
	b := open(t)
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	for _, check := range []string{"members", "ports", "clock", "disk", "work"} {
		if f := find(b, check); f.Level != control.Good {
			t.Errorf("with a member: %+v", f)
		}
	}
	if err := b.Pause(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	if f := find(b, "work"); f.Level != control.Warning || f.Fix != "satin-peer resume" {
		t.Errorf("paused: %+v", f)
	}
}

// What the owner of a machine allows is kept while it computes, changes at once, and is what he and the others see.
func TestOwnerOfTheMachine(t *testing.T) {
	t.Parallel()
	all := preferences.Preferences{Workers: 2, Here: preferences.Same, OnBattery: true}
	none, one := all, all
	none.Hours, one.Workers = neverToday(t), 1
	a := open(t, func(c *peer.Config) { c.Workers, c.Prefer = 2, &none })
	b := open(t)
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	run := submit(t, a, "fib", 25)
	s, _ := a.Status(context.Background())
	if s.State != control.PeerPaused || !strings.Contains(s.Limit, "it is not the time") || s.PausedUntil != nil {
		t.Errorf("at the wrong time it is %s, %q", s.State, s.Limit)
	}
	until(t, "the other one sees it", func() bool {
		peers, _ := b.Peers(context.Background())
		return len(peers) == 1 && peers[0].Workers == 0 && peers[0].State == control.PeerYielding
	})
	a.Prefer(one)
	if got := await[int](t, a, run); got != 75025 {
		t.Errorf("fib(25) = %d", got)
	}
	if s, _ = a.Status(context.Background()); s.Limit != "" || s.State == control.PeerPaused {
		t.Errorf("with one core it is %s, %q", s.State, s.Limit)
	}
}

// neverToday are hours of another day of the week, so that the test does not depend on when it is run.
func neverToday(t *testing.T) []preferences.Hours {
	day := strings.ToLower(time.Now().Add(72 * time.Hour).Weekday().String()[:3])
	h, ok := preferences.ParseHours(day + "/00:00-24:00")
	if !ok {
		t.Fatal(day)
	}
	return []preferences.Hours{h}
}
