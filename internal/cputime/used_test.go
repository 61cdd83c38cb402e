package cputime

import (
	"testing"
	"time"
)

// TestUsed guards that the time goes on while this process computes.
func TestUsed(t *testing.T) {
	for _, clock := range []func() time.Duration{Used, Thread} {
		before := clock()
		for begun := time.Now(); clock()-before < 20*time.Millisecond; {
			if time.Since(begun) > 8*time.Minute {
				t.Fatal("a minute of work is no time")
			}
		}
	}
}
