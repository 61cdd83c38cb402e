package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
)

// A Snapshot is what a directory holds, for reading: nothing in it is written, locked or renamed. It may be
// used by several goroutines at once.
type Snapshot struct {
	s *store
}

// vanishedRetries is how often Read begins anew because files were removed meanwhile.
const vanishedRetries = 5

// Read reads the checkpoint in a directory, wherever it was copied to and whether or not it may be written.
// The run is that of the first file whose header is intact, unless want says which it has to be; with want,
// records behind a damaged header are used too. If no header is intact the directory's name is asked, which
// is the run's in hexadecimal digits where a peer made it. A nil fs is Disk.
//
// Errors: ErrNoCheckpoint if there is none, ErrForeign, ErrNewer or ErrCorrupt if none of the files can be
// used, the system's if the directory cannot be read. What is wrong with single files is told by Problems.
// Read blocks while it reads all files once; another process may be writing them, and then the last records
// may look torn.
func Read(dir string, want Header, fsys FS) (*Snapshot, error) {
	if fsys == nil {
		fsys = Disk{}
	}
	s, err := readStore(dir, want, fsys)
	if run, ok := runNamed(dir); err == nil && ok && s.header.Run == noRun && len(s.segments) > 0 {
		s.close()
		if s, err = readStore(dir, Header{Run: run}, fsys); s.jobs.n+s.manifests.n == 0 {
			s.header.Run = noRun // the name is another one's
		}
		s.header.Manifest = s.onlyManifest()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &FileError{File: dir, Problem: ErrNoCheckpoint, Cause: err}
	}
	if err != nil {
		return nil, &FileError{File: dir, Problem: ErrUnreadable, Cause: err}
	}
	switch {
	case len(s.segments) == 0 && len(s.problems) > 0:
		return nil, errors.Join(s.problems...)
	case len(s.segments) == 0:
		return nil, &FileError{File: dir, Problem: ErrNoCheckpoint,
			Detail: fmt.Sprintf("there is no file *%s in it", segmentSuffix)}
	case s.header.Run == noRun:
		s.close()
		return nil, &FileError{File: dir, Problem: ErrCorrupt, Cause: errors.Join(s.problems...),
			Detail: "no header is intact; name the directory as the run, in 32 hexadecimal digits, to use the records"}
	}
	return &Snapshot{s}, nil
}

// readStore reads a directory until no other process has removed files meanwhile.
func readStore(dir string, want Header, fsys FS) (*store, error) {
	s := &store{fs: fsys, dir: dir}
	err := s.load(want)
	for range vanishedRetries {
		if err != nil || !s.vanished {
			break
		}
		s.close() // another process has compacted; what was there is in a file that was not listed yet
		s = &store{fs: fsys, dir: dir}
		err = s.load(want)
	}
	return s, err
}

// onlyManifest is the hash of the manifest that is stored; zero if that is none.
func (s *store) onlyManifest() (sum [32]byte) {
	for r, err := range s.records() {
		if err != nil || r.Kind != RunManifest {
			break
		}
		if sum = sha256.Sum256(r.Outcome); [16]byte(sum[:16]) == r.Identity {
			return sum
		}
	}
	return [32]byte{}
}

// runNamed is the run that a directory is named after.
func runNamed(dir string) (run [16]byte, ok bool) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return run, false
	}
	b, err := hex.DecodeString(filepath.Base(path))
	return run, err == nil && copy(run[:], b) == len(run) && len(b) == len(run) && run != noRun
}

// Problems tells what is wrong with the files, each in one line: values of *FileError. Empty if all is well.
func (s *Snapshot) Problems() []error { return s.s.problems }

// Records gives all records: manifests, then results in the order of their paths. None is an ancestor of
// another. A record that cannot be read any more comes as an error, and the loop goes on. It blocks while it
// reads.
func (s *Snapshot) Records() iter.Seq2[Record, error] { return s.s.records() }

// Close closes the files.
func (s *Snapshot) Close() { s.s.close() }
