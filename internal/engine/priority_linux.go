package engine

import (
	"syscall"
	"unsafe"
)

// schedIdle is SCHED_IDLE of sched(7): to run when no other thread of the same group wants the core.
const schedIdle = 5

const idleName = "SCHED_IDLE"

func system() thread { return linuxThread{} }

// firstThread says whether the calling thread is the process's first.
func firstThread() bool { return syscall.Gettid() == syscall.Getpid() }

// A linuxThread has both priorities for itself.
type linuxThread struct{}

func (linuxThread) idle() error {
	var param struct{ priority int32 } // 0, the only one that SCHED_IDLE has
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETSCHEDULER, 0, schedIdle, uintptr(unsafe.Pointer(&param)))
	if errno != 0 {
		return errno
	}
	return nil
}

func (linuxThread) nice(n int) error {
	return syscall.Setpriority(syscall.PRIO_PROCESS, 0, n) // of the calling thread
}
