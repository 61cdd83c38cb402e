package senses

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// onBattery asks ACPI whether the AC line is off; machines without one do not know.
func onBattery() bool {
	line, err := unix.SysctlUint32("hw.acpi.acline")
	return err == nil && line == 0
}

func metered() bool { return false } // the system does not know

func untouched() (time.Duration, bool) { return terminalsUntouched(terminals, time.Now()) }

func accessed(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Atimespec.Unix())
	}
	return time.Time{}
}
