package engine

import (
	"errors"
	"fmt"
	"runtime"
)

// A thread is what a system can do to the priority of the calling thread, which is locked to its goroutine. What it
// does, threads that Go starts later do not inherit: they are never made by one that is locked.
type thread interface {
	// idle has it run only when nothing else wants the core, or as near to that as the system comes.
	idle() error
	// nice lowers its priority by 1 to maxNice; where a system has that for whole processes only, of the process.
	nice(n int) error
}

const maxNice = 19

// errNoPriority is of systems that are not known to have any.
var errNoPriority = errors.New("this system has no priority of threads that is known here")

// lowerPriority makes a thread nicer, or idle if that is wished, or if it may not be idle, as nice as there is. That
// the system refuses is harmless.
func lowerPriority(t thread, nice int, idle bool) {
	if idle {
		if t.idle() == nil {
			return
		}
		nice = maxNice
	}
	if nice > 0 {
		_ = t.nice(nice)
	}
}

// ownThread runs f on a thread that ends with it, maybe after ownThread has returned. The first thread of a process
// does not end before that, and keeps its priority: the end of a process waits for it, and an idle one gets no core for
// minutes where others want all.
func ownThread(first func() bool, f func()) {
	runtime.LockOSThread() // and never unlocks, unless f is elsewhere
	if !first() {
		f()
		return
	}
	elsewhere := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		close(elsewhere)
		f()
	}()
	<-elsewhere
	runtime.UnlockOSThread()
}

// Beside runs f, the application's code outside of jobs, on a thread of its own with the workers' priority, and waits
// for its end.
func (p *Pool) Beside(f func()) {
	processors.beside(1)
	defer processors.beside(-1)
	ended := make(chan struct{})
	go ownThread(firstThread, func() {
		defer close(ended)
		lowerPriority(system(), p.cfg.Nice, p.cfg.Idle)
		f()
	})
	<-ended
}

// IdlePriority tries what this system gives to the workers of a pool with Config.Idle, on a thread that ends with
// that. It says in one line what is in force, and whether that is the lowest priority.
func IdlePriority() (text string, lowest bool) {
	tried := make(chan error)
	go ownThread(firstThread, func() { tried <- system().idle() })
	return describeIdle(<-tried)
}

func describeIdle(refused error) (text string, lowest bool) {
	switch {
	case refused == nil:
		return "only when nothing else wants the core (" + idleName + ")", true
	case errors.Is(refused, errNoPriority):
		return "at normal priority: " + refused.Error(), false
	}
	return fmt.Sprintf("at most at nice %d: the system refused %s: %v", maxNice, idleName, refused), false
}
