package checkpoint

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fataler is a test of package testing or rapid.
type fataler interface {
	Helper()
	Fatal(...any)
}

// written gives a file of a log with the results of the jobs 1 to n, and where their frames are.
func written(t fataler, h Header, n uint32) (file []byte, frames [][2]int) {
	t.Helper()
	b, err := appendOpening(nil, h)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		payload, err := encoding.Marshal(truth(JobResult, []uint32{1 + i}, 0))
		if err != nil {
			t.Fatal(err)
		}
		at := len(b)
		b = appendFrame(b, h.Run, int64(at), payload)
		frames = append(frames, [2]int{at, len(b)})
	}
	return b, frames
}

const firstFile, secondFile = "00000001.satinlog", "00000002.satinlog"

// A badFile is a file of ten results that is not as it should be.
type badFile struct {
	file    []byte
	problem error
	intact  int    // results that are used
	kept    bool   // not set aside: torn files are used as they are
	refused bool   // Open fails
	says    string // part of the message
}

// badFiles are all the ways a file may be bad.
func badFiles(t *testing.T) map[string]badFile {
	good, frames := written(t, testHeader, 10)
	other, _ := written(t, Header{Run: [16]byte{9}}, 10)
	manifest, _ := written(t, Header{Run: testHeader.Run, Manifest: [32]byte{9}}, 10)
	newer := slices.Clone(good)
	binary.BigEndian.PutUint32(newer[8:], formatVersion+1)
	binary.BigEndian.PutUint32(newer[12:], crc32.Checksum(newer[:12], castagnoli))
	flip := func(at ...int) []byte {
		b := slices.Clone(good)
		for _, i := range at {
			b[i] ^= 0x10
		}
		return b
	}
	without := func(from, to int) []byte { return slices.Concat(good[:from], good[to:]) }
	return map[string]badFile{
		"payload": {file: flip(frames[4][0] + headSize + 3), problem: ErrCorrupt, intact: 9,
			says: "9 intact records"},
		"two payloads": {file: flip(frames[4][1]-1, frames[7][1]-1), problem: ErrCorrupt, intact: 8,
			says: "2 places"},
		"last payload":     {file: flip(frames[9][1] - 1), problem: ErrCorrupt, intact: 9},
		"head":             {file: flip(frames[4][0] + 6), problem: ErrCorrupt, intact: 9},
		"marker":           {file: flip(frames[0][0]), problem: ErrCorrupt, intact: 9},
		"header":           {file: flip(prefixSize + headSize + 5), problem: ErrCorrupt, intact: 10},
		"magic":            {file: flip(2), problem: ErrCorrupt, intact: 10},
		"version":          {file: flip(9), problem: ErrCorrupt, intact: 10},
		"cut in a payload": {file: good[:frames[9][1]-1], problem: ErrTorn, intact: 9, kept: true, says: "unfinished"},
		"cut in a head":    {file: good[:frames[9][0]+3], problem: ErrTorn, intact: 9, kept: true},
		"zeros at the end": {file: append(slices.Clone(good), make([]byte, 5000)...), problem: ErrTorn, intact: 10,
			kept: true},
		"junk at the end": {file: append(slices.Clone(good), strings.Repeat("junk", 99)...), problem: ErrCorrupt,
			intact: 10},
		"bytes missing": {file: without(frames[2][0]+20, frames[2][0]+21), problem: ErrCorrupt, intact: 2},
		"empty":         {file: nil, problem: ErrTorn, kept: true},
		"only a magic":  {file: good[:8], problem: ErrTorn, kept: true},
		"junk":          {file: []byte(strings.Repeat("not a checkpoint\n", 20)), problem: ErrForeign},
		"other run": {file: other, problem: ErrForeign, kept: true, refused: true,
			says: "run 09000000, not 01020300"},
		"other manifest": {file: manifest, problem: ErrForeign, kept: true, refused: true, says: "manifest"},
		"newer": {file: newer, problem: ErrNewer, kept: true, refused: true,
			says: "format 2; this program reads format 1"},
	}
}

