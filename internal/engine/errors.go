package engine

import (
	"errors"
	"runtime"
	"runtime/debug"

	"github.com/satin-peer/satin/job"
)

// ErrAborted is the error of a job that Abort, an early end of a Results loop, or the end of the run's
// context dropped.
var ErrAborted = errors.New("satin: aborted")

// ErrClosed is returned by what a closed Pool is asked to do.
var ErrClosed = errors.New("satin: the pool is closed")

// errGoexit stands for a panic value when a job ended its goroutine.
var errGoexit = errors.New("the job called runtime.Goexit")

// Name makes err, returned by the running job of function d, name that job.
func (w *Worker) Name(d *Desc, err error) error {
	if je := (*job.Error)(nil); errors.As(err, &je) {
		return err
	}
	return &job.Error{ID: w.ID(), Func: d.Name, Err: err}
}

// failure turns what a job panicked with into the error that its spawner gets. It must be called by the function that
// recovered, before the worker forgets which frame was running: the function given still tells which one panicked.
func failure(v any, running func() job.ID) *job.Error {
	if je, ok := v.(*job.Error); ok {
		return je
	}
	if v == nil {
		v = errGoexit
	}
	return &job.Error{ID: running(), Func: panickingFunc(), Panic: v, Stack: debug.Stack()}
}

// panickingFunc gives the registered name of the innermost job function on the panicking stack.
func panickingFunc() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	t := registered.Load()
	for {
		f, more := frames.Next()
		if d := t.bySymbol[f.Function]; d != nil {
			return d.Name
		}
		if !more {
			return ""
		}
	}
}
