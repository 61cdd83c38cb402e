package engine

import (
	"bytes"
	"runtime"
	"strconv"
)

// refuse panics if it is called by a job of this pool: what waits in there for another job of the pool, or for its
// workers, keeps the core that it waits for. It costs nothing while no job runs, and some microseconds else.
func (s *scheduler) refuse(what string) {
	self := uint64(0)
	for _, w := range *s.workers.Load() {
		if !w.busy.Load() {
			continue
		}
		if self == 0 {
			self = goroutineID()
		}
		if w.goroutine.Load() == self && self != 0 {
			panic("satin: " + what +
				" was called by a job on its own pool, which may wait for itself for ever; a job spawns others with Spawn or Fork")
		}
	}
}

// goroutineID reads the number of the running goroutine off the head of its stack trace, "goroutine 18
// [running]:"; 0 if it cannot be told. Go has no other way that does not need something passed along, and
// jobs may call anything.
func goroutineID() uint64 {
	var head [40]byte
	fields := bytes.Fields(head[:runtime.Stack(head[:], false)])
	if len(fields) < 2 {
		return 0
	}
	id, err := strconv.ParseUint(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return id
}
