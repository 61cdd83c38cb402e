// Package durable replaces files whole, and removes them: a reader, and whoever looks after a crash, finds the old
// content or the new one and nothing between.
package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// Unfinished begins the names of files that are being written. What a killed process has left under such a name
// is nobody's: [Sweep] removes it.
const Unfinished = ".new-"

// Write replaces the file at path by what fill writes: beside it, under another name, which is changed when all
// is there. After an error path is as it was (or,
// if only its name could not be flushed, new). Flushed makes it return when content and name are on the disk;
// otherwise the last seconds before a crash of the machine may be lost, or leave a file without its content.
// Only the user can read the file, unless mode says more.
func Write(path string, mode fs.FileMode, flushed bool, fill func(io.Writer) error) (err error) {
	defer func() {
		// whoever reads it knows of no other name
		if p := (*fs.PathError)(nil); errors.As(err, &p) && strings.HasPrefix(filepath.Base(p.Path), Unfinished) {
			p.Path = path
		}
	}()
	f, err := os.CreateTemp(filepath.Dir(path), Unfinished+"*") // its mode is 0600
	if err != nil {
		return err
	}
	err = fill(f)
	if err == nil && mode != 0o600 {
		err = f.Chmod(mode)
	}
	if err == nil && flushed {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if flushed {
		return SyncDir(filepath.Dir(path))
	}
	return nil
}

// Bytes is what fills a file with b.
func Bytes(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}

// Open opens a file that is there, as flag says. It refuses what is none: to open a pipe, as a directory that was
// brought may have one, waits for a writer.
func Open(path string, flag int) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err != nil {
		return nil, err
	}
	return os.OpenFile(path, flag, 0)
}

// Remove removes a file if it is there.
func Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// SyncDir puts on disk which files there are in a directory. It does nothing on Windows, which has no such call,
// and on file systems that refuse it: there a crash of the machine may take new names back.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// Sweep removes what killed processes left in the middle of a [Write] to a directory to which nobody writes now.
// What cannot be removed stays: it does no harm.
func Sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), Unfinished) && e.Type().IsRegular() {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
