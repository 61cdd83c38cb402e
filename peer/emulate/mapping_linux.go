package emulate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// monotonic reads CLOCK_MONOTONIC, which all processes of a machine share. (time.Now has it too, and does not tell.)
func monotonic() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("emulate: CLOCK_MONOTONIC cannot be read: " + err.Error()) // every Linux has it
	}
	return time.Duration(ts.Nano())
}

// A mapping is a shared file as words in memory.
type mapping struct {
	file  *os.File
	bytes []byte
	words []atomic.Uint64
}

// createLinks makes the file with all links free, under another name first: nobody sees it half made.
func createLinks(name string, clusters int) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".links-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := file.Truncate(int64(8 * fileWords(clusters))); err != nil {
		return err
	}
	m, err := mapFile(file)
	if err != nil {
		return err
	}
	m.words[headMagic].Store(magic)
	m.words[headClusters].Store(uint64(clusters))
	m.words[headOrigin].Store(uint64(monotonic()))
	if err := unix.Munmap(m.bytes); err != nil {
		return err
	}
	if err := os.Link(file.Name(), name); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("there is an emulation already, take another directory or remove it: %w", err)
		}
		return err
	}
	return nil
}

func openMapping(dir string) (*mapping, error) {
	file, err := os.OpenFile(filepath.Join(dir, linksFile), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	m, err := mapFile(file)
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return m, nil
}

func mapFile(file *os.File) (*mapping, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	const most = 8 * lineWords * (1 + 256*256)
	if info.Size() < 8*lineWords || info.Size() > most {
		return nil, fmt.Errorf("%s has %d bytes, %d to %d are expected", file.Name(), info.Size(), 8*lineWords, most)
	}
	b, err := unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", file.Name(), err)
	}
	return &mapping{file, b, unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(&b[0])), len(b)/8)}, nil
}

// alone calls f while no other process or goroutine is in here.
func (m *mapping) alone(f func()) error {
	// A lock belongs to the open file, so every caller opens its own.
	lock, err := os.Open(m.file.Name())
	if err != nil {
		return err
	}
	defer lock.Close()
	for {
		if err = unix.Flock(int(lock.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", m.file.Name(), err)
	}
	f()
	return nil
}

func (m *mapping) close() error {
	return errors.Join(unix.Munmap(m.bytes), m.file.Close())
}
