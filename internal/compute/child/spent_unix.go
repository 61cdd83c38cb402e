//go:build unix

package child

import (
	"syscall"
	"time"
)

// stopwatch tells how much processor time this process has used since.
func stopwatch() func() time.Duration {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			panic(err) // it has no reason to fail
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	begun := used()
	return func() time.Duration { return used() - begun }
}