// Every way a file may be bad: what is told, which of its ten results are used, and that nothing is changed
// by reading, nor by opening until something is written; then the file is set aside as it was, or kept.
func TestBadFiles(t *testing.T) {
	for name, c := range badFiles(t) {
		t.Run(name, func(t *testing.T) {
			m := newMemFS()
			m.put(filepath.Join(testDir, secondFile), c.file)
			m.put(filepath.Join(testDir, "notes.txt"), []byte("not ours"))
			before := m.files(testDir)
			c.checkRead(t, m)
			var events []Event
			l, err := Open(testDir, testHeader, Config{FS: m, Notify: func(e Event) { events = append(events, e) }})
			if after := m.files(testDir); !maps.EqualFunc(before, after, slices.Equal) {
				t.Error("opening changed the files")
			}
			if c.refused {
				if !errors.Is(err, c.problem) {
					t.Errorf("Open: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := count(t, l.Records()); got != c.intact {
				t.Errorf("Open found %d results", got)
			}
			if !l.Append(truth(JobResult, []uint32{11}, 0)) || l.Sync(t.Context()) != nil || l.Close() != nil {
				t.Fatal("the log does not go on")
			}
			c.checkGoneOn(t, m, events)
		})
	}
}

// checkRead reads the file, and compares what is used and told.
func (c badFile) checkRead(t *testing.T, m *memFS) {
	t.Helper()
	s, err := Read(testDir, testHeader, m)
	problems := []error{err}
	if err == nil {
		problems = s.Problems()
		if got := count(t, s.Records()); got != c.intact || s.count() != c.intact {
			t.Errorf("%d results were read and %d counted, want %d", got, s.count(), c.intact)
		}
	} else if !c.refused {
		t.Errorf("Read: %v", err)
	}
	var e *FileError
	if len(problems) != 1 || !errors.Is(problems[0], c.problem) || !errors.As(problems[0], &e) {
		t.Fatalf("problems %v, want %v", problems, c.problem)
	}
	if text := problems[0].Error(); !strings.Contains(text, secondFile) || !strings.Contains(text, c.says) ||
		strings.Contains(text, "\n") {
		t.Errorf("the message %q does not name the file and %q in one line", text, c.says)
	}
}

// checkGoneOn looks at what is left of the file after one more result was written.
func (c badFile) checkGoneOn(t *testing.T, m *memFS, events []Event) {
	t.Helper()
	after := m.files(testDir)
	kept, aside := after[secondFile], after[secondFile+damagedSuffix]
	if c.kept && (aside != nil || !slices.Equal(kept, c.file)) ||
		!c.kept && (kept != nil || !slices.Equal(aside, c.file)) {
		t.Errorf("after writing: kept %t, set aside %t", kept != nil, aside != nil)
	}
	if told := len(events) == 1 && events[0].Kind == FileSetAside &&
		strings.Contains(events[0].String(), damagedSuffix); told == c.kept {
		t.Errorf("events %v", events)
	}
	if got := count(t, read(t, m).Records()); got != c.intact+1 {
		t.Errorf("then %d results", got)
	}
}

// count counts results, and checks that they are true.
func count(t testing.TB, records iter.Seq2[Record, error]) (n int) {
	t.Helper()
	for r, err := range records {
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Outcome, truth(r.Kind, r.Path, r.Identity[0]).Outcome) {
			t.Errorf("the result of %v was damaged", r.Path)
		}
		n++
	}
	return n
}

// One bad file does not keep the others from being used, and the run is found by any header.
func TestBadAmongGood(t *testing.T) {
	m := newMemFS()
	good, _ := written(t, testHeader, 10)
	m.put(filepath.Join(testDir, firstFile), good[20:])
	m.put(filepath.Join(testDir, secondFile), good)
	other, _ := written(t, Header{Run: [16]byte{9}}, 10)
	m.put(filepath.Join(testDir, "00000003.satinlog"), other)
	s := read(t, m)
	if s.header() != testHeader || s.count() != 10 || len(s.Problems()) != 2 ||
		!errors.Is(s.Problems()[1], ErrForeign) {
		t.Errorf("%v, %d results, %v", s.header(), s.count(), s.Problems())
	}
}

// Without any header, records can be used only by whoever knows the run.
func TestNoHeader(t *testing.T) {
	m := newMemFS()
	good, frames := written(t, testHeader, 10)
	clear(good[:frames[0][0]])
	m.put(filepath.Join(testDir, firstFile), good)
	if _, err := Read(testDir, Header{}, m); !errors.Is(err, ErrCorrupt) {
		t.Errorf("without a run: %v", err)
	}
	if s, err := Read(testDir, testHeader, m); err != nil || s.count() != 10 {
		t.Errorf("with a run: %v", err)
	}
}

// Where there is no checkpoint that is said, and not taken for damage.
func TestNothingThere(t *testing.T) {
	m := newMemFS()
	if _, err := Read(testDir, Header{}, m); !errors.Is(err, ErrNoCheckpoint) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	m.put(filepath.Join(testDir, "notes.txt"), nil)
	if _, err := Read(testDir, Header{}, m); !errors.Is(err, ErrNoCheckpoint) {
		t.Errorf("no files: %v", err)
	}
}

// A read-only directory can be read, and Open says what it is.
func TestReadOnly(t *testing.T) {
	m := newMemFS()
	good, _ := written(t, testHeader, 10)
	m.put(filepath.Join(testDir, firstFile), good)
	m.readOnly = true
	if _, err := Open(testDir, testHeader, Config{FS: m}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Open: %v", err)
	}
	if s := read(t, m); s.count() != 10 {
		t.Errorf("Read: %d results", s.count())
	}
}

// A file whose length is announced as more than there is, or than may be, costs no memory: the head's sum
// protects the length, and the limit the reader.
func TestLengths(t *testing.T) {
	b := binary.BigEndian.AppendUint32([]byte(marker), maxPayload+1)
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, headSum(testHeader.Run, 0, b))
	if _, _, ok := headOf(b, testHeader.Run, 0); ok {
		t.Error("a payload longer than any record was accepted")
	}
	if _, _, ok := headOf(b, testHeader.Run, 1); ok {
		t.Error("a frame was accepted in another place")
	}
}

