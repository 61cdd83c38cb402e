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

// Of is the processor time that a process and the children that it waited for have used; 0 where the system does not
// tell, or there is no such process.
func Of(pid int) time.Duration {
	own, children := Parts(pid)
	return own + children
}

// Parts is what the process has used itself, and what the children did, from /proc/PID/stat.
func Parts(pid int) (own, children time.Duration) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // past the name, which may contain anything
	fields := strings.Fields(rest)
	const first = 11 // user and system time, and the children's
	var ticks [4]int64
	if len(fields) < first+len(ticks) {
		return 0, 0
	}
	for i := range ticks {
		if ticks[i], err = strconv.ParseInt(fields[first+i], 10, 64); err != nil {
			return 0, 0
		}
	}
	return time.Duration(ticks[0]+ticks[1]) * Tick, time.Duration(ticks[2]+ticks[3]) * Tick
}
