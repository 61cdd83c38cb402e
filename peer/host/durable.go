package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/satin-peer/satin/internal/durable"
)

// maxStateFile bounds one file of the state directory, in bytes. A longer one is not written: it could not be read
// again.
const maxStateFile = 1 << 20

// writeDurably replaces a file of the state directory by one that only its owner can read: after a crash
// there is the old content or the new.
func writeDurably(path string, content []byte) error {
	if len(content) > maxStateFile {
		return stateError(path, fmt.Sprintf("would be longer than %d bytes, and is left as it is", maxStateFile), nil)
	}
	if err := durable.Write(path, 0o600, true, durable.Bytes(content)); err != nil {
		return stateError(path, "cannot be written", err)
	}
	return nil
}

// readState reads a file of the state directory; a file that is not there is nil without an error.
func readState(path string) ([]byte, error) {
	info, err := statState(path)
	if info == nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, stateError(path, "cannot be read", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxStateFile+1))
	if err != nil {
		return nil, stateError(path, "cannot be read", err)
	}
	if len(b) > maxStateFile {
		return nil, stateError(path, fmt.Sprintf("is longer than %d bytes", maxStateFile), nil)
	}
	return b, nil
}

// readSecret is readState for a file that nobody but its owner may read.
func readSecret(path string) ([]byte, error) {
	info, err := statState(path)
	if info == nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); checkModes && mode&0o077 != 0 {
		return nil, stateError(path, fmt.Sprintf(
			"holds a secret that others may read (mode %#o): chmod 600 it, or remove it for a new one if it may have leaked", mode), nil)
	}
	return readState(path)
}

// statState looks at a file before it is opened, which would wait for the other end of a pipe; nil if there is
// nothing to read.
func statState(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, stateError(path, "cannot be read", err)
	case info.IsDir():
		return nil, stateError(path, "is a directory where a file belongs: move it away", nil)
	case !info.Mode().IsRegular():
		return nil, stateError(path, "is no file, but a device, pipe or socket: move it away", nil)
	}
	return info, nil
}

func stateError(path, what string, cause error) error {
	if cause == nil {
		return fmt.Errorf("%w: %s %s", ErrState, path, what)
	}
	return fmt.Errorf("%w: %s %s: %w", ErrState, path, what, cause)
}
