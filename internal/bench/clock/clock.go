// Package clock measures what a piece of code costs, inside the process that runs it.
package clock

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// A Cost is what a call took: wall-clock time, the CPU time of all threads of the process, and memory.
type Cost struct {
	Wall, CPU time.Duration
	Bytes     uint64 // allocated on the heap
}

// Process is the CPU time that this process has used so far.
func Process() time.Duration { return read(unix.CLOCK_PROCESS_CPUTIME_ID) }

// Thread is the CPU time that the calling thread has used so far; the goroutine must be locked to it.
func Thread() time.Duration { return read(unix.CLOCK_THREAD_CPUTIME_ID) }

func read(id int32) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		panic(fmt.Sprintf("clock %d cannot be read: %v", id, err))
	}
	return time.Duration(ts.Nano())
}

// Best calls f so many times and gives the cheapest call's wall and CPU time, each for itself, and the mean
// of what a call allocates. The least of some calls in a row is the one that other programs disturbed least.
func Best(times int, f func()) Cost {
	var before, after runtime.MemStats
	best := Cost{Wall: 1 << 62, CPU: 1 << 62}
	runtime.ReadMemStats(&before)
	for range times {
		cpu, wall := Process(), time.Now()
		f()
		best.Wall = min(best.Wall, time.Since(wall))
		best.CPU = min(best.CPU, Process()-cpu)
	}
	runtime.ReadMemStats(&after)
	best.Bytes = (after.TotalAlloc - before.TotalAlloc) / uint64(times)
	return best
}
