package constants

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/control"
	"github.com/satin-peer/satin/peer/statement"
	"github.com/satin-peer/satin/sharedobj"
)

// hands are those of a clock.
type hands struct{ at time.Time }

func (h *hands) now() time.Time { return h.at }

// opened is a store in a state directory.
func opened(t *testing.T, state string, h *hands) *Store {
	t.Helper()
	c, err := Open(base.New(slog.New(slog.DiscardHandler), h.now, time.Second), state, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.End(func() {}) })
	return c
}

// given is what is said of a constant that is handed in.
func given(name string, data []byte) control.Constant {
	body := sharedobj.Build(data)
	return control.Constant{Name: name, Size: int64(len(data)),
		Digest: digestOf(&statement.Constant{Name: name, Size: body.Size, Top: body.Top})}
}

// lent takes what a session is given.
type lent struct{ body *sharedobj.Body }

func (l *lent) Lend(_ *sharedobj.Recipe, b *sharedobj.Body) { l.body = b }

// What is handed in is here, after a restart as well, as long as a run names it and a while beyond; a run has what it
// names.
func TestInputsStay(t *testing.T) {
	state, h := t.TempDir(), &hands{time.Unix(1e9, 0)}
	c := opened(t, state, h)
	data := bytes.Repeat([]byte("x"), 100_000)
	k := given("land", data)
	for _, from := range []string{string(data), ""} { // nothing is read again
		if got, err := c.Add(t.Context(), k, strings.NewReader(from)); err != nil || !got.Here {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	list, err := c.Named([]string{k.Digest})
	if err != nil || len(list) != 1 || digestOf(&list[0]) != k.Digest {
		t.Fatalf("a manifest names %+v, %v", list, err)
	}
	m := &statement.SignedManifest{Manifest: statement.Manifest{Constants: list}, Run: job.RunID{1}}
	c.Keep(m)
	h.at = h.at.Add(time.Hour)
	c = opened(t, state, h) // its runs are told of again
	c.Keep(m)
	h.at = h.at.Add(time.Hour)
	c.Prune(h.at)
	var s lent
	c.Lend(m, &s)
	if c.Tasks.Wait(); s.body == nil || !bytes.Equal(s.body.Bytes(), data) {
		t.Error("a run has something else, or nothing")
	}
	c.Forget(m.Run)
	h.at = h.at.Add(constantIdle - 1)
	if c.Prune(h.at); !c.touch(k.Digest) {
		t.Error("the next run with it has to hand it in again")
	}
	h.at = h.at.Add(constantIdle)
	if c.Prune(h.at); c.touch(k.Digest) {
		t.Error("it stays for ever")
	}
}

// Of what no run names no more is kept than may be.
func TestIdleInputsAreBounded(t *testing.T) {
	h := &hands{time.Unix(1e9, 0)}
	c := opened(t, t.TempDir(), h)
	var first, last control.Constant
	for i := range maxConstantsIdle + 2 {
		h.at = h.at.Add(time.Second)
		data := fmt.Append(nil, i)
		if last = given("x", data); i == 0 {
			first = last
		}
		if _, err := c.Add(t.Context(), last, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	c.Prune(h.at)
	if files, err := os.ReadDir(c.dir); err != nil || len(files) != maxConstantsIdle || c.touch(first.Digest) ||
		!c.touch(last.Digest) {
		t.Errorf("%d are kept, %v", len(files), err)
	}
}

// What is brought with a checkpoint, or is beside it in its owner's state directory, is taken if it is what the run
// names.
func TestInputsAreBrought(t *testing.T) {
	h := &hands{time.Unix(1e9, 0)}
	owner, c := opened(t, t.TempDir(), h), opened(t, t.TempDir(), h)
	k := given("land", []byte("data"))
	if _, err := owner.Add(t.Context(), k, strings.NewReader("data")); err != nil {
		t.Fatal(err)
	}
	list, err := owner.Named([]string{k.Digest})
	if err != nil {
		t.Fatal(err)
	}
	here := filepath.Join(filepath.Dir(owner.dir), "checkpoints", "run")
	if err := c.Bring(t.TempDir(), list); err == nil || !strings.Contains(err.Error(), "1 MiB of the run's input are") {
		t.Errorf("what is nowhere: %v", err)
	}
	whole, err := os.ReadFile(owner.path(k.Digest))
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{strings.Replace(string(whole), "data", "lies", 1), string(whole) + "more"} {
		if err := os.WriteFile(owner.path(k.Digest), []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.Bring(here, list); err == nil || c.touch(k.Digest) {
			t.Errorf("something else is taken: %v", err)
		}
	}
	if err := os.WriteFile(owner.path(k.Digest), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Bring(here, list); err != nil || !c.touch(k.Digest) {
		t.Errorf("it is not taken: %v", err)
	}
}
