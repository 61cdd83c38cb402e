// Package cabinet keeps one file for each run, or for whatever else has a name: complete or absent, whatever crashes.
// What is said here to write, read, list or remove may block for a disk, from any goroutine; two may not write one file
// at the same time.
package cabinet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/internal/wire"
)

// A Medium is what files are changed on: the disk.
type Medium interface {
	checkpoint.FS
	// Replace is durable.Write of a file for its owner alone, flushed.
	Replace(path string, fill func(io.Writer) error) error
	RemoveAll(dir string) error
}

// OnDisk is the disk.
type OnDisk struct{ checkpoint.Disk }

// Replace implements Medium.
func (OnDisk) Replace(path string, fill func(io.Writer) error) error {
	return durable.Write(path, 0o600, true, fill)
}

// RemoveAll implements Medium.
func (OnDisk) RemoveAll(dir string) error { return os.RemoveAll(dir) }

// A Cabinet is a directory with one file for each run. A file is complete or absent: it is written under
// another name, synced, renamed, and the directory synced, before anything is said of it. The directory is made
// with the first file: of the many of a peer most stay without one.
type Cabinet struct {
	Medium Medium // that the files are changed on
	Dir    string
	now    func() time.Time
	kind   string
	most   int
}

// maxCabinetFile bounds one part of a file that is read back.
const maxCabinetFile = wire.MaxOutcome + wire.MaxValue

// Open opens the one in a directory, whose files have names that end in kind, and of which the oldest go beyond most;
// 0: whoever writes them bounds them. The only error is that the directory is none.
func Open(on Medium, now func() time.Time, dir, kind string, most int) (*Cabinet, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("the directory %s: %w", filepath.Base(dir), syscall.ENOTDIR)
	}
	durable.Sweep(dir)
	// Who was killed may not have flushed a name, and what goes because of a file must not come back without it.
	for _, d := range []string{dir, filepath.Dir(dir)} {
		_ = on.SyncDir(d) // or it is not there
	}
	return &Cabinet{on, dir, now, kind, most}, nil
}

// Path is where a file is, or would be.
func (c *Cabinet) Path(name string) string { return filepath.Join(c.Dir, name+c.kind) }

// Make makes the directory if it is not there, or not any more.
func (c *Cabinet) Make() error { return checkpoint.MakeDir(c.Medium, c.Dir) }

// Write returns when the file is on the disk.
func (c *Cabinet) Write(name string, parts ...[]byte) error {
	if err := c.Make(); err != nil {
		return err
	}
	err := c.Medium.Replace(c.Path(name), func(w io.Writer) error {
		for _, part := range parts {
			if err := wire.WriteFrame(w, part, maxCabinetFile); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && c.most > 0 {
		c.prune(c.now(), name)
	}
	return err
}

// Read gives the parts of a file; fs.ErrNotExist if there is none.
func (c *Cabinet) Read(name string, parts int) ([][]byte, error) {
	f, err := os.Open(c.Path(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	list := make([][]byte, parts)
	for i := range list {
		if list[i], err = wire.ReadFrame(f, nil, maxCabinetFile); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	return list, nil
}

// Frame is where a part of a file begins as a frame, which it is on the disk, and of how many bytes that is.
func (c *Cabinet) Frame(name string, part int) (at, size int64, err error) {
	var head [wire.FrameHead]byte
	for at = 0; ; at, part = at+size, part-1 {
		if err := c.readAt(name, head[:], at); err != nil {
			return 0, 0, err
		}
		if size = wire.FrameHead + int64(binary.BigEndian.Uint32(head[:])); part == 0 {
			return at, size, nil
		}
	}
}

// copyPiece is how much of a file is in memory while it is copied.
const copyPiece = 64 << 10

// Copy writes some of a file, without holding it: neither in memory nor open, for w may be slow.
func (c *Cabinet) Copy(w io.Writer, name string, at, size int64) error {
	buf := make([]byte, min(size, copyPiece))
	for size > 0 {
		b := buf[:min(size, copyPiece)]
		if err := c.readAt(name, b, at); err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		at, size = at+int64(len(b)), size-int64(len(b))
	}
	return nil
}

func (c *Cabinet) readAt(name string, b []byte, at int64) error {
	f, err := os.Open(c.Path(name))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = f.ReadAt(b, at)
	return err
}

// Has says whether there is a file.
func (c *Cabinet) Has(name string) bool {
	_, err := os.Stat(c.Path(name))
	return err == nil
}

// Remove removes a file, if there is one.
func (c *Cabinet) Remove(name string) error {
	switch err := c.Medium.Remove(c.Path(name)); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return c.Medium.SyncDir(c.Dir)
}

// A File is one of those that there are.
type File struct {
	Name string
	At   time.Time
	Size int64
}

// Files lists them, oldest first.
func (c *Cabinet) Files() (list []File) {
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == c.kind && info.Mode().IsRegular() {
			list = append(list, File{e.Name()[:len(e.Name())-len(c.kind)], info.ModTime(), info.Size()})
		}
	}
	slices.SortFunc(list, func(x, y File) int { return x.At.Compare(y.At) })
	return list
}

// prune removes the oldest files beyond most, and what was left of writes that were cut off. One that was just written
// stays, though it looks older than all others where the clock was ahead when they were written, or begins anew now.
func (c *Cabinet) prune(now time.Time, written string) {
	list := slices.DeleteFunc(c.Files(), func(f File) bool { return f.Name == written })
	for _, f := range list[:max(0, len(list)+1-c.most)] {
		_ = c.Medium.Remove(c.Path(f.Name))
	}
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) != c.kind && info.Mode().IsRegular() &&
			now.Sub(info.ModTime()) > time.Hour {
			_ = c.Medium.Remove(filepath.Join(c.Dir, e.Name()))
		}
	}
}
