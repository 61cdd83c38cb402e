package peer_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/steal"
)

// hasty makes a peer that does not wait as long as a user's would for masters that are silent.
func hasty(c *peer.Config) {
	c.Steal = steal.Local()
	c.Steal.HeartbeatEvery, c.Steal.WideHeartbeatEvery = 50*time.Millisecond, 50*time.Millisecond
	c.Steal.BeaconEvery, c.Steal.MasterLease, c.Steal.RankStagger = 50*time.Millisecond, 250*time.Millisecond,
		100*time.Millisecond
	c.LeavePatience = 5 * time.Second
}

// patient has a peer that comes back not take its run up before it has heard whether there is an answer.
func patient(c *peer.Config) {
	hasty(c)
	c.Steal.MasterLease = 10 * time.Minute
}

// in gives a peer a directory.
func in(dir string) func(*peer.Config) { return func(c *peer.Config) { c.Host.StateDir = dir } }

// stateOf is the state of a run on a peer.
func stateOf(t *testing.T, p *peer.Peer, run string) control.RunState { return runs(t, p)[run].State }

// An owner that crashes in the middle of a run costs time, not the answer: a deputy goes on, three peers keep
// the answer, and the owner finds it when it comes back.
func TestOwnerCrashes(t *testing.T) {
	t.Parallel()
	list := swarm(t, 3, hasty)
	work := last(t)
	dir := t.TempDir()
	owner := open(t, hasty, in(dir))
	if _, err := owner.Join(deadline(t), address(t, list[0])); err != nil {
		t.Fatal(err)
	}
	until(t, "the owner is connected to the others", func() bool {
		known, _ := owner.Peers(context.Background())
		alive := 0
		for _, p := range known {
			if p.Alive && p.Connected {
				alive++
			}
		}
		return alive == 3
	})
	run := submit(t, owner, "count", work.arg)
	if d := runs(t, owner)[run].Deputies; len(d) != 3 {
		t.Errorf("deputies %v, want the three others", d)
	}
	until(t, "all others have stolen", func() bool {
		return works(t, list[0], run) && works(t, list[1], run) &&
			works(t, list[2], run)
	})
	until(t, "the others know the master", func() bool { return runs(t, list[1])[run].Master == owner.ID().String() })
	owner.Close() // without a word
	work.end(t)
	for _, p := range list {
		until(t, "the run has been answered", func() bool { return stateOf(t, p, run) == control.RunDone })
	}
	var deputies []string // one of them has answered it; or two, if one took the other for dead
	for _, p := range list {
		deputies = append(deputies, p.ID().String())
	}
	if by := runs(t, list[0])[run].AnsweredBy; !slices.Contains(deputies, by) {
		t.Errorf("answered by %q", by)
	}
	for i, p := range list {
		if !p.Holds(run) {
			t.Errorf("peer %d does not keep the answer", i)
		}
	}
	owner = open(t, patient, in(dir))
	if _, err := owner.Join(deadline(t), address(t, list[0])); err != nil {
		t.Fatal(err)
	}
	if got := await[int](t, owner, run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
	o, err := owner.Wait(context.Background(), run, nil)
	if err != nil || !slices.Contains(deputies, o.AnsweredBy) || o.Disputed {
		t.Errorf("answered by %q; disputed: %t; %v", o.AnsweredBy, o.Disputed, err)
	}
	if o.Trust == nil || !strings.Contains(o.Trust.Bound, "is the word of "+o.AnsweredBy) {
		t.Errorf("it rests on %+v", o.Trust)
	}
	for _, p := range list {
		until(t, "nobody keeps what the owner has", func() bool { return !p.Holds(run) })
	}
}

// An owner that leaves hands its run over, and finds the answer though what it had written down of the run is lost.
func TestOwnerLeaves(t *testing.T) {
	t.Parallel()
	work := last(t)
	if got := ownerLeaves[int](t, "count", work); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
}

// The same with an answer, and results of jobs, that are larger than any message.
func TestOwnerOfMuchLeaves(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector looks at each byte")
	}
	t.Parallel()
	work := last(t)
	got := ownerLeaves[[]byte](t, "pile", work)
	want := heapOf(work.want / 2)
	want[work.want/2]++
	if !bytes.Equal(got, want) {
		t.Errorf("the answer has %d bytes, want these %d", len(got), len(want))
	}
}

