package checkpoint

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

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
	if s := read(t, m.memFS); s.count() != 1 {
		t.Errorf("%d results, want the answer alone", s.count())
	}
}

// What waits for the disk is bounded in bytes: what is longer than the whole queue is dropped, and counted.
func TestQueueBytes(t *testing.T) {
	l := reopen(t, newMemFS(), Config{Interval: time.Hour, QueueBytes: 1000})
	if l.Append(Record{Kind: JobResult, Path: []uint32{1}, Outcome: make([]byte, 1000)}) {
		t.Error("a record larger than the queue was taken")
	}
	if st := l.Stats(); st.DroppedFull != 1 {
		t.Errorf("%+v", st)
	}
}

// What is no record of any kind, or larger than one may be, is refused and counted, and reaches no file.
func TestRefused(t *testing.T) {
	l := reopen(t, newMemFS(), byHand)
	bad := []Record{
		{Kind: 0, Path: []uint32{1}}, {Kind: 4, Path: []uint32{1}}, {Kind: JobResult},
		{Kind: RootOutcome, Path: []uint32{1}}, {Kind: RunManifest, Path: []uint32{1}},
		{Kind: JobResult, Path: make([]uint32, MaxPath+1)},
		{Kind: JobResult, Path: []uint32{1}, Outcome: make([]byte, MaxOutcome+1)},
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

// What waits is written when the interval is over, at once when half of the queue is used, and in one piece.
func TestInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var positions told[uint64]
		l, err := Open(testDir, testHeader, Config{FS: newMemFS(), Interval: time.Minute, QueueRecords: 100,
			Acknowledged: positions.add})
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

// With an interval below zero a record is on the disk at once, and not after others.
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

// Whoever does not want to wait any more for a slow disk need not, and the log can be closed all the same.
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
