package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"syscall"
)

// What may be wrong with a checkpoint; errors of this package wrap these.
var (
	// ErrNoCheckpoint is a directory without files of a log.
	ErrNoCheckpoint = errors.New("no checkpoint")
	// ErrNoManifest is a log without the manifest that its headers name, or with a damaged one.
	ErrNoManifest = errors.New("no manifest of the run in it")
	// ErrCorrupt is a file with damaged stretches; what is intact is used.
	ErrCorrupt = errors.New("corrupt")
	// ErrTorn is a file whose end was not written completely, or was cut off; what is before it is used.
	ErrTorn = errors.New("torn")
	// ErrForeign is a file of another run, or of the same run with another manifest.
	ErrForeign = errors.New("of another run")
	// ErrNewer is a file in a format that this program does not know yet.
	ErrNewer = errors.New("of a newer version")
	// ErrUnreadable is a file that the system does not let us read; what was read before is used.
	ErrUnreadable = errors.New("unreadable")
	// ErrReadOnly is a directory or file that may not be written. Read reads it.
	ErrReadOnly = errors.New("read-only")
	// ErrLocked is a directory that another process writes.
	ErrLocked = errors.New("in use by another process")
	// ErrDiskFull is a disk, or a quota, without space.
	ErrDiskFull = errors.New("disk full")
	// ErrClosed is a log that was closed.
	ErrClosed = errors.New("checkpoint is closed")
)

// A FileError says in one line what is wrong with one file, or with a directory. It wraps one of the errors above.
type FileError struct {
	File    string // its path
	Problem error  // one of this package's
	Detail  string // where and how much, if known
	Cause   error  // the system's error, or nil
}

// Error gives file, problem and what becomes of it, in one line.
func (e *FileError) Error() string {
	s := fmt.Sprintf("%s: %v", e.File, e.Problem)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap gives the problem and its cause.
func (e *FileError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Problem}
	}
	return []error{e.Problem, e.Cause}
}

// damaged tells of what scan lost of a file.
func damaged(file string, lost loss, intact int) *FileError {
	e := &FileError{File: file, Problem: ErrCorrupt}
	if lost.torn {
		e.Problem = ErrTorn
		e.Detail = fmt.Sprintf("its last %d bytes, from byte %d, are an unfinished record; the %d before are used",
			lost.total, lost.at, intact)
		return e
	}
	e.Detail = fmt.Sprintf(
		"%d bytes in %d places, the first at byte %d, cannot be read; %d intact records are used", lost.total,
		lost.stretches, lost.at, intact)
	return e
}

// Codes of Windows for a full disk; syscall.ENOSPC is none of them.
const (
	windowsHandleDiskFull = syscall.Errno(39)
	windowsDiskFull       = syscall.Errno(112)
)

// classify wraps a system's error of writing with what it means to the log.
func classify(file string, err error) error {
	if err == nil {
		return nil
	}
	if path := new(fs.PathError); errors.As(err, &path) && path.Path == file {
		err = path.Err // the file is named already
	}
	full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		runtime.GOOS == "windows" && (errors.Is(err, windowsHandleDiskFull) || errors.Is(err, windowsDiskFull))
	switch {
	case full:
		return &FileError{File: file, Problem: ErrDiskFull, Cause: err}
	case errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission):
		return &FileError{File: file, Problem: ErrReadOnly, Cause: err}
	}
	return fmt.Errorf("%s: %w", file, err)
}
