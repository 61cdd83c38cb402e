//go:build unix

package host

import (
	"errors"
	"os"
	"syscall"
)

const checkModes = true

// tryLock takes the lock on a file, or says that another process has it. The kernel gives the lock back when
// the process ends, however it ends.
func tryLock(f *os.File) (taken bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// unlock gives it back. Closing the file would not do: a process that another goroutine begins to start has the file,
// too, until it has become its program, and the lock belongs to all who have it.
func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
