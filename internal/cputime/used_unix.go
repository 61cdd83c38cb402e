//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Used is the processor time that this process has used, on all processors: other programs do not show in it.
func Used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no reason to fail
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
