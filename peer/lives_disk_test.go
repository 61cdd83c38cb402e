package peer

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/satin-peer/satin/internal/checkpoint"
	"github.com/satin-peer/satin/internal/durable"
)

var (
	errKilled = errors.New("the process was killed")
	errName   = errors.New("the name could not be flushed")
)

// A moodyDisk is that of one life of a process. What is changed on it takes a while, may be refused for a time, or be
// reported as refused though it was done. When the process is killed, nothing is changed any more, but what was under
// way may have been done.
type moodyDisk struct {
	onDisk
	*moods
	prompt bool // it takes no time: for what a mutex is held for, which virtual time does not wait for
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
	return d.change(true, func() error { return d.onDisk.Mkdir(dir) })
}

func (d *moodyDisk) Rename(from, to string) error {
	return d.change(false, func() error { return d.onDisk.Rename(from, to) })
}

func (d *moodyDisk) Remove(name string) error {
	return d.change(false, func() error { return d.onDisk.Remove(name) })
}

func (d *moodyDisk) RemoveAll(dir string) error {
	return d.change(false, func() error { return d.onDisk.RemoveAll(dir) })
}

// SyncFile and SyncDir are for machines that crash; here processes do.
func (d *moodyDisk) SyncFile(string) error { return nil }
func (d *moodyDisk) SyncDir(string) error  { return nil }

func (d *moodyDisk) Replace(path string, fill func(io.Writer) error) error {
	err := d.change(true, func() error { return durable.Write(path, 0o600, false, fill) })
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil && d.deaf {
		return errName
	}
	return err
}

func (d *moodyDisk) Create(name string) (f checkpoint.WriteFile, err error) {
	err = d.change(true, func() error {
		f, err = d.onDisk.Create(name)
		return err
	})
	return moodyFile{f, d}, err
}

type moodyFile struct {
	checkpoint.WriteFile
	d *moodyDisk
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

func (f moodyFile) Sync() error { return f.d.change(true, func() error { return nil }) }

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
