package checkpoint

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func job(path ...uint32) Record { return truth(JobResult, path, 0) }

func appendAll(t *testing.T, l *Log, records ...Record) {
	t.Helper()
	for _, r := range records {
		if !l.Append(r) {
			t.Fatalf("%s was not taken", r.tag())
		}
	}
}

func syncAll(t *testing.T, l *Log) {
	t.Helper()
	if err := l.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// told collects what the log's goroutine tells.
type told[T any] struct {
	mu  sync.Mutex
	all []T
}

func (c *told[T]) add(x T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, x)
}

func (c *told[T]) get() []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.all)
}

// What was synced is found by its path and identity, and nothing else is.
func TestLookup(t *testing.T) {
	l := reopen(t, newMemFS(), byHand)
	appendAll(t, l, job(1, 2), truth(JobResult, []uint32{1, 2}, 1), job(3), truth(RunManifest, nil, 7))
	if _, ok, _ := l.s.lookup([]uint32{3}, [16]byte{}); ok {
		t.Error("found before it was stored")
	}
	syncAll(t, l)
	for id := range byte(2) {
		got, ok, err := l.s.lookup([]uint32{1, 2}, [16]byte{id})
		if want := truth(JobResult, []uint32{1, 2}, id).Outcome; err != nil || !ok || !slices.Equal(got, want) {
			t.Errorf("identity %d: %t, %v", id, ok, err)
		}
	}
	for _, path := range [][]uint32{{1}, {1, 2, 3}, {2}, nil} {
		if _, ok, err := l.s.lookup(path, [16]byte{}); ok || err != nil {
			t.Errorf("%v: %t, %v", path, ok, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.s.lookup([]uint32{3}, [16]byte{}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// A record whose ancestor is stored, or waits with it, is not written, and one that is stored already neither.
func TestCovered(t *testing.T) {
	m := newMemFS()
	l := reopen(t, m, byHand)
	appendAll(t, l, job(1, 1), job(1, 2), job(1), job(1, 3), job(2, 1), job(2, 1)) // only 1 and 2.1 are needed
	syncAll(t, l)
	if st := l.Stats(); st.Written != 2 || st.Covered != 4 || st.Commits != 1 || st.Acknowledged != 6 {
		t.Errorf("%+v", st)
	}
	appendAll(t, l, job(1, 4), job(1), job(2, 1, 1), job(12), job(1, 0))
	syncAll(t, l)
	if st := l.Stats(); st.Written != 3 || st.Covered != 8 {
		t.Errorf("%+v", st)
	}
	appendAll(t, l, job(1, 5)) // nothing to write: no operation at all
	ops := m.ops
	syncAll(t, l)
	if m.ops != ops {
		t.Errorf("%d operations for nothing", m.ops-ops)
	}
}

// The largest record there may be comes back.
func TestLargest(t *testing.T) {
	m := newMemFS()
	l := reopen(t, m, byHand)
	r := Record{Kind: JobResult, Path: make([]uint32, MaxPath), Outcome: make([]byte, MaxOutcome)}
	for i := range r.Path {
		r.Path[i] = 1<<32 - 1
	}
	r.Outcome[MaxOutcome-1] = 1
	appendAll(t, l, r, job(1))
	syncAll(t, l)
	got, ok, err := read(t, m).s.lookup(r.Path, r.Identity)
	if err != nil || !ok || !slices.Equal(got, r.Outcome) {
		t.Errorf("%t, %v", ok, err)
	}
}

// Close writes what waits; afterwards everything says that it is closed. If nothing can be written, it says that.
func TestClose(t *testing.T) {
	m := newMemFS()
	l := reopen(t, m, byHand)
	appendAll(t, l, job(1), job(2))
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
	if l.Append(job(3)) || l.Compact(t.Context()) != ErrClosed || l.Sync(t.Context()) != nil {
		t.Error("a closed log goes on")
	}
	if s := read(t, m.crash(allLost)); s.count() != 2 {
		t.Errorf("%d results", s.count())
	}
	l = reopen(t, m, byHand)
	m.room(1)
	appendAll(t, l, job(3), job(4))
	if err := l.Close(); !errors.Is(err, ErrDiskFull) || !strings.Contains(err.Error(), "2 results") {
		t.Errorf("Close: %v", err)
	}
	if err := l.Sync(t.Context()); err != ErrClosed {
		t.Errorf("Sync: %v", err)
	}
	m.room(0)
	reopen(t, m, byHand) // the lock was released
}

// A log that is discarded writes nothing of what waits. Each record that is written is completed before, and none of
// those that others have made superfluous.
func TestDiscard(t *testing.T) {
	m := newMemFS()
	cfg := byHand
	completed := 0
	cfg.Complete = func(r *Record) { completed++; r.Voucher = []byte("signed") }
	l := reopen(t, m, cfg)
	appendAll(t, l, job(1, 1), job(1, 2), job(1))
	syncAll(t, l)
	if completed != 1 {
		t.Errorf("%d records are completed, of which one is to be written", completed)
	}
	appendAll(t, l, job(2), job(3))
	l.Discard()
	l.Discard()
	if l.Append(job(4)) || completed != 1 {
		t.Errorf("a discarded log goes on: %d are completed", completed)
	}
	s := read(t, m)
	if s.count() != 1 {
		t.Errorf("%d results", s.count())
	}
	for r, err := range s.Records() {
		if err != nil || string(r.Voucher) != "signed" {
			t.Errorf("%+v, %v", r, err)
		}
	}
	reopen(t, m, byHand) // the lock was released
}

// On the real disk: one writer at a time, a copy opens anywhere, and only its owner may look.
func TestDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "runs", "one")
	l, err := Open(dir, testHeader, Config{SegmentBytes: 2 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, testHeader, Config{}); !errors.Is(err, ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
	h := newHistory()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 30 {
		for range 10 {
			h.append(l, randomRecord(rng))
		}
		h.sync(t, l)
	}
	if err := l.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h.acked != len(h.order) {
		t.Fatalf("only %d of %d records stored", h.acked, len(h.order))
	}
	live := filepath.Join(t.TempDir(), "live")
	if err := os.CopyFS(live, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{dir, live} {
		l, err := Open(place, testHeader, Config{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Read(place, Header{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(h.check(l.Records()), h.check(s.Records())); err != nil || s.header() != testHeader {
			t.Errorf("%s: %v", place, err)
		}
		s.Close()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, firstLeft(t, dir))); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info, err)
	}
}

func firstLeft(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"+segmentSuffix))
	if err != nil || len(names) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	return filepath.Base(names[0])
}

// Appending, reading, looking up, compacting and syncing at once, for the race detector and for the truth.
func TestAtTheSameTime(t *testing.T) {
	m := newMemFS()
	l := reopen(t, m, Config{Interval: -1, SegmentBytes: 4 << 10})
	h := newHistory()
	var wg sync.WaitGroup
	wg.Go(func() {
		rng := rand.New(rand.NewPCG(5, 6))
		for range 2000 {
			h.append(l, randomRecord(rng))
		}
	})
	wg.Go(func() {
		for range 20 {
			if err := l.Compact(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Go(func() {
		for range 20 {
			for r, err := range l.Records() {
				if err != nil || !slices.Equal(r.Outcome, truth(r.Kind, r.Path, r.Identity[0]).Outcome) {
					t.Errorf("%s: %v", r.tag(), err)
				}
				if got, ok, err := l.s.lookup(r.Path, r.Identity); err != nil ||
					ok && r.Kind == JobResult && !slices.Equal(got, r.Outcome) {
					t.Errorf("%s: %v", r.tag(), err)
				}
			}
			l.Stats()
		}
	})
	wg.Wait()
	h.sync(t, l)
	if err := h.check(read(t, m.crash(allLost)).Records()); err != nil || h.acked != len(h.order) {
		t.Errorf("%v; %d of %d", err, h.acked, len(h.order))
	}
}
