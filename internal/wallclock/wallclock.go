// Package wallclock makes the times that a program reads while its clock is set, forward or back by any amount: for
// tests, and for the simulator of the life of runs. What time.Now gives has two readings, the date on the wall and that
// of a clock which nobody sets, and time.Time.Sub goes by the second one. No function of package time gives a time of
// two readings that somebody has chosen, so this one does it by how a time lies in memory.
package wallclock

import (
	"time"
	"unsafe"
)

// Time is what time.Now gives when the wall shows a date from 1885 to 2157, so long after the program has begun.
func Time(wall time.Time, running time.Duration) time.Time {
	const bothReadings, secondsShift, begin = 1 << 63, 30, -2682288000 // the year 1885
	t := time.Time{}
	x := (*layout)(unsafe.Pointer(&t))
	x.wall = bothReadings | uint64(wall.Unix()-begin)<<secondsShift | uint64(wall.Nanosecond())
	x.running = int64(running)
	return t
}

// Set is what time.Now would give, in a bubble of testing/synctest, with a wall that is wrong by so much.
func Set(now time.Time, wrong time.Duration) time.Time {
	return Time(now.Add(wrong), time.Duration(now.UnixNano())) // there it has one reading
}

// layout is that of a time.Time, since Go 1.9.
type layout struct {
	wall    uint64
	running int64
	_       *time.Location
}
