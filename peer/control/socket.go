package control

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/gofrs/flock"
	"github.com/satin-peer/satin/internal/cause"
	"github.com/satin-peer/satin/internal/durable"
)

// The files of a control directory.
const (
	socketName = "control.sock"
	tokenName  = "control.token"
	lockName   = "control.lock" // has the process ID of the daemon that holds the lock, behind its first byte
)

// SocketPath is where the socket of a control directory is.
func SocketPath(dir string) string { return filepath.Join(dir, socketName) }

// TokenPath is where the token of a control directory is.
func TokenPath(dir string) string { return filepath.Join(dir, tokenName) }

// maxSocketPath is the longest path of a Unix socket in bytes that all systems have.
const maxSocketPath = 103

// CheckDir says why a directory cannot be one of control whatever is on the disk: an error of ErrBadInput if
// its name is too long.
func CheckDir(dir string) error {
	if path := SocketPath(dir); len(path) > maxSocketPath {
		return Errorf(ErrBadInput,
			"%s: a socket's path has at most %d bytes, this one has %d: set runtime_dir to a shorter one", path,
			maxSocketPath, len(path))
	}
	return nil
}

// A socket is the listening end, with the lock and the token that belong to it.
type socket struct {
	net.Listener
	dir   string
	lock  *flock.Flock
	token string

	once   sync.Once
	closed error // by what Close failed
}

// listen takes the directory and opens its socket; a *RunningError if a live daemon has it.
func listen(dir string) (_ *socket, err error) {
	path := SocketPath(dir)
	if err := CheckDir(dir); err != nil {
		return nil, err
	}
	if err := makePrivate(dir); err != nil {
		return nil, err
	}
	lockPath := filepath.Join(dir, lockName)
	lock := flock.New(lockPath, flock.SetPermissions(0o600))
	switch locked, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("locking %s: %w", lockPath, cause.Of(err))
	case !locked:
		return nil, &RunningError{dir, holder(lockPath)}
	}
	defer func() {
		if err != nil {
			_ = lock.Unlock()
		}
	}()
	if err := hold(lockPath); err != nil {
		return nil, fmt.Errorf("writing %s: %w", lockPath, cause.Of(err))
	}
	// Whoever holds the lock is the only one alive: a socket that is there is a dead daemon's.
	if err := durable.Remove(path); err != nil {
		return nil, fmt.Errorf("removing the socket of a dead daemon, %s: %w", path, cause.Of(err))
	}
	s := &socket{dir: dir, lock: lock, token: rand.Text()}
	if err := s.writeToken(); err != nil {
		return nil, err
	}
	if s.Listener, err = net.Listen("unix", path); err != nil {
		return nil, fmt.Errorf("opening the control socket %s: %w", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("protecting %s: %w", path, cause.Of(err)), s.Listener.Close())
	}
	return s, nil
}

// makePrivate makes a directory that only its owner can look into. It does not change one that is there: it
// may be somebody's home.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the control directory %s: %w", dir, cause.Of(err))
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("looking at the control directory %s: %w", dir, cause.Of(err))
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && os.PathSeparator == '/' {
		return Errorf(ErrBadInput,
			"%s: others may look into it (mode %04o), and the control directory must be private: chmod 700 it, or set runtime_dir to another one", dir, mode)
	}
	return nil
}

// What is locked is the first byte, which Windows lets nobody read or write then but by the handle that has locked it:
// the process ID is behind it, in so many bytes.
const lockedBytes, holderBytes = 1, 20

// hold writes that this process has the lock.
func hold(lockPath string) error {
	f, err := os.OpenFile(lockPath, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "%*d\n", holderBytes-1, os.Getpid()), lockedBytes)
	return errors.Join(err, f.Close())
}

// holder reads which process has the lock; 0 if it has not been written yet.
func holder(lockPath string) int {
	f, err := os.Open(lockPath)
	if err != nil {
		return 0
	}
	defer f.Close()
	text := make([]byte, holderBytes)
	_, _ = f.ReadAt(text, lockedBytes) // a shorter one, which began with the first byte, is no number with these zeros
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// writeToken replaces the token file in one step, so that nobody reads half of it.
func (s *socket) writeToken() error {
	path := TokenPath(s.dir)
	if err := durable.Write(path, 0o600, false, durable.Bytes([]byte(s.token+"\n"))); err != nil {
		return fmt.Errorf("writing %s: %w", path, cause.Of(err))
	}
	return nil
}

// Close ends listening, removes the token, and lets the next daemon have the directory. Where that was removed and
// another daemon was started since, the socket and the token there are that one's, and stay.
// The server closes its listener as well when it ends.
func (s *socket) Close() error {
	s.once.Do(func() { s.closed = s.close() })
	return s.closed
}

func (s *socket) close() error {
	token, err := os.ReadFile(TokenPath(s.dir))
	others := err == nil && string(token) != s.token+"\n"
	if l, ok := s.Listener.(*net.UnixListener); ok {
		l.SetUnlinkOnClose(!others)
	}
	if err = s.Listener.Close(); errors.Is(err, net.ErrClosed) {
		err = nil
	}
	if !others {
		err = errors.Join(err, durable.Remove(TokenPath(s.dir)))
	}
	return errors.Join(err, s.lock.Unlock()) // the file stays: removing it could take the lock of the next one away
}
