package engine

import (
	"syscall"
	"unsafe"
)

func threadID() int { return syscall.Gettid() }

// threadTime gives the processor time that a thread of this process has had, in ns. Its clock is named by its
// number's complement, a bit for threads and 2 for what the scheduler has counted: clock_getcpuclockid(3), and
// pthread_getcpuclockid for threads.
func threadTime(id int) int64 {
	const perThread, scheduled = 4, 2
	var t syscall.Timespec
	clock := ^uintptr(id)<<3 | perThread | scheduled
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0)
	if errno != 0 {
		return 0
	}
	return t.Nano()
}
