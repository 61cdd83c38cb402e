package checkpoint

import (
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// Disk full: said once, the run goes on; results that wait are stored as soon as there is space, and that is
// said too.
func TestDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		var events told[Event]
		l, err := Open(testDir, testHeader, Config{FS: m, Interval: time.Second, RetryEvery: time.Minute,
			Notify: events.add})
		if err != nil {
			t.Fatal(err)
		}
		h := newHistory()
		for i := range uint32(20) {
			h.append(l, job(1, 1+i))
		}
		h.sync(t, l)
		m.room(100)
		for i := range uint32(20) {
			h.append(l, job(2, 1+i))
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		st := l.Stats()
		if !errors.Is(st.NotStoring, ErrDiskFull) || st.Failures < 9 || st.Failures > 11 || st.Acknowledged != 20 {
			t.Errorf("%+v", st)
		}
		if err := l.Sync(t.Context()); !errors.Is(err, ErrDiskFull) {
			t.Errorf("Sync: %v", err)
		}
		if e := events.get(); len(e) != 1 || e[0].Kind != StoringStopped ||
			!strings.Contains(e[0].String(), "not storing") || !strings.Contains(e[0].String(), "disk full") {
			t.Errorf("events %v", e)
		}
		if n := count(t, read(t, m).Records()); n != 20 {
			t.Errorf("%d results on the full disk", n)
		}
		m.room(0)
		h.append(l, job(3))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if st := l.Stats(); st.NotStoring != nil || st.Acknowledged != 41 {
			t.Errorf("%+v", st)
		}
		if e := events.get(); len(e) != 2 || e[1].Kind != StoringResumed {
			t.Errorf("events %v", e)
		}
		h.acked = len(h.order)
		if err := errors.Join(l.Close(), h.check(read(t, m.crash(allLost)).Records())); err != nil {
			t.Error(err)
		}
	})
}

// On a full disk, files that hold nothing any more are removed, which may be the space that is needed.
func TestDiskFullMakesSpace(t *testing.T) {
	m := newMemFS()
	l := reopen(t, m, byHand)
	for i := uint32(1); l.Stats().Segments < 2; i++ {
		appendAll(t, l, job(1, i))
		syncAll(t, l)
	}
	appendAll(t, l, job(1)) // nothing in the first file is needed any more, which is not worth a compaction
	syncAll(t, l)
	if st := l.Stats(); st.Segments != 2 {
		t.Fatalf("%+v", st)
	}
	m.room(10)
	appendAll(t, l, job(2), job(3))
	if err := l.Sync(t.Context()); !errors.Is(err, ErrDiskFull) {
		t.Fatal(err)
	}
	syncAll(t, l) // by now the first file is gone
	if s := read(t, m); s.count() != 3 {
		t.Errorf("%d results", s.count())
	}
}

// After a failed sync nothing is known of what was written: it is written again, to another file.
func TestFailedSync(t *testing.T) {
	m := newMemFS()
	l := reopen(t, m, byHand)
	h := newHistory()
	h.append(l, job(1))
	h.sync(t, l)
	h.append(l, job(2))
	m.failSyncs(1)
	if err := l.Sync(t.Context()); !errors.Is(err, errSync) {
		t.Fatal(err)
	}
	if st := l.Stats(); st.NotStoring == nil || st.Acknowledged != 1 {
		t.Errorf("%+v", st)
	}
	h.append(l, job(3))
	for h.acked < 3 {
		h.sync(t, l)
	}
	if err := h.check(read(t, m.crash(allLost)).Records()); err != nil {
		t.Error(err)
	}
}

// badDirs is a file system in which names cannot be made durable for a while.
type badDirs struct {
	*memFS
	bad atomic.Bool
}

func (m *badDirs) SyncDir(dir string) error {
	if m.bad.Load() {
		return syscall.EIO
	}
	return m.memFS.SyncDir(dir)
}

// A compaction that fails in the end leaves no copy behind, or the disk would be full after some tries.
func TestNoCopyIsLeft(t *testing.T) {
	m := &badDirs{memFS: newMemFS()}
	cfg := byHand
	cfg.FS = m
	l, err := Open(testDir, testHeader, cfg)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, job(1, 1), job(1, 2), job(2))
	syncAll(t, l)
	appendAll(t, l, job(1))
	syncAll(t, l)
	before := m.used()
	m.bad.Store(true)
	for range 3 {
		if err := l.Compact(t.Context()); !errors.Is(err, syscall.EIO) {
			t.Errorf("Compact: %v", err)
		}
	}
	if n := m.used(); n != before {
		t.Errorf("%d bytes are used, and %d before", n, before)
	}
	m.bad.Store(false)
	if err := errors.Join(l.Compact(t.Context()), l.Close()); err != nil {
		t.Error(err)
	}
	if s := read(t, m.memFS); s.count() != 2 || m.used() >= before {
		t.Errorf("%d results of %d bytes", s.count(), m.used())
	}
}

// What is stored beside a file of the highest number that there is, is read again.
func TestHighestNumber(t *testing.T) {
	m := newMemFS()
	m.put(filepath.Join(testDir, segmentName(1<<63-1)), nil)
	l := reopen(t, m, byHand)
	appendAll(t, l, job(1))
	syncAll(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if s := read(t, m); s.count() != 1 {
		t.Errorf("%d results", s.count())
	}
}

// unsynced is a file system that does not put names on the disk for a while.
type unsynced struct {
	*memFS
	fails int
}

func (f *unsynced) SyncDir(dir string) error {
	if f.fails--; f.fails >= 0 {
		return errSync
	}
	return f.memFS.SyncDir(dir)
}

// A directory that could be made, and its name not be put on the disk, is made again: what is written into it later
// would be lost with it.
func TestDirectoriesAreDurable(t *testing.T) {
	f := &unsynced{newMemFS(), 1}
	if err := MakeDir(f, "/of/runs"); !errors.Is(err, errSync) {
		t.Fatalf("it is made: %v", err)
	}
	if err := MakeDir(f, "/of/runs"); err != nil {
		t.Fatal(err)
	}
	if after := f.crash(allLost); after.names["/of/runs"] == nil {
		t.Error("a crash takes it away")
	}
}
