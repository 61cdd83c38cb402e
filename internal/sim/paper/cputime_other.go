//go:build !unix

package paper

import "time"

// cpuTime is the time on the wall where the system has no other: measure on a quiet machine.
func cpuTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
