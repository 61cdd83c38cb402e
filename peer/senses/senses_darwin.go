package senses

import (
	"context"
	"os/exec"
	"time"
)

func onBattery() bool { return macBattery(say("/usr/bin/pmset", "-g", "batt")) }

func metered() bool { return false } // the system does not tell programs without a library of its own

func untouched() (time.Duration, bool) {
	return macUntouched(say("/usr/sbin/ioreg", "-c", "IOHIDSystem", "-d", "4"))
}

// say gives what a program prints; "" if it fails.
func say(program string, args ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		return ""
	}
	return string(out)
}
