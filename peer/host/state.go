package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/satin-peer/satin/internal/durable"
)

// Files of the state directory.
const (
	lockFile        = "lock"        // the pid of the process that has the directory open
	keyFile         = "peer.key"    // the peer's private key
	incarnationFile = "incarnation" // the number of starts
	swarmKeyFile    = "swarm.key"   // the swarm's private key, on those who hold it
	swarmFile       = "swarm"       // the swarm that this peer is in, and the proof of it
	datesFile       = "dates"       // what it has seen of the calendar
	ticketsFile     = "invitations" // what this peer has invited to and is not used up
	allowedFile     = "allowed"     // peers that are let in by their ID
	revokedFile     = "revoked"     // peers that are not let in at all
	bannedFile      = "revocations" // what members have said of who is out
	rememberedFile  = "peers"       // addresses where members were
)

// incarnationBits are those that the number of starts may have: gossip adds eight, and has room for 32.
const incarnationBits = 23

// A stateDir is a state directory that this process has locked.
type stateDir struct {
	dir  string
	lock *os.File
}

// openState makes the directory if need be and locks it.
func openState(dir string) (*stateDir, error) {
	if dir == "" {
		return nil, fmt.Errorf("%w: none given", ErrState)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, stateError(dir, "cannot be made", err)
	}
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, stateError(dir, "cannot be written", err)
	}
	taken, err := tryLock(f)
	if err != nil {
		f.Close()
		return nil, stateError(path, "cannot be locked", err)
	}
	if !taken {
		b := make([]byte, 20)
		n, _ := f.ReadAt(b, 0)
		f.Close()
		return nil, fmt.Errorf("%w: %s is %w, pid %s: stop that one, or use another directory", ErrState, dir,
			ErrInUse, holder(b[:n]))
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		f.Close()
		return nil, stateError(path, "cannot be written", err)
	}
	s := &stateDir{dir, f}
	durable.Sweep(dir) // it is locked: nobody is in the middle of a write
	return s, nil
}

// Free is nil if no process has a state directory open that a peer was in once, else an error that says which has.
func Free(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, lockFile)); err != nil {
		return nil
	}
	s, err := openState(dir)
	if err == nil {
		err = s.close()
	}
	return err
}

// holder reads the pid in a lock file; its process may be writing it.
func holder(b []byte) string {
	if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && pid > 0 {
		return strconv.Itoa(pid)
	}
	return "unknown"
}

func (s *stateDir) path(name string) string { return filepath.Join(s.dir, name) }

// close gives the directory back. The lock file stays: removing it would let two processes lock two files of
// one name.
func (s *stateDir) close() error { return errors.Join(unlock(s.lock), s.lock.Close()) }

// nextIncarnation counts this start. The number is on the disk before it is used.
func (s *stateDir) nextIncarnation() (uint64, error) {
	last, err := incarnationIn(s.dir)
	if err != nil {
		return 0, err
	}
	return last + 1, countTo(s.dir, last+1)
}

// Skip has the next start of the peer of a state directory, which this process has open, have a larger number than n.
func Skip(dir string, n uint64) error {
	last, err := incarnationIn(dir)
	if err != nil || last >= n {
		return err
	}
	return countTo(dir, n)
}

// incarnationIn is the number of the last start; 0: there was none.
func incarnationIn(dir string) (last uint64, err error) {
	path := filepath.Join(dir, incarnationFile)
	b, err := readState(path)
	if err != nil || b == nil {
		return 0, err
	}
	text := strings.TrimSpace(string(b))
	if last, err = strconv.ParseUint(text, 10, incarnationBits); err != nil {
		const shown = 40
		return 0, stateError(path, "is damaged: write a number larger than that of any earlier start into it",
			fmt.Errorf("%.*q, %d bytes, is no such number below %d", shown, text, len(b), 1<<incarnationBits))
	}
	return last, nil
}

func countTo(dir string, n uint64) error {
	return writeDurably(filepath.Join(dir, incarnationFile), []byte(strconv.FormatUint(n, 10)+"\n"))
}
