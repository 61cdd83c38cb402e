package cputime

import (
	"os"
	"runtime"
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

// TestOf guards that another process's time is found where it is: this one's, which it has used as it says itself.
func TestOf(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells it in /proc")
	}
	for Used() < 3*Tick {
	}
	if got := Of(os.Getpid()); got < Tick {
		t.Errorf("this process has used %v, by /proc %v", Used(), got)
	}
	if got := Of(-1); got != 0 {
		t.Errorf("no process has used %v", got)
	}
}
