package peer

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/durable"
	"github.com/satin-peer/satin/peer/cabinet"
)

var (
	errKilled = errors.New("the process was killed")
	errName   = errors.New("the name could not be flushed")
)

// A moodyDisk is that of one life of a process. What is changed on it takes a while, may be refused for a time, or be
// reported as refused though it was done. When the process is killed, nothing is changed any more, but what was under
// way may have been done. What was not synced a power cut may take back.
type moodyDisk struct {
	cabinet.OnDisk
	*moods
	platter *platter
	prompt  bool // it takes no time: for what a mutex is held for, which virtual time does not wait for
}

// moods are what one is like at the moment.
type moods struct {
	w *livesWorld

	mu     sync.Mutex
	killed bool
	full   bool // nothing more can be written
	deaf   bool // what is written in the place of a file is there, and an error besides
	slow   time.Duration
}

func (d *moods) set(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// change does something to the disk; grows says that it takes room.
func (d *moodyDisk) change(grows bool, do func() error) error {
	d.mu.Lock()
	killed, slow := d.killed, d.slow
	d.mu.Unlock()
	if d.prompt {
		slow = 0
	}
	if killed {
		return errKilled
	}
	if slow > 0 {
		time.Sleep(d.w.some(slow))
	}
	d.mu.Lock()
	killed, full := d.killed, d.full
	d.mu.Unlock()
	switch {
	case killed && d.w.chance(0.5):
		return errKilled
	case full && grows:
		return syscall.ENOSPC
	}
	err := do()
	if slow > 0 {
		time.Sleep(d.w.some(slow))
	}
	return err
}

func (d *moodyDisk) Mkdir(dir string) error {
	return d.change(true, func() error {
		err := d.OnDisk.Mkdir(dir)
		if err == nil {
			d.platter.changed(dir, func() { _ = os.RemoveAll(dir) })
		}
		return err
	})
}

func (d *moodyDisk) Rename(from, to string) error {
	return d.change(false, func() error {
		err := d.platter.move(from, to) // to is not there
		if err == nil {
			d.platter.changed(to, func() { _ = d.platter.move(to, from) })
		}
		return err
	})
}

func (d *moodyDisk) Remove(name string) error {
	return d.change(false, func() error { return d.platter.remove(name) })
}

func (d *moodyDisk) RemoveAll(dir string) error {
	return d.change(false, func() error {
		if err := d.platter.remove(dir); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

func (d *moodyDisk) SyncFile(name string) error {
	return d.change(false, func() error { return d.onPlatter(name) })
}

// onPlatter puts a file on the disk.
func (d *moodyDisk) onPlatter(name string) error {
	info, err := os.Stat(name)
	if err == nil {
		d.platter.wrote(name, info.Size())
	}
	return err
}

func (d *moodyDisk) SyncDir(dir string) error {
	return d.change(false, func() error {
		d.platter.flushed(dir)
		return nil
	})
}

func (d *moodyDisk) Replace(path string, fill func(io.Writer) error) error {
	return d.change(true, func() error {
		undo, err := d.platter.replace(path, func() error { return durable.Write(path, 0o600, false, fill) })
		d.mu.Lock()
		deaf := d.deaf
		d.mu.Unlock()
		switch {
		case err != nil:
		case deaf:
			d.platter.changed(path, undo)
			err = errName
		default:
			d.platter.flushed(filepath.Dir(path))
		}
		return err
	})
}

func (d *moodyDisk) Create(name string) (f checkpoint.WriteFile, err error) {
	err = d.change(true, func() error {
		if f, err = d.OnDisk.Create(name); err == nil {
			d.platter.wrote(name, 0)
			d.platter.changed(name, func() { _ = os.Remove(name) })
		}
		return err
	})
	return moodyFile{f, d, name}, err
}

type moodyFile struct {
	checkpoint.WriteFile
	d    *moodyDisk
	name string
}

// Write may do a part only.
func (f moodyFile) Write(b []byte) (n int, err error) {
	whole := false
	err = f.d.change(true, func() error {
		whole = true
		n, err = f.WriteFile.Write(b)
		return err
	})
	if !whole && err != nil {
		n, _ = f.WriteFile.Write(b[:f.d.w.below(len(b)+1)]) // torn
	}
	return n, err
}

func (f moodyFile) Sync() error {
	return f.d.change(true, func() error { return f.d.onPlatter(f.name) })
}

func (f moodyFile) Truncate(size int64) error {
	return f.d.change(false, func() error { return f.WriteFile.Truncate(size) })
}

// filesIn are the files below a directory, but for some.
func filesIn(dir string, but func(path string) bool) (list []string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !but(path) {
			list = append(list, path)
		}
		return nil
	})
	return list
}
