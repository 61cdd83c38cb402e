package job

import "fmt"

// An Error says that a job failed, and which: package satin's JobError. It travels to the job's spawner,
// however far away the job ran, and keeps naming the job that failed first.
type Error struct {
	ID    ID     // the job that failed
	Func  string // the name its function was registered under; empty if it could not be told
	Peer  string // the peer it ran on; empty for this one
	Err   error  // the error it returned, or nil when it panicked
	Panic any    // what it panicked with, or nil
	Stack []byte // where it panicked; nil for an error
}

// ErrorPrefix is how each Error begins.
const ErrorPrefix = "satin: job "

// Error names the job, its function and peer, and what went wrong, without the stack.
func (e *Error) Error() string {
	s := ErrorPrefix + e.ID.String()
	if e.Func != "" {
		s += " (" + e.Func + ")"
	}
	if e.Peer != "" {
		s += " on " + e.Peer
	}
	if e.Err != nil {
		return s + ": " + fmt.Sprint(e.Err)
	}
	return s + " panicked: " + fmt.Sprint(e.Panic)
}

// Unwrap gives the error that the job returned or panicked with, nil for another panic value.
func (e *Error) Unwrap() error {
	if e.Err != nil {
		return e.Err
	}
	err, _ := e.Panic.(error)
	return err
}
