package host

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

const checkModes = false // Windows has access lists instead, which the directory's owner sets

// tryLock takes the lock on a byte far behind the content of a file, so that the content can be read by those
// who do not get it. Windows gives the lock back when the process ends.
func tryLock(f *os.File) (taken bool, err error) {
	at := windows.Overlapped{OffsetHigh: 1}
	err = windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// unlock has nothing to do: the file is closed next, and no other process has it.
func unlock(*os.File) error { return nil }
