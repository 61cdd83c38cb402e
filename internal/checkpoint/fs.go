package checkpoint

import (
	"io"
	"os"

	"github.com/gofrs/flock"
	"github.com/satin-peer/satin/internal/durable"
)

// FS is all that the log asks of a file system. Names are paths as the caller of Open gave the directory, joined with
// filepath.Join. Errors are those of package os: fs.ErrExist, fs.ErrNotExist, syscall.ENOSPC and so on.
type FS interface {
	// Mkdir makes a directory; fs.ErrExist if there is one, fs.ErrNotExist if there is none above it.
	Mkdir(dir string) error
	// List gives the names in a directory, in any order.
	List(dir string) ([]string, error)
	// Open opens a file for reading.
	Open(name string) (ReadFile, error)
	// Create makes a new file; fs.ErrExist if there is one.
	Create(name string) (WriteFile, error)
	// SyncFile puts on disk what was written to a file, by whomever.
	SyncFile(name string) error
	// SyncDir puts on disk which files there are in a directory.
	SyncDir(dir string) error
	// Rename gives a file another name in its directory.
	Rename(from, to string) error
	// Remove removes a file.
	Remove(name string) error
	// Lock locks a file, which it makes if need be, for this process until unlock; ErrLocked if somebody else has it.
	Lock(name string) (unlock func() error, err error)
}

// A ReadFile is a file open for reading, also while it is written elsewhere.
type ReadFile interface {
	io.ReaderAt
	io.Closer
	Size() (int64, error)
}

// A WriteFile is a file open for writing at its end.
type WriteFile interface {
	io.Writer
	io.Closer
	// Sync returns when everything written is on disk.
	Sync() error
	// Truncate cuts the file off, and writes go on there.
	Truncate(size int64) error
}

// Disk is the file system of the machine. Files and directories are for their owner alone.
type Disk struct{}

type diskFile struct{ *os.File }

func (f diskFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f diskFile) Truncate(size int64) error {
	if err := f.File.Truncate(size); err != nil {
		return err
	}
	_, err := f.Seek(size, io.SeekStart)
	return err
}

func (Disk) Mkdir(dir string) error { return os.Mkdir(dir, 0o700) }

func (Disk) List(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

func (Disk) Open(name string) (ReadFile, error) {
	f, err := durable.Open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return diskFile{f}, nil
}

func (Disk) Create(name string) (WriteFile, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return diskFile{f}, nil
}

func (Disk) SyncFile(name string) error {
	f, err := durable.Open(name, os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

func (Disk) SyncDir(dir string) error { return durable.SyncDir(dir) }

func (Disk) Rename(from, to string) error { return os.Rename(from, to) }

func (Disk) Remove(name string) error { return os.Remove(name) }

// Lock holds while the process lives: the system releases it with the process.
func (Disk) Lock(name string) (unlock func() error, err error) {
	l := flock.New(name, flock.SetPermissions(0o600))
	locked, err := l.TryLock()
	if err != nil {
		return nil, err
	}
	if !locked {
		return nil, ErrLocked
	}
	return l.Unlock, nil
}
