package engine

import (
	"syscall"
	"unsafe"
)

// schedIdle is SCHED_IDLE of sched(7): to run when no other thread of the same group wants the core.
const schedIdle = 5

// lowerPriority makes the calling thread nicer, and idle if that is wished. On Linux both belong to the
// thread, which threads that Go starts later do not inherit: they are never made by one that is locked. A
// refusal is harmless.
func lowerPriority(nice int, idle bool) {
	if nice > 0 {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), nice)
	}
	if idle {
		var param struct{ priority int32 } // 0, the only one that SCHED_IDLE has
		_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_SETSCHEDULER, 0, schedIdle, uintptr(unsafe.Pointer(&param)))
	}
}
