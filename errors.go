package satin

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// ErrAborted is the error of a job that Abort, an early end of a Results loop, or the end of the run's
// context dropped.
var ErrAborted = errors.New("satin: aborted")

// ErrClosed is returned by what a closed Pool is asked to do.
var ErrClosed = errors.New("satin: the pool is closed")

// errGoexit stands for a panic value when a job ended its goroutine.
var errGoexit = errors.New("the job called runtime.Goexit")

// A JobError says that a job failed, and which. It travels to the job's spawner, however far away the job ran, and
// keeps naming the job that failed first.
type JobError struct {
	ID    JobID  // the job that failed
	Func  string // the name its function was registered under; empty if it could not be told
	Peer  string // the peer it ran on; empty for this one
	Err   error  // the error it returned, or nil when it panicked
	Panic any    // what it panicked with, or nil
	Stack []byte // where it panicked; nil for an error
}

// Error names the job, its function and peer, and what went wrong, without the stack.
func (e *JobError) Error() string {
	s := "satin: job " + e.ID.String()
	if e.Func != "" {
		s += " (" + e.Func + ")"
	}
	if e.Peer != "" {
		s += " on " + e.Peer
	}
	if e.Err != nil {
		return s + ": " + e.Err.Error()
	}
	return s + " panicked: " + fmt.Sprint(e.Panic)
}

// Unwrap gives the error that the job returned or panicked with, nil for another panic value.
func (e *JobError) Unwrap() error {
	if e.Err != nil {
		return e.Err
	}
	err, _ := e.Panic.(error)
	return err
}

// name makes err, returned by the running job of function d, name that job.
func (f *Frame) name(d *funcDesc, err error) error {
	if je := (*JobError)(nil); errors.As(err, &je) {
		return err
	}
	return &JobError{ID: f.ID(), Func: d.name, Err: err}
}

// failure turns what a job of w panicked with into the error that its spawner gets. It must be called by the function
// that recovered, before the worker forgets which frame was running: w.cur still tells which one panicked.
func (w *worker) failure(v any) *JobError {
	if je, ok := v.(*JobError); ok {
		return je
	}
	if v == nil {
		v = errGoexit
	}
	return &JobError{ID: w.runningID(), Func: panickingFunc(), Panic: v, Stack: debug.Stack()}
}

// panickingFunc gives the registered name of the innermost job function on the panicking stack.
func panickingFunc() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	t := registered.Load()
	for {
		f, more := frames.Next()
		if d := t.bySymbol[f.Function]; d != nil {
			return d.name
		}
		if !more {
			return ""
		}
	}
}
