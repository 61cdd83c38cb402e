package checkpoint

import (
	"crypto/sha256"
	"errors"
)

// HeaderOf is the header of a run's log: the run, and the SHA-256 hash of its signed manifest as it travels.
func HeaderOf(run [16]byte, manifest []byte) Header { return Header{run, sha256.Sum256(manifest)} }

// KeepManifest appends the manifest whose hash is in the log's header, so that the directory tells by itself what was
// computed. A manifest that is stored already is not written again.
func (l *Log) KeepManifest(manifest []byte) bool {
	sum := sha256.Sum256(manifest)
	if sum != l.s.header.Manifest {
		return false
	}
	r := Record{Kind: RunManifest, Outcome: manifest}
	copy(r.Identity[:], sum[:])
	return l.Append(r)
}

// AppendOutcome appends the outcome of a job, the root's if the path is empty, and who vouches for it. It returns at
// once, as Append does.
func (l *Log) AppendOutcome(path []uint32, identity [16]byte, outcome, voucher []byte) (queued bool) {
	r := Record{Kind: JobResult, Path: path, Identity: identity, Outcome: outcome, Voucher: voucher}
	if len(path) == 0 {
		r.Kind = RootOutcome
	}
	return l.Append(r)
}

// Trouble is why nothing can be written at present, or nil. It never waits for the disk.
func (l *Log) Trouble() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats.NotStoring
}

// Manifest gives the run's manifest: the stored one with the hash that the headers name. ErrNoManifest if
// there is none, or if it cannot be read any more; whoever has the manifest from elsewhere can use the
// records all the same.
func (s *Snapshot) Manifest() ([]byte, error) {
	problem := ErrNoManifest
	for r, err := range s.Records() {
		switch {
		case err != nil:
			problem = errors.Join(problem, err)
		case r.Kind != RunManifest:
			return nil, &FileError{File: s.s.dir, Problem: problem} // manifests come first
		case sha256.Sum256(r.Outcome) == s.s.header.Manifest:
			return r.Outcome, nil
		}
	}
	return nil, &FileError{File: s.s.dir, Problem: problem}
}
