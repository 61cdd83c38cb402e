package main

import (
	"strings"
	"testing"
)

// A contender that counts something else than its twin is not worth measuring.
func TestContendersAgree(t *testing.T) {
	sizes := map[string]int{"fib": 15, "queens": 6, "uts": 1}
	want := map[string]int{"fib": 610, "queens": 4, "uts": 459457}
	for name, c := range contenders() {
		if strings.HasSuffix(name, ".bounded") {
			continue // hangs, which the bench shows
		}
		kernel, _, _ := strings.Cut(name, ".")
		if got := c.run(sizes[kernel], 1); got != want[kernel] {
			t.Errorf("%s gives %d, want %d", name, got, want[kernel])
		}
	}
}

// The prices are per job, so the bench must know how many there are.
func TestJobsAreCounted(t *testing.T) {
	sizes := map[string]int{"fib": 20, "queens": 8, "uts": 1}
	for kernel, size := range sizes {
		c := contenders()[kernel+".satin"]
		before := spawned(t)
		c.run(size, 1)
		if got := int(spawned(t) - before); got != c.jobs(size) {
			t.Errorf("%s spawns %d jobs, not %d", kernel, got, c.jobs(size))
		}
	}
}

func spawned(t *testing.T) uint64 {
	t.Helper()
	satinRun(1, fib, 1) // makes the pool
	return pools[1].Stats().Spawned
}
