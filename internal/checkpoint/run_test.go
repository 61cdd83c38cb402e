package checkpoint

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
		!l.AppendOutcome([]uint32{1, 2}, [16]byte{7}, []byte("outcome"), []byte("voucher")) {
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
	if got, err := s.Manifest(); err != nil || !slices.Equal(got, manifest) || s.header() != h {
		t.Errorf("%q, %v, header %v", got, err, s.header())
	}
	if got, ok, err := s.s.lookup([]uint32{1, 2}, [16]byte{7}); err != nil || !ok || string(got) != "outcome" {
		t.Errorf("%q, %t, %v", got, ok, err)
	}
	for r, err := range s.Records() {
		if err != nil || r.Kind == RootOutcome {
			t.Errorf("an answer %s that nobody has given, or %v", r.tag(), err)
		}
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
	if !l.AppendOutcome(nil, [16]byte{5}, []byte("answer"), nil) {
		t.Fatal("the answer was not taken")
	}
	syncAll(t, l)
	s := read(t, m)
	var answers []Record
	for r, err := range s.Records() {
		if err != nil {
			t.Error(err)
		}
		if r.Kind == RootOutcome {
			answers = append(answers, r)
		}
	}
	if len(answers) != 1 || string(answers[0].Outcome) != "answer" || answers[0].Identity != [16]byte{5} {
		t.Errorf("%v", answers)
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

// A directory that a peer made is named after the run: with a damaged header that says which frames are its own.
func TestNamedAfterItsRun(t *testing.T) {
	manifest := []byte("signed by its owner")
	h := HeaderOf([16]byte{1, 2, 3}, manifest)
	dir := filepath.Join(t.TempDir(), hex.EncodeToString(h.Run[:]))
	l, err := Open(dir, h, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if !l.KeepManifest(manifest) {
		t.Error("the manifest was not taken")
	}
	const results = 40
	for i := range uint32(results) {
		appendAll(t, l, job(1+i))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, firstFile)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{3, prefixSize + 1, prefixSize + headSize + 5} { // magic, head and payload of the header
		b[at] ^= 4
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		b[at] ^= 4
		s, err := Read(dir, Header{}, nil)
		if err != nil {
			t.Errorf("byte %d: %v", at, err)
			continue
		}
		if got, err := s.Manifest(); err != nil || !slices.Equal(got, manifest) || s.header() != h ||
			s.count() != results || len(s.Problems()) != 1 {
			t.Errorf("byte %d: %q, %v, header %v, %d results, %v", at, got, err, s.header(), s.count(), s.Problems())
		}
		s.Close()
		other := filepath.Join(t.TempDir(), strings.Repeat("ab", 16))
		if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(other, Header{}, nil); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d, named after another run: %v", at, err)
		}
	}
}

// What is intact is found behind any length of what is not, although the file is read in pieces.
func TestFarBehindDamage(t *testing.T) {
	for _, gap := range []int{windowStep/2 - 1, windowStep / 2, windowStep + 7, 3 * windowStep} {
		m := newMemFS()
		file, frames := written(t, testHeader, 4)
		damaged := append(file[:frames[1][1]:frames[1][1]], bytes.Repeat([]byte{0xEE}, gap)...)
		payload, err := encoding.Marshal(job(9))
		if err != nil {
			t.Fatal(err)
		}
		damaged = appendFrame(damaged, testHeader.Run, int64(len(damaged)), payload)
		m.put(filepath.Join(testDir, firstFile), damaged)
		if s := read(t, m); s.count() != 3 || len(s.Problems()) != 1 {
			t.Errorf("behind %d bytes: %d results, %v", gap, s.count(), s.Problems())
		}
	}
}
