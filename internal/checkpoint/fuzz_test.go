package checkpoint

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Any bytes may be a file of the log. Reading it ends, returns valid records only, and changes nothing; the
// log goes on with what was read, and the file is still there, or set aside, or, if it was only torn, its
// records are.
func FuzzRead(f *testing.F) {
	good, frames := written(f, testHeader, 5)
	f.Add(good)
	f.Add(good[:frames[4][1]-7])
	f.Add(good[:prefixSize])
	f.Add(slices.Concat(good[:frames[1][0]+20], good[frames[1][0]+21:]))
	f.Add([]byte(strings.Repeat(marker, 40)))
	f.Fuzz(func(t *testing.T, file []byte) {
		m := newMemFS()
		name := filepath.Join(testDir, firstFile)
		m.put(name, file)
		before := map[string]Record{}
		if s, err := Read(testDir, testHeader, m); err == nil {
			for r, err := range s.Records() {
				if err != nil || r.valid() != nil {
					t.Fatalf("%v: %v, %v", r.Path, err, r.valid())
				}
				before[r.tag()] = r
			}
		}
		// without a goroutine, so that the same bytes run the same code
		l, err := open(testDir, testHeader, Config{FS: m})
		if err != nil {
			if !errors.Is(err, ErrForeign) && !errors.Is(err, ErrNewer) {
				t.Fatal(err)
			}
			if !slices.Equal(m.files(testDir)[firstFile], file) {
				t.Fatal("a file that is not ours was changed")
			}
			return
		}
		l.Append(truth(RunManifest, nil, 200))
		if err := l.w.try(); err != nil {
			t.Fatal(err)
		}
		l.w.finish()
		files := m.files(testDir)
		if !slices.Equal(files[firstFile], file) && !slices.Equal(files[firstFile+damagedSuffix], file) {
			t.Fatal("the file is gone")
		}
		s, err := Read(testDir, testHeader, m)
		if err != nil {
			t.Fatal(err)
		}
		for r := range s.Records() {
			if old, ok := before[r.tag()]; ok && slices.Equal(old.Outcome, r.Outcome) && old.Identity == r.Identity {
				delete(before, r.tag())
			}
		}
		if len(before) > 0 {
			t.Fatalf("%d records were read and are gone", len(before))
		}
	})
}
