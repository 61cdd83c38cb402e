package checkpoint

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
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

func TestLookup(t *testing.T) {
	l := reopen(t, newMemFS(), byHand)
	appendAll(t, l, job(1, 2), truth(JobResult, []uint32{1, 2}, 1), job(3), truth(RunManifest, nil, 7))
	if _, ok, _ := l.Lookup([]uint32{3}, [16]byte{}); ok {
		t.Error("found before it was stored")
	}
	syncAll(t, l)
	for id := range byte(2) {
		got, ok, err := l.Lookup([]uint32{1, 2}, [16]byte{id})
		if want := truth(JobResult, []uint32{1, 2}, id).Outcome; err != nil || !ok || !slices.Equal(got, want) {
			t.Errorf("identity %d: %t, %v", id, ok, err)
		}
	}
	for _, path := range [][]uint32{{1}, {1, 2, 3}, {2}, nil} {
		if _, ok, err := l.Lookup(path, [16]byte{}); ok || err != nil {
			t.Errorf("%v: %t, %v", path, ok, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Lookup([]uint32{3}, [16]byte{}); !errors.Is(err, ErrClosed) {
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

// Compaction drops the descendants of what is stored, and gives the space back.
func TestCompact(t *testing.T) {
	m := newMemFS()
	l := reopen(t, m, byHand)
	for i := range uint32(40) {
		appendAll(t, l, job(1, i), job(2, i))
		syncAll(t, l)
	}
	appendAll(t, l, truth(RunManifest, nil, 1), job(1))
	syncAll(t, l)
	before := l.Stats()
	if err := l.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := l.Stats()
	if after.Records != 41 || after.Segments >= before.Segments || after.Bytes >= before.Bytes || after.Live != before.Live {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
	if again := l.Compact(t.Context()); again != nil || l.Stats() != after {
		t.Errorf("compacting twice: %v, %+v", again, l.Stats())
	}
	if n := count(t, l.Records()); n != 42 {
		t.Errorf("%d records", n)
	}
	appendAll(t, l, truth(RootOutcome, nil, 0))
	if err := l.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := l.Stats(); st.Records != 1 || st.Segments != 1 {
		t.Errorf("with the answer: %+v", st)
	}
	if n := count(t, read(t, m).Records()); n != 2 {
		t.Errorf("%d records on disk", n)
	}
}

// The log compacts by itself before its files are much more than twice what they hold.
func TestCompactsByItself(t *testing.T) {
	m := newMemFS()
	l := reopen(t, m, byHand)
	for i := range uint32(300) {
		appendAll(t, l, job(1+i/10, 1+i%10))
		syncAll(t, l)
		if i%10 == 9 {
			appendAll(t, l, job(1+i/10))
			syncAll(t, l)
		}
	}
	st := l.Stats()
	if st.Compactions == 0 || st.Bytes > 2*st.Live+4*byHand.SegmentBytes || st.Records != 30 {
		t.Errorf("%+v", st)
	}
}

// Many small files are put together.
func TestManyLives(t *testing.T) {
	m := newMemFS()
	synctest.Test(t, func(t *testing.T) {
		for i := range uint32(autoSegments + 10) {
			l := reopen(t, m, Config{Interval: -1})
			appendAll(t, l, job(1+i))
			synctest.Wait()
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n := len(m.files(testDir)); n > autoSegments+5 {
		t.Errorf("%d files", n)
	}
	if s := read(t, m); s.Len() != autoSegments+10 {
		t.Errorf("%d results", s.Len())
	}
}

// slowFS holds every write until it is let go.
type slowFS struct {
	*memFS
	begun, gate chan struct{}
}

type slowFile struct {
	WriteFile
	m slowFS
}

func (m slowFS) Create(name string) (WriteFile, error) {
	f, err := m.memFS.Create(name)
	return slowFile{f, m}, err
}

func (f slowFile) Write(b []byte) (int, error) {
	f.m.begun <- struct{}{}
	<-f.m.gate
	return f.WriteFile.Write(b)
}

// While the disk does not answer, Append returns; a full queue drops results, counts them, and takes what cannot be
// computed again.
func TestAppendNeverBlocks(t *testing.T) {
	m := slowFS{newMemFS(), make(chan struct{}), make(chan struct{})}
	l, err := Open(testDir, testHeader, Config{FS: m, Interval: -1, QueueRecords: 10})
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, job(1))
	<-m.begun
	taken := 0
	for i := range uint32(50) {
		if l.Append(job(2, i)) {
			taken++
		}
	}
	if st := l.Stats(); taken != 10 || st.DroppedFull != 40 || st.Accepted != 11 || st.Acknowledged != 0 {
		t.Errorf("%d taken, %+v", taken, st)
	}
	appendAll(t, l, truth(RunManifest, nil, 1), truth(RootOutcome, nil, 0))
	many := 0
	for i := range byte(100) {
		if l.Append(truth(RunManifest, nil, i)) {
			many++
		}
	}
	if many != maxEssential-2 {
		t.Errorf("%d manifests more", many)
	}
	go func() {
		for range m.begun {
		}
	}()
	close(m.gate)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	close(m.begun)
	if s := read(t, m.memFS); s.Len() != 1 {
		t.Errorf("%d results, want the answer alone", s.Len())
	}
}

func TestQueueBytes(t *testing.T) {
	l := reopen(t, newMemFS(), Config{Interval: time.Hour, QueueBytes: 1000})
	if l.Append(Record{Kind: JobResult, Path: []uint32{1}, Outcome: make([]byte, 1000)}) {
		t.Error("a record larger than the queue was taken")
	}
	if st := l.Stats(); st.DroppedFull != 1 {
		t.Errorf("%+v", st)
	}
}

func TestRefused(t *testing.T) {
	l := reopen(t, newMemFS(), byHand)
	bad := []Record{
		{Kind: 0, Path: []uint32{1}}, {Kind: 4, Path: []uint32{1}}, {Kind: JobResult}, {Kind: RootOutcome, Path: []uint32{1}}, {Kind: RunManifest, Path: []uint32{1}},
		{Kind: JobResult, Path: make([]uint32, MaxPath+1)}, {Kind: JobResult, Path: []uint32{1}, Outcome: make([]byte, MaxOutcome+1)},
	}
	for _, r := range bad {
		if l.Append(r) {
			t.Errorf("%s was taken", r.tag())
		}
	}
	if st := l.Stats(); st.Refused != uint64(len(bad)) || st.Accepted != 0 {
		t.Errorf("%+v", st)
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
	got, ok, err := read(t, m).Lookup(r.Path, r.Identity)
	if err != nil || !ok || !slices.Equal(got, r.Outcome) {
		t.Errorf("%t, %v", ok, err)
	}
}

// Disk full: said once, the run goes on; results that wait are stored as soon as there is space, and that is said too.
func TestDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemFS()
		var events told[Event]
		l, err := Open(testDir, testHeader, Config{FS: m, Interval: time.Second, RetryEvery: time.Minute, Notify: events.add})
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
		if e := events.get(); len(e) != 1 || e[0].Kind != StoringStopped || !strings.Contains(e[0].String(), "not storing") || !strings.Contains(e[0].String(), "disk full") {
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
	if s := read(t, m); s.Len() != 3 {
		t.Errorf("%d results", s.Len())
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

// What waits is written when the interval is over, at once when half of the queue is used, and in one piece.
func TestInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var positions told[uint64]
		l, err := Open(testDir, testHeader, Config{FS: newMemFS(), Interval: time.Minute, QueueRecords: 100, Acknowledged: positions.add})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		appendAll(t, l, job(1))
		time.Sleep(59 * time.Second)
		appendAll(t, l, job(2), job(3))
		synctest.Wait()
		if p := positions.get(); len(p) > 0 {
			t.Errorf("written early: %v", p)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if p := positions.get(); !slices.Equal(p, []uint64{3}) || l.Stats().Commits != 1 {
			t.Errorf("after the interval: %v", p)
		}
		for i := range uint32(50) {
			appendAll(t, l, job(4, i))
		}
		synctest.Wait()
		if p := positions.get(); !slices.Equal(p, []uint64{3, 53}) {
			t.Errorf("half full: %v", p)
		}
	})
}

func TestAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := Open(testDir, testHeader, Config{FS: newMemFS(), Interval: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		appendAll(t, l, job(1))
		synctest.Wait()
		if st := l.Stats(); st.Acknowledged != 1 {
			t.Errorf("%+v", st)
		}
	})
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
	if s := read(t, m.crash(allLost)); s.Len() != 2 {
		t.Errorf("%d results", s.Len())
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

func TestSyncEnds(t *testing.T) {
	m := slowFS{newMemFS(), make(chan struct{}, 9), make(chan struct{})}
	l, err := Open(testDir, testHeader, Config{FS: m})
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, job(1))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-m.begun; cancel() }()
	if err := l.Sync(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Sync: %v", err)
	}
	close(m.gate)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// Sync waits for what was appended before it, not for what is being written when it begins.
func TestSyncWaitsForItsOwn(t *testing.T) {
	m := slowFS{newMemFS(), make(chan struct{}), make(chan struct{})}
	l, err := Open(testDir, testHeader, Config{FS: m, Interval: -1})
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, job(1))
	<-m.begun
	appendAll(t, l, job(2))
	done := make(chan error, 1)
	go func() { done <- l.Sync(t.Context()) }()
	for waits := false; !waits; {
		l.mu.Lock()
		waits = len(l.syncs) == 1
		l.mu.Unlock()
	}
	m.gate <- struct{}{}
	<-m.begun // of the second write: the first is acknowledged
	select {
	case err := <-done:
		t.Errorf("Sync returned before its record was written: %v", err)
	default:
	}
	m.gate <- struct{}{}
	if err := errors.Join(<-done, l.Close()); err != nil {
		t.Fatal(err)
	}
}

// What a compaction did not finish is not read, its number not used again, and it is removed when something is written.
func TestUnfinished(t *testing.T) {
	m := newMemFS()
	good, _ := written(t, testHeader, 10)
	const left = "00000005.satinlog" + unfinishedSuffix
	m.put(filepath.Join(testDir, firstFile), good[:len(good)/2])
	m.put(filepath.Join(testDir, left), good)
	l := reopen(t, m, byHand)
	if n := l.Stats().Records; n == 0 || n > 5 || m.files(testDir)[left] == nil {
		t.Errorf("%d records", n)
	}
	appendAll(t, l, job(20))
	syncAll(t, l)
	if files := m.files(testDir); files[left] != nil || files["00000006.satinlog"] == nil {
		t.Errorf("%v", slices.Sorted(maps.Keys(files)))
	}
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
		if err := errors.Join(h.check(l.Records()), h.check(s.Records())); err != nil || s.Header() != testHeader {
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
				if got, ok, err := l.Lookup(r.Path, r.Identity); err != nil || ok && r.Kind == JobResult && !slices.Equal(got, r.Outcome) {
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

// Read gets everything although another process compacts meanwhile: it begins anew if a file has vanished.
func TestReadWhileCompacting(t *testing.T) {
	m := newMemFS()
	l := reopen(t, m, byHand)
	for i := range uint32(40) {
		appendAll(t, l, job(1+i, 1), job(1+i))
		syncAll(t, l)
		if i%2 == 0 {
			appendAll(t, l, job(99, 1, i))
			syncAll(t, l)
		}
	}
	appendAll(t, l, job(99, 1))
	syncAll(t, l)
	r := &compactingFS{memFS: m, l: l, t: t}
	s, err := Read(testDir, testHeader, r)
	if err != nil || s.Len() != 41 || !r.done {
		t.Errorf("%v, %d results", err, s.Len())
	}
}

// compactingFS compacts a log between listing the directory and opening files.
type compactingFS struct {
	*memFS
	l    *Log
	t    *testing.T
	done bool
}

func (m *compactingFS) List(dir string) ([]string, error) {
	names, err := m.memFS.List(dir)
	if !m.done {
		m.done = true
		before := m.files(dir)
		if err := m.l.Compact(m.t.Context()); err != nil {
			m.t.Error(err)
		}
		if maps.EqualFunc(before, m.files(dir), slices.Equal) {
			m.t.Error("nothing was compacted")
		}
	}
	return names, err
}
