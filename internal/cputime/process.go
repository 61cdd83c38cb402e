package cputime

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Tick is the unit of /proc's processor times; Linux reports them in 1/100 s on every architecture that Go supports.
const Tick = 10 * time.Millisecond

// Of is the processor time that a process and the children that it waited for have used, from /proc/PID/stat;
// 0 where the system has none, or no such process.
func Of(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // past the name, which may contain anything
	fields := strings.Fields(rest)
	const first, last = 11, 14 // user and system time, and the children's
	if len(fields) <= last {
		return 0
	}
	var ticks int64
	for _, field := range fields[first : last+1] {
		v, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0
		}
		ticks += v
	}
	return time.Duration(ticks) * Tick
}
