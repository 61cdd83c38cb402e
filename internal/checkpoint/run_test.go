package checkpoint

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A directory that was copied to another machine while the run went on tells there, by itself and without
// being written, which run it is, what its manifest is, and what has been computed.
func TestCopyTellsAll(t *testing.T) {
	manifest := []byte("signed by its owner")
	h := HeaderOf([16]byte{1, 2, 3}, manifest)
	dir := filepath.Join(t.TempDir(), "run")
	l, err := Open(dir, h, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if l.KeepManifest([]byte("another")) || !l.KeepManifest(manifest) ||
		!l.AppendOutcome([]uint32{1, 2}, [16]byte{7}, []byte("outcome")) {
		t.Error("the log takes another manifest, or not its own")
	}
	syncAll(t, l)
	moved := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.CopyFS(moved, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	s, err := Read(moved, Header{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, err := s.Manifest(); err != nil || !slices.Equal(got, manifest) || s.Header() != h {
		t.Errorf("%q, %v, header %v", got, err, s.Header())
	}
	if got, ok, err := s.Lookup([]uint32{1, 2}, [16]byte{7}); err != nil || !ok || string(got) != "outcome" {
		t.Errorf("%q, %t, %v", got, ok, err)
	}
	if r, ok := s.Answer(); ok {
		t.Errorf("an answer %s that nobody has given", r.tag())
	}
	if again, err := Open(moved, h, Config{}); err != nil || again.Close() != nil {
		t.Errorf("the copy cannot be gone on with: %v", err)
	}
}

// With the root's outcome stored that is the answer, and manifests are found behind it or not at all.
func TestAnswerAndManifest(t *testing.T) {
	m := newMemFS()
	l := reopen(t, m, byHand)
	appendAll(t, l, truth(RunManifest, nil, 1), job(1))
	if !l.AppendOutcome(nil, [16]byte{5}, []byte("answer")) {
		t.Fatal("the answer was not taken")
	}
	syncAll(t, l)
	s := read(t, m)
	if r, ok := s.Answer(); !ok || string(r.Outcome) != "answer" || r.Identity != [16]byte{5} {
		t.Errorf("%v, %t", r, ok)
	}
	if _, err := s.Manifest(); !errors.Is(err, ErrNoManifest) { // there is one, and its hash is not the header's
		t.Errorf("%v", err)
	}
}

// Whoever asks what is the matter does not wait for the disk.
func TestTrouble(t *testing.T) {
	m := slowFS{newMemFS(), make(chan struct{}, 9), make(chan struct{})}
	l, err := Open(testDir, testHeader, Config{FS: m, Interval: -1})
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, job(1))
	<-m.begun
	if err := l.Trouble(); err != nil {
		t.Errorf("while it writes: %v", err)
	}
	m.room(1)
	close(m.gate)
	if err := l.Close(); !errors.Is(err, ErrDiskFull) || !errors.Is(l.Trouble(), ErrDiskFull) {
		t.Errorf("%v, then %v", err, l.Trouble())
	}
}
