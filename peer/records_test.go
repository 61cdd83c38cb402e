package peer

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/satin-peer/satin/peer/base"
	"github.com/satin-peer/satin/peer/host"
	"github.com/satin-peer/satin/verify"
)

// openRecords are those of a peer that is started in a directory, and knows by whom others are members.
func openRecords(t *testing.T, dir string, by branches) *records {
	t.Helper()
	j := &jury{Base: base.New(slog.New(slog.DiscardHandler), time.Now, time.Second), host: by}
	j.self = "self"
	if err := j.open(&Config{Host: host.Config{StateDir: dir}}); err != nil {
		t.Fatal(err)
	}
	return j.records
}

// The records of peers last, with by whom they are members: also in a life that has not met them, a liar takes with it
// those of all whom the same member has let in. In an open swarm, where that is known of nobody, it takes none. (It
// took everybody's.)
func TestRecords(t *testing.T) {
	_, liarID := newKey(t)
	_, otherID := newKey(t)
	liar, other := verify.PeerID(liarID.String()), verify.PeerID(otherID.String())
	for by, want := range map[branches]uint64{"": 2, "a member": 0} {
		dir := t.TempDir()
		s := openRecords(t, dir, by)
		s.pass([]verify.PeerID{liar, other})
		s.pass([]verify.PeerID{other})
		s.save()
		s = openRecords(t, dir, "")
		if s.of(liar) != 1 || s.of(other) != 2 || s.of("c") != 0 {
			t.Errorf("read back: %v", s.all.List())
		}
		s.fall(liar)
		if s = openRecords(t, dir, by); s.of(liar) != 0 || s.of(other) != want {
			t.Errorf("members by %q, after a lie: %v", by, s.all.List())
		}
	}
}

// A lie that is found out while the disk is full is written when it is not any more: else the liar's record, and those
// of all whom the same member has let in, would be back in the next life.
func TestRecordsOutliveAFullDisk(t *testing.T) {
	dir := t.TempDir()
	s := openRecords(t, dir, "")
	s.pass([]verify.PeerID{"a", "b"})
	s.save()
	file := s.file.Path(recordsName)
	if err := errors.Join(os.Rename(file, file+".was"), os.MkdirAll(filepath.Join(file, "full"), 0o700)); err != nil {
		t.Fatal(err)
	}
	s.fall("a")
	if err := errors.Join(os.RemoveAll(file), os.Rename(file+".was", file)); err != nil {
		t.Fatal(err)
	}
	s.save()
	if s = openRecords(t, dir, ""); s.of("a") != 0 || s.of("b") != 1 {
		t.Errorf("in the next life: %v", s.all.List())
	}
}

// What cannot be read leaves strangers.
func TestRecordsThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	s := openRecords(t, dir, "")
	s.pass([]verify.PeerID{"a"})
	s.save()
	if err := s.file.Write(recordsName, []byte("none")); err != nil {
		t.Fatal(err)
	}
	if s = openRecords(t, dir, ""); len(s.all.List()) != 0 {
		t.Errorf("read from nonsense: %v", s.all.List())
	}
}
