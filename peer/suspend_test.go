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

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer"
	"github.com/satin-peer/satin/peer/control"
	life "github.com/satin-peer/satin/runs"
)

// checkpointing makes a peer that writes soon.
func checkpointing(c *peer.Config) { c.Checkpoint = 50 * time.Millisecond }

// checkpoints lists the checkpoints in a state directory.
func checkpoints(dir string) (list []string) {
	entries, _ := os.ReadDir(filepath.Join(dir, "checkpoints"))
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// checkpointed is a run of peer a's on which b works too; both keep what they have in their directories.
func checkpointed(t *testing.T) (a, b *peer.Peer, dirs []string, run string, work *lasting) {
	t.Helper()
	dirs = []string{t.TempDir(), t.TempDir()}
	a, b = open(t, hasty, checkpointing, in(dirs[0])), open(t, hasty, checkpointing, in(dirs[1]))
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	work = last(t)
	run = submit(t, a, "count", work.arg)
	until(t, "the other takes part", func() bool { return works(t, b, run) })
	return a, b, dirs, run, work
}

// A run that is suspended is over everywhere; resumed, it goes on to the right answer, and leaves nothing on
// the disks.
func TestSuspendAndResume(t *testing.T) {
	t.Parallel()
	a, b, dirs, run, work := checkpointed(t)
	if err := b.Suspend(deadline(t), run); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("another's run: %v", err)
	}
	if err := a.Suspend(deadline(t), run); err != nil {
		t.Fatal(err)
	}
	if r := runs(t, a)[run]; r.State != control.RunSuspended || r.Checkpoint == "" {
		t.Errorf("suspended: %+v", r)
	}
	until(t, "the run is over on the other peer too", func() bool { return stateOf(t, b, run) == control.RunSuspended })
	until(t, "the other peer keeps nothing of it", func() bool { return len(checkpoints(dirs[1])) == 0 })
	if err := a.Suspend(deadline(t), run); !errors.Is(err, control.ErrRefused) ||
		!strings.Contains(err.Error(), "suspended") {
		t.Errorf("suspended twice: %v", err)
	}
	a.Close() // and it is still suspended in the next life
	a = open(t, hasty, checkpointing, in(dirs[0]))
	if _, err := a.Join(deadline(t), address(t, b)); err != nil {
		t.Fatal(err)
	}
	if s := stateOf(t, a, run); s != control.RunSuspended {
		t.Fatalf("in the next life it is %s", s)
	}
	if _, err := a.ResumeRun(deadline(t), control.Resumption{Run: run}); err != nil {
		t.Fatal(err)
	}
	until(t, "the other takes part again", func() bool {
		return stateOf(t, b, run) == control.RunRunning ||
			stateOf(t, b, run) == control.RunDone
	})
	work.end(t)
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
	if _, err := a.ResumeRun(deadline(t), control.Resumption{Run: run}); !errors.Is(err, control.ErrRefused) {
		t.Errorf("resumed after its end: %v", err)
	}
	for i, dir := range dirs {
		until(t, "nothing is left on the disks", func() bool { return len(checkpoints(dir)) == 0 })
		if own, _ := os.ReadDir(filepath.Join(dir, "own")); len(own) > 0 {
			t.Errorf("peer %d still has %v", i, own)
		}
	}
}

// A copy of a checkpoint becomes a new run on another machine, of the same problem, and one only, however often that is
// asked for.
func TestResumeElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, checkpointing, in(dir))
	work := last(t)
	run := submit(t, a, "count", work.arg)
	until(t, "it has a checkpoint", func() bool {
		r := runs(t, a)[run]
		return r.Checkpoint != "" &&
			r.NotStoring == ""
	})
	if err := a.Suspend(deadline(t), run); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(runs(t, a)[run].Checkpoint)); err != nil {
		t.Fatal(err)
	}
	b := open(t, checkpointing)
	r, err := b.ResumeRun(deadline(t), control.Resumption{Directory: copied})
	if err != nil {
		t.Fatal(err)
	}
	if r.Run == run || !r.Mine || !strings.Contains(r.Why, run) {
		t.Errorf("got %+v", r)
	}
	_, err = b.ResumeRun(deadline(t), control.Resumption{Directory: copied})
	if !errors.Is(err, control.ErrRefused) || !strings.Contains(err.Error(), "satin-peer wait "+r.Run) {
		t.Errorf("resumed twice: %v", err)
	}
	work.end(t)
	if got := await[int](t, b, r.Run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
	// The owner takes the same copy for its own run.
	r, err = a.ResumeRun(deadline(t), control.Resumption{Directory: copied})
	if err != nil || r.Run != run {
		t.Fatalf("got %+v, %v", r, err)
	}
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
}

// A run that is being written down begins, so it has what it is to have although whoever has asked for it does not wait
// any more: what was handed in for it, and the results that it goes on with.
func TestNobodyWaitsForARun(t *testing.T) {
	t.Parallel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	a := open(t, checkpointing)
	work := last(t)
	b, err := wire.Value().Encode(work.arg)
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Submit(gone, control.Submission{App: "peertest", Function: "peertest.count", Argument: b})
	if err != nil {
		t.Fatalf("its run is cut off: %v", err)
	}
	until(t, "it has results", func() bool { return a.Stored(r.Run) > 0 })
	if err := a.Suspend(deadline(t), r.Run); err != nil {
		t.Fatal(err)
	}
	if _, err := a.ResumeRun(gone, control.Resumption{Run: r.Run}); err != nil {
		t.Errorf("it goes on without what was kept: %v", err)
	}
}

