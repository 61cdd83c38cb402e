package engine

import (
	"syscall"
	"unsafe"
)

// Of <sys/rtprio.h>. Who may have idle priority is a setting there: security.bsd.unprivileged_idprio.
const (
	rtpSet      = 1
	rtpPrioIdle = 4
	rtpPrioMax  = 31 // the lowest
)

const idleName = "idprio"

func system() thread { return freebsdThread{} }

// A freebsdThread has an idle priority for itself, and shares nice with its process.
type freebsdThread struct{}

func (freebsdThread) idle() error {
	param := struct{ kind, priority uint16 }{rtpPrioIdle, rtpPrioMax}
	_, _, errno := syscall.RawSyscall(syscall.SYS_RTPRIO_THREAD, rtpSet, 0, uintptr(unsafe.Pointer(&param)))
	if errno != 0 {
		return errno
	}
	return nil
}

func (freebsdThread) nice(n int) error { return syscall.Setpriority(syscall.PRIO_PROCESS, 0, n) }
