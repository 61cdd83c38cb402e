package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// Thread is the processor time of the thread that asks. Between two questions of a goroutine that does not wait the
// thread is nearly always the same.
func Thread() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