// What cannot be suspended or resumed is refused in one line, and nothing is changed.
func TestResumeRefuses(t *testing.T) {
	t.Parallel()
	a, off := open(t, checkpointing), open(t)
	run := submit(t, off, "count", last(t).arg)
	if err := off.Suspend(deadline(t), run); !errors.Is(err, control.ErrRefused) ||
		!strings.Contains(err.Error(), "switched off") {
		t.Errorf("without checkpoints: %v", err)
	}
	if s := stateOf(t, off, run); s != control.RunRunning {
		t.Errorf("the run is %s", s)
	}
	if err := off.Cancel(context.Background(), run); err != nil {
		t.Fatal(err)
	}
	nothing, garbage := t.TempDir(), t.TempDir()
	file := filepath.Join(garbage, "00000001.satinlog")
	if err := os.WriteFile(file, []byte("not a checkpoint at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		r    control.Resumption
		kind error
	}{
		"an unknown run":     {control.Resumption{Run: strings.Repeat("ab", 16)}, control.ErrNotFound},
		"no run":             {control.Resumption{Run: "ab"}, control.ErrBadInput},
		"an empty directory": {control.Resumption{Directory: nothing}, control.ErrBadInput},
		"no directory":       {control.Resumption{Directory: filepath.Join(nothing, "x")}, control.ErrBadInput},
		"a damaged one":      {control.Resumption{Directory: garbage}, control.ErrBadInput},
	} {
		if _, err := a.ResumeRun(deadline(t), c.r); !errors.Is(err, c.kind) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "not a checkpoint at all" {
		t.Errorf("the damaged file is now %q, %v", b, err)
	}
}

// A run whose peers are all lost goes on when they are back, by their checkpoints, whoever comes first.
func TestAllAreLost(t *testing.T) {
	t.Parallel()
	a, b, dirs, run, work := checkpointed(t)
	until(t, "both have checkpoints", func() bool {
		return len(checkpoints(dirs[0])) == 1 &&
			len(checkpoints(dirs[1])) == 1
	})
	a.Close()
	b.Close()
	b = open(t, hasty, checkpointing, in(dirs[1]))
	a = open(t, hasty, checkpointing, in(dirs[0]))
	if _, err := a.Join(deadline(t), address(t, b)); err != nil {
		t.Fatal(err)
	}
	work.end(t)
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
	for _, dir := range dirs {
		until(t, "nothing is left on the disks", func() bool { return len(checkpoints(dir)) == 0 })
	}
}

// A participant that is the only one to come back goes on with the run, and keeps the answer for the owner.
func TestLastHolderGoesOn(t *testing.T) {
	t.Parallel()
	a, b, dirs, run, work := checkpointed(t)
	until(t, "it has a checkpoint", func() bool {
		r := runs(t, b)[run]
		return r.Checkpoint != "" &&
			len(checkpoints(dirs[1])) == 1
	})
	a.Close()
	b.Close()
	b = open(t, hasty, checkpointing, in(dirs[1]), func(c *peer.Config) { // it does not wait for a word
		c.Runs = life.DefaultConfig()
		c.Runs.DormantFor = time.Nanosecond
	})
	work.end(t)
	until(t, "it has the answer", func() bool { return b.Holds(run) })
	a = open(t, hasty, checkpointing, in(dirs[0]))
	if _, err := a.Join(deadline(t), address(t, b)); err != nil {
		t.Fatal(err)
	}
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
}

// Only the owner is told what others have of its run.
func TestCollectingIsForTheOwner(t *testing.T) {
	t.Parallel()
	a, b := open(t, checkpointing), open(t, checkpointing)
	if _, err := b.Join(deadline(t), address(t, a)); err != nil {
		t.Fatal(err)
	}
	run := submit(t, a, "count", last(t).arg)
	until(t, "the other has results", func() bool { return works(t, b, run) && b.Stored(run) > 0 })
	h, id := rogue(t, b)
	s, err := h.Network().NewStream(network.WithNoDial(deadline(t), "connected"), id, "/satin/collect/1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Reset() }()
	q, err := wire.Value().Encode(map[int][]byte{1: b.RunID(run)})
	if err != nil {
		t.Fatal(err)
	}
	if err := wire.WriteFrame(s, q, 1<<10); err != nil {
		t.Fatal(err)
	}
	if got, err := wire.ReadFrame(s, nil, wire.MaxValue); err != nil || len(got) > 0 {
		t.Errorf("a stranger is told %x, %v", got, err)
	}
	if err := a.Suspend(deadline(t), run); err != nil {
		t.Fatal(err)
	}
	if n := a.Stored(run); n == 0 {
		t.Error("the owner was told nothing")
	}
}

// What a peer left that was killed before it had written anything is removed by its next start; what cannot
// be read is left alone.
func TestEmptyCheckpointIsRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty, strange := strings.Repeat("0a", 16), strings.Repeat("0b", 16)
	for _, file := range []string{empty + "/lock", strange + "/lock", strange + "/precious"} {
		path := filepath.Join(dir, "checkpoints", file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(t, checkpointing, in(dir))
	until(t, "the empty one is removed", func() bool { return !slices.Contains(checkpoints(dir), empty) })
	if _, err := os.Stat(filepath.Join(dir, "checkpoints", strange, "precious")); err != nil {
		t.Error(err)
	}
}

// The disk being full, or taken away, the run goes on and says so.
func TestCheckpointThatCannotBeKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "checkpoints"), nil, 0o600); err != nil { // where a directory should be
		t.Fatal(err)
	}
	a := open(t, checkpointing, in(dir))
	work := last(t)
	run := submit(t, a, "count", work.arg)
	until(t, "the run says so", func() bool { return runs(t, a)[run].NotStoring != "" })
	if err := a.Suspend(deadline(t), run); !errors.Is(err, control.ErrUnavailable) {
		t.Errorf("suspended: %v", err)
	}
	work.end(t)
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
}
