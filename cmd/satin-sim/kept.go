package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/internal/sim"
)

// kept is a folder of runs that have ended, each in a file, so that a page that takes a night may be made in portions.
// A run is found again by its page and its number there, and only what the same program kept: another may come to
// something else.
type kept string

// keptIn is the folder of a page that this program makes.
func keptIn(dir, page string) (kept, error) {
	program, err := ownHash()
	if err != nil {
		return "", err
	}
	return keptBy(dir, program, page)
}

func keptBy(dir, program, page string) (kept, error) {
	dir = filepath.Join(dir, program, page)
	return kept(dir), os.MkdirAll(dir, 0o755)
}

// once gives what is kept of a run, or runs it and keeps its report; nil, if it was given up, is kept as well.
func (k kept) once(name string, run func() (*sim.Report, error)) (r *sim.Report, err error) {
	file := filepath.Join(string(k), name+".json")
	b, err := os.ReadFile(file)
	if err == nil {
		if err = json.Unmarshal(b, &r); err != nil {
			return nil, fmt.Errorf("%s: %w; it can be removed", file, err)
		}
		return r, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if r, err = run(); err != nil {
		return nil, err
	}
	if b, err = json.Marshal(r); err != nil {
		return nil, err
	}
	return r, durable.Write(file, 0o644, false, durable.Bytes(b))
}

// ownHash names this program by its file.
func ownHash() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256(b)
	return hex.EncodeToString(hash[:8]), nil
}