// The same frame in another log, or in another place of this one, is not a frame.
func TestFramesOfOthers(t *testing.T) {
	m := newMemFS()
	good, frames := written(t, testHeader, 3)
	other, otherFrames := written(t, Header{Run: [16]byte{9}}, 3)
	if frames[1] != otherFrames[1] {
		t.Fatal("the files differ in layout")
	}
	copy(good[frames[1][0]:frames[1][1]], other[frames[1][0]:])
	m.put(filepath.Join(testDir, firstFile), append(good, good[frames[2][0]:]...))
	if s := read(t, m); s.count() != 2 || len(s.Problems()) != 1 {
		t.Errorf("%d results, %v", s.count(), s.Problems())
	}
}

// A record whose bytes change while the log is open is told, not returned; compaction keeps the others and
// sets the file aside.
func TestRotten(t *testing.T) {
	m := newMemFS()
	good, frames := written(t, testHeader, 10)
	m.put(filepath.Join(testDir, firstFile), good)
	l := reopen(t, m, Config{Interval: time.Hour})
	m.names[filepath.Join(testDir, firstFile)].data[frames[3][1]-1] ^= 1
	if _, ok, err := l.s.lookup([]uint32{4}, [16]byte{}); ok || !errors.Is(err, ErrCorrupt) {
		t.Errorf("Lookup: %t, %v", ok, err)
	}
	bad := 0
	for _, err := range l.Records() {
		if errors.Is(err, ErrCorrupt) {
			bad++
		}
	}
	if bad != 1 {
		t.Errorf("%d bad records", bad)
	}
	if !l.Append(truth(JobResult, []uint32{1, 1}, 0)) || !l.Append(truth(JobResult, []uint32{11}, 0)) {
		t.Fatal("not taken")
	}
	if err := l.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := count(t, l.Records()); n != 10 {
		t.Errorf("%d results", n)
	}
	if files := m.files(testDir); files[firstFile+damagedSuffix] == nil || files[firstFile] != nil {
		t.Errorf("not set aside: %v", slices.Collect(maps.Keys(files)))
	}
}

// What the system says of a disk that cannot be written, and what that means.
func TestClassify(t *testing.T) {
	errs := map[error]error{
		syscall.ENOSPC: ErrDiskFull, syscall.EDQUOT: ErrDiskFull, syscall.EROFS: ErrReadOnly,
		fs.ErrPermission: ErrReadOnly, syscall.EIO: syscall.EIO,
	}
	if full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil { // Linux has a disk that is always full
		defer full.Close()
		_, err := full.Write([]byte("x"))
		errs[err] = ErrDiskFull
	}
	for err, want := range errs {
		got := classify("/state/file", &fs.PathError{Op: "write", Path: "/state/file", Err: err})
		if !errors.Is(got, want) || !errors.Is(got, err) || !strings.Contains(got.Error(), "/state/file") {
			t.Errorf("%v: %v", err, got)
		}
	}
	if classify("/state/file", nil) != nil {
		t.Error("no error is one")
	}
}
