package peer

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

// A medium is what files are changed on: the disk.
type medium interface {
	checkpoint.FS
	// Replace is durable.Write of a file for its owner alone, flushed.
	Replace(path string, fill func(io.Writer) error) error
	RemoveAll(dir string) error
}

type onDisk struct{ checkpoint.Disk }

func (onDisk) Replace(path string, fill func(io.Writer) error) error {
	return durable.Write(path, 0o600, true, fill)
}

func (onDisk) RemoveAll(dir string) error { return os.RemoveAll(dir) }

// A cabinet is a directory with one file for each run. A file is complete or absent: it is written under
// another name, synced, renamed, and the directory synced, before anything is said of it. The directory is made
// with the first file: of the many of a peer most stay without one.
type cabinet struct {
	*base
	dir  string
	kind string // how the names of the files end
	most int    // files; the oldest go. 0: whoever writes them bounds them
}

// maxCabinetFile bounds one part of a file that is read back.
const maxCabinetFile = wire.MaxOutcome + wire.MaxValue

func openCabinet(b *base, dir, kind string, most int) (*cabinet, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("the directory %s: %w", filepath.Base(dir), syscall.ENOTDIR)
	}
	durable.Sweep(dir)
	// Who was killed may not have flushed a name, and what goes because of a file must not come back without it.
	for _, d := range []string{dir, filepath.Dir(dir)} {
		_ = b.medium.SyncDir(d) // or it is not there
	}
	return &cabinet{b, dir, kind, most}, nil
}

func (c *cabinet) path(name string) string { return filepath.Join(c.dir, name+c.kind) }

// make makes the directory if it is not there, or not any more.
func (c *cabinet) make() error { return checkpoint.MakeDir(c.medium, c.dir) }

// write returns when the file is on the disk.
func (c *cabinet) write(name string, parts ...[]byte) error {
	if err := c.make(); err != nil {
		return err
	}
	err := c.medium.Replace(c.path(name), func(w io.Writer) error {
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

// read gives the parts of a file; fs.ErrNotExist if there is none.
func (c *cabinet) read(name string, parts int) ([][]byte, error) {
	f, err := os.Open(c.path(name))
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

// frame is where a part of a file begins as a frame, which it is on the disk, and of how many bytes that is.
func (c *cabinet) frame(name string, part int) (at, size int64, err error) {
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

// copy writes some of a file, without holding it: neither in memory nor open, for w may be slow.
func (c *cabinet) copy(w io.Writer, name string, at, size int64) error {
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

func (c *cabinet) readAt(name string, b []byte, at int64) error {
	f, err := os.Open(c.path(name))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = f.ReadAt(b, at)
	return err
}

func (c *cabinet) has(name string) bool {
	_, err := os.Stat(c.path(name))
	return err == nil
}

// remove removes a file, if there is one.
func (c *cabinet) remove(name string) error {
	switch err := c.medium.Remove(c.path(name)); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return c.medium.SyncDir(c.dir)
}

type cabinetFile struct {
	name string
	at   time.Time
	size int64
}

// files lists them, oldest first.
func (c *cabinet) files() (list []cabinetFile) {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == c.kind && info.Mode().IsRegular() {
			list = append(list, cabinetFile{e.Name()[:len(e.Name())-len(c.kind)], info.ModTime(), info.Size()})
		}
	}
	slices.SortFunc(list, func(x, y cabinetFile) int { return x.at.Compare(y.at) })
	return list
}

// prune removes the oldest files beyond most, and what was left of writes that were cut off. One that was just written
// stays, though it looks older than all others where the clock was ahead when they were written, or begins anew now.
func (c *cabinet) prune(now time.Time, written string) {
	list := slices.DeleteFunc(c.files(), func(f cabinetFile) bool { return f.name == written })
	for _, f := range list[:max(0, len(list)+1-c.most)] {
		_ = c.medium.Remove(c.path(f.name))
	}
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) != c.kind && info.Mode().IsRegular() &&
			now.Sub(info.ModTime()) > time.Hour {
			_ = c.medium.Remove(filepath.Join(c.dir, e.Name()))
		}
	}
}
