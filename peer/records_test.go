package peer

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/satin-peer/satin/verify"
)

func openRecords(t *testing.T, dir string) *records {
	t.Helper()
	s := &records{base: newBase(slog.New(slog.DiscardHandler), time.Now, time.Second)}
	s.hand = func(id verify.PeerID) verify.PeerID {
		if id[0] == '?' {
			return ""
		}
		return id[:1]
	}
	var err error
	if s.file, err = openCabinet(dir, ".list", 1, time.Now); err != nil {
		t.Fatal(err)
	}
	s.recall()
	return s
}

// The records of peers last; whoever has lied loses its own, and takes with it those of all whom the same member has
// let in, where that is known: else a liar in an open swarm would take everybody's.
func TestRecords(t *testing.T) {
	dir := t.TempDir()
	s := openRecords(t, dir)
	for range 3 {
		s.pass([]verify.PeerID{"a1", "a2", "b1", "?1", "?2"})
	}
	s.pass([]verify.PeerID{"b1"})
	s.save()
	s = openRecords(t, dir)
	if s.of("a2") != 3 || s.of("b1") != 4 || s.of("c") != 0 {
		t.Errorf("read back: %v", s.passed)
	}
	s.fall("a1")
	s.fall("?1")
	s = openRecords(t, dir)
	if s.of("a1")+s.of("a2")+s.of("?1") != 0 || s.of("b1") != 4 || s.of("?2") != 3 {
		t.Errorf("after two lies: %v", s.passed)
	}
}

// A lie that is found out while the disk is full is written when it is not any more: else the liar's record, and those
// of all whom the same member has let in, would be back in the next life.
func TestRecordsOutliveAFullDisk(t *testing.T) {
	dir := t.TempDir()
	s := openRecords(t, dir)
	s.pass([]verify.PeerID{"a1", "a2", "b1"})
	s.save()
	file := s.file.path(recordsName)
	if err := errors.Join(os.Rename(file, file+".was"), os.MkdirAll(filepath.Join(file, "full"), 0o700)); err != nil {
		t.Fatal(err)
	}
	s.fall("a1")
	if err := errors.Join(os.RemoveAll(file), os.Rename(file+".was", file)); err != nil {
		t.Fatal(err)
	}
	s.save()
	if s = openRecords(t, dir); s.of("a2") != 0 || s.of("b1") != 1 {
		t.Errorf("in the next life: %v", s.passed)
	}
}

// A crowd of newcomers cannot drive out who has earned a name, and what cannot be read leaves strangers.
func TestRecordsAreBounded(t *testing.T) {
	dir := t.TempDir()
	s := openRecords(t, dir)
	for range 2 {
		s.pass([]verify.PeerID{"known"})
	}
	for i := range maxRecords + 100 {
		s.pass([]verify.PeerID{verify.PeerID(fmt.Sprint("n", i))})
	}
	if len(s.passed) != maxRecords || s.of("known") != 2 {
		t.Errorf("%d records, %d of the one that is known", len(s.passed), s.of("known"))
	}
	s.end(func() {})
	if err := s.file.write(recordsName, []byte("none")); err != nil {
		t.Fatal(err)
	}
	if s = openRecords(t, dir); len(s.passed) != 0 {
		t.Errorf("read from nonsense are %d", len(s.passed))
	}
}
