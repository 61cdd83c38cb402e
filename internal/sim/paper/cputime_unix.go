//go:build unix

package paper

import (
	"syscall"
	"time"
)

// cpuTime is the processor time that this process has used, on all processors: other programs do not show in it.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no reason to fail
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
