package checkpoint

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
)

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
	if after.Records != 41 || after.Segments >= before.Segments || after.Bytes >= before.Bytes ||
		after.Live != before.Live {
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
	if s := read(t, m); s.count() != autoSegments+10 {
		t.Errorf("%d results", s.count())
	}
}

// What a compaction did not finish is not read, its number not used again, and it is removed when something
// is written.
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
	if err != nil || s.count() != 41 || !r.done {
		t.Errorf("%v, %d results", err, s.count())
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
