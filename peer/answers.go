package peer

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/satin-peer/satin"
	"github.com/satin-peer/satin/internal/wire"
)

// Answer is the end of a run as its owner keeps it.
type Answer struct {
	Manifest []byte `cbor:"1,keyasint"`           // as signed
	Outcome  []byte `cbor:"2,keyasint,omitempty"` // session.Outcome of the root job; empty if the run was cancelled
	Ended    int64  `cbor:"3,keyasint"`           // seconds since 1970
	Elapsed  int64  `cbor:"4,keyasint"`           // nanoseconds from submission to end
	Peers    int    `cbor:"5,keyasint,omitempty"` // most peers that took part at one time
}

// answers is a directory with one file for each run of this peer that has ended. A file is complete or absent: it is written
// under another name, synced, renamed, and the directory synced, before anybody is told of the answer.
type answers struct{ dir string }

// maxAnswers is how many answers are kept; the oldest go.
const maxAnswers = 256

// maxAnswerFile bounds a file that is read back.
const maxAnswerFile = 3 * wire.MaxValue

func openAnswers(dir string) (answers, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return answers{}, fmt.Errorf("the directory of answers: %w", err)
	}
	return answers{dir}, nil
}

func (a answers) path(run satin.RunID) string {
	return filepath.Join(a.dir, hex.EncodeToString(run[:])+".answer")
}

// keep writes an answer and returns when it is on the disk.
func (a answers) keep(run satin.RunID, ans *Answer) (err error) {
	manifest, outcome := ans.Manifest, ans.Outcome
	head := *ans
	head.Manifest, head.Outcome = nil, nil
	b, err := wire.Value().Encode(&head)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(a.dir, "new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	for _, part := range [][]byte{b, manifest, outcome} {
		if err := wire.WriteFrame(f, part, maxAnswerFile); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), a.path(run)); err != nil {
		return err
	}
	if err := syncDir(a.dir); err != nil {
		return err
	}
	a.prune()
	return nil
}

// load reads an answer; fs.ErrNotExist if there is none.
func (a answers) load(run satin.RunID) (*Answer, error) {
	f, err := os.Open(a.path(run))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var parts [3][]byte
	for i := range parts {
		if parts[i], err = wire.ReadFrame(f, nil, maxAnswerFile); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	ans := &Answer{}
	if err := wire.Value().Decode(parts[0], ans); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	ans.Manifest, ans.Outcome = parts[1], parts[2]
	return ans, nil
}

// prune removes the oldest answers beyond maxAnswers, and what was left of writes that were cut off.
func (a answers) prune() {
	entries, err := os.ReadDir(a.dir)
	if err != nil {
		return
	}
	type file struct {
		name string
		at   time.Time
	}
	var kept []file
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil:
		case filepath.Ext(e.Name()) == ".answer":
			kept = append(kept, file{e.Name(), info.ModTime()})
		case time.Since(info.ModTime()) > time.Hour:
			_ = os.Remove(filepath.Join(a.dir, e.Name()))
		}
	}
	slices.SortFunc(kept, func(x, y file) int { return x.at.Compare(y.at) })
	for ; len(kept) > maxAnswers; kept = kept[1:] {
		_ = os.Remove(filepath.Join(a.dir, kept[0].name))
	}
}

// syncDir makes a rename in a directory last. Not every system can.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
