package control

import (
	"errors"
	"fmt"

	"github.com/satin-peer/satin/internal/report"
)

// What errors of a Daemon wrap. They pass the socket: an error of a Client is of the same kind as the
// daemon's, with its text.
var (
	ErrBadInput = report.ErrBadInput
	ErrNotFound = report.ErrNotFound
	ErrRefused  = report.ErrRefused
	// it may work later: a peer did not answer in time, the daemon is leaving
	ErrUnavailable = report.ErrUnavailable
)

// ErrNotRunning is what errors of [Connect] wrap when there is no daemon to talk to.
var ErrNotRunning = errors.New("no daemon is running")

// A RunningError says that a live daemon has the directory.
type RunningError struct {
	Dir string
	PID int // of the daemon; 0 if it has not said
}

func (e *RunningError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("another daemon uses %s", e.Dir)
	}
	return fmt.Sprintf("another daemon, process %d, uses %s", e.PID, e.Dir)
}

// An Error is an error with one of the kinds above, whose text is Text alone. A Daemon may return one to be plain.
type Error struct {
	Kind error // a sentinel of this package; nil for a failure of the daemon
	Text string
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.Kind }

// Errorf makes an Error of a kind.
func Errorf(kind error, format string, args ...any) error {
	return &Error{kind, fmt.Sprintf(format, args...)}
}