// ownerLeaves has an owner leave in the middle of its run, come back after the end, and ask for the answer.
func ownerLeaves[R any](t *testing.T, entry string, work *lasting) R {
	t.Helper()
	list := swarm(t, 2, hasty)
	dir := t.TempDir()
	owner := open(t, hasty, in(dir))
	if _, err := owner.Join(deadline(t), address(t, list[0])); err != nil {
		t.Fatal(err)
	}
	run := submit(t, owner, entry, work.arg)
	until(t, "the others have stolen", func() bool { return works(t, list[0], run) && works(t, list[1], run) })
	if err := owner.Leave(deadline(t)); err != nil {
		t.Fatal(err)
	}
	owner.Close()
	work.end(t)
	for _, p := range list {
		until(t, "the run has been answered", func() bool { return stateOf(t, p, run) == control.RunDone })
	}
	if err := os.Remove(filepath.Join(dir, "own", run+".run")); err != nil {
		t.Fatal(err)
	}
	owner = open(t, hasty, in(dir))
	if _, err := owner.Join(deadline(t), address(t, list[1])); err != nil {
		t.Fatal(err)
	}
	until(t, "the owner learns of its run", func() bool { return runs(t, owner)[run].Mine })
	return await[R](t, owner, run)
}

// Half of the peers leave at once.
func TestHalfLeaves(t *testing.T) {
	t.Parallel()
	list := swarm(t, 4, hasty)
	work := last(t)
	run := submit(t, list[0], "count", work.arg)
	until(t, "all take part", func() bool {
		return works(t, list[1], run) && works(t, list[2], run) &&
			works(t, list[3], run)
	})
	left := make(chan error, 2)
	for _, p := range list[2:] {
		go func() { left <- p.Leave(deadline(t)) }()
	}
	for range list[2:] {
		if err := <-left; err != nil {
			t.Error(err)
		}
	}
	for _, p := range list[2:] {
		p.Close()
	}
	work.end(t)
	if got := await[int](t, list[0], run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
}

// An owner that comes back in the middle of its run takes part in it again.
func TestOwnerComesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := open(t, hasty), open(t, hasty, in(dir))
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	work := last(t)
	run := submit(t, b, "count", work.arg)
	until(t, "the other takes part", func() bool { return works(t, a, run) })
	b.Close() // without a word
	b = open(t, hasty, in(dir))
	if r := runs(t, b)[run]; !r.Mine || r.State != control.RunRunning {
		t.Errorf("the owner says %s: %s", r.State, r.Why)
	}
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	work.end(t)
	if got := await[int](t, b, run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
	until(t, "the run is over on the other peer too", func() bool { return stateOf(t, a, run) == control.RunDone })
}

// An owner that is alone goes on with its run after a restart.
func TestOwnerAloneIsRestarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, hasty, in(dir))
	work := last(t)
	run := submit(t, a, "count", work.arg)
	until(t, "it is at work", func() bool { return works(t, a, run) })
	a.Close()
	a = open(t, hasty, in(dir))
	work.end(t)
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
	a.Close()
	a = open(t, hasty, in(dir))
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("in the third life the answer is %d, want %d", got, work.want)
	}
}

// A peer whose directory was put back, as that of a virtual machine to a snapshot, is older than what the others know
// of it, and they do not hear it. It learns so from the first that it meets, says what is wrong, and its next start is
// later than all of them.
func TestDirectoryThatWasPutBack(t *testing.T) {
	t.Parallel()
	dir, b := t.TempDir(), open(t)
	starts := filepath.Join(dir, "incarnation")
	life := func(name string) *peer.Peer {
		a := open(t, in(dir), func(c *peer.Config) { c.Name = name })
		if _, err := a.Join(deadline(t), address(t, b)); err != nil {
			t.Fatal(err)
		}
		return a
	}
	finding := func(p *peer.Peer) string {
		list, err := p.Doctor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(list)
	}
	a := life("first")
	a.Close()
	if err := os.WriteFile(starts, []byte("7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a = life("eighth")
	until(t, "the eighth start is known", func() bool {
		list, err := b.Peers(t.Context())
		return err == nil && len(list) == 1 && list[0].Name == "eighth"
	})
	a.Close()
	if err := os.WriteFile(starts, []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a = life("second")
	until(t, "it is said", func() bool { return strings.Contains(finding(a), "was put back") })
	a.Close()
	a = life("ninth")
	if s, err := a.Status(t.Context()); err != nil || s.Incarnation != 9 {
		t.Errorf("the next start is number %d, %v", s.Incarnation, err)
	}
	if said := finding(a); strings.Contains(said, "was put back") {
		t.Errorf("it is said of the next start too: %s", said)
	}
}
