package peer_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satin-peer/satin/peer/control"
)

// An answer that has changed on the disk is none: whoever asks for it in a later life is told.
func TestAnswerIsDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, in(dir))
	work := last(t)
	run := submit(t, a, "count", work.arg)
	work.end(t)
	if got := await[int](t, a, run); got != work.want {
		t.Fatalf("the answer is %d, want %d", got, work.want)
	}
	a.Close()
	file := filepath.Join(dir, "answers", run+".answer")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	a = open(t, in(dir))
	o, err := a.Wait(deadline(t), run, nil)
	if err != nil || o.State != control.RunFailed || !strings.Contains(o.Failure, file) {
		t.Errorf("it gives %+v, %v", o, err)
	}
	if now, _ := os.ReadFile(file); !bytes.Equal(now, b) {
		t.Error("the file is not left alone")
	}
}

// An answer of a verified run says how much of what it rests on was compared in a former life, of which the figures
// know nothing: it was wrong with probability 0 at most, whatever had been believed before.
func TestTrustOfFormerLives(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, checkpointing, in(dir))
	work := last(t)
	run := verified(t, a, "doubt=1e-3", work.arg)
	until(t, "it has a checkpoint", func() bool { return a.Stored(run) > 0 })
	a.Close()
	a = open(t, checkpointing, in(dir))
	work.end(t)
	o, err := a.Wait(deadline(t), run, nil)
	if err != nil || o.Trust == nil || !strings.Contains(o.Trust.Bound, "had been compared before") {
		t.Errorf("it rests on %+v, %v", o.Trust, err)
	}
}

// An answer that the disk has refused is had from the checkpoint in the next life: nothing is computed again.
func TestUnsavedAnswerIsHadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, checkpointing, in(dir))
	work := last(t)
	run := submit(t, a, "count", work.arg)
	until(t, "it has a checkpoint", func() bool { return a.Stored(run) > 0 })
	answers := filepath.Join(dir, "answers")
	if err := os.WriteFile(answers, nil, 0o600); err != nil { // where a directory should be
		t.Fatal(err)
	}
	work.end(t)
	if o, err := a.Wait(deadline(t), run, nil); err != nil || o.State != control.RunDone || o.Warning == "" {
		t.Fatalf("it gives %+v, %v", o, err)
	}
	a.Close()
	if err := os.Remove(answers); err != nil {
		t.Fatal(err)
	}
	ended.Delete(work.arg.End) // from now on a leaf would not end
	if err := os.Remove(work.arg.End); err != nil {
		t.Fatal(err)
	}
	a = open(t, checkpointing, in(dir))
	if got := await[int](t, a, run); got != work.want {
		t.Errorf("the answer is %d, want %d", got, work.want)
	}
}
