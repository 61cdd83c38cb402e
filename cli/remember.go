package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satin-peer/satin/apps"
	"github.com/satin-peer/satin/peer/control"
)

// A daemon keeps the answers to its runs on the disk, but after a restart it knows no more what the
// application's arguments were, without which an answer cannot be checked and shown. The command that submits
// a run writes them down beside it.
const (
	submittedDir  = "submitted" // in the state directory
	maxSubmitted  = 256         // the oldest are forgotten
	maxSubmission = 1 << 20     // bytes of a file
)

// rememberRun writes down what was submitted.
func rememberRun(stateDir string, run control.RunInfo) error {
	dir := filepath.Join(stateDir, submittedDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	err := apps.WriteFile(filepath.Join(dir, run.Run),
		func(w io.Writer) error { return json.NewEncoder(w).Encode(run) })
	return errors.Join(err, forgetOldest(dir))
}

func forgetOldest(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= maxSubmitted {
		return err
	}
	var infos []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // else another command has forgotten it
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for len(infos) > maxSubmitted {
		if err := os.Remove(filepath.Join(dir, infos[0].Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		infos = infos[1:]
	}
	return nil
}

// recallRun finds what was submitted as the only run whose name begins with name; a *noRunError if there is none.
func recallRun(stateDir, name string) (run control.RunInfo, err error) {
	dir := filepath.Join(stateDir, submittedDir)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return run, failed("%w", err)
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), name) })
	switch len(entries) {
	case 0:
		return run, &noRunError{name}
	case 1:
	default:
		return run, ambiguous(name)
	}
	text, err := apps.ReadFile(filepath.Join(dir, entries[0].Name()), maxSubmission)
	if err != nil {
		return run, failed("%w", err)
	}
	if err := json.Unmarshal(text, &run); err != nil {
		return run, failed("%s: %w", filepath.Join(dir, entries[0].Name()), err)
	}
	run.Run, run.Mine = entries[0].Name(), true
	return run, nil
}
