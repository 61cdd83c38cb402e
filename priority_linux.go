package satin

import "syscall"

// lowerPriority makes the calling thread nicer. On Linux the priority belongs to the thread. A refusal is harmless.
func lowerPriority(nice int) {
	if nice > 0 {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, syscall.Gettid(), nice)
	}
}
