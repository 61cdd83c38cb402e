package port_test

import (
	"testing"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
)

// A core is told what it cannot work out from its own orders, and nothing else.
func TestDiffers(t *testing.T) {
	for _, c := range []struct {
		what      string
		told, now steal.Load
		want      bool
	}{
		{"nothing has happened", steal.Load{Workers: 2, Idle: 1}, steal.Load{Workers: 2, Idle: 1}, false},
		{"a worker is idle", steal.Load{Workers: 2}, steal.Load{Workers: 2, Idle: 1}, true},
		{"one has found a job here", steal.Load{Workers: 2, Idle: 1}, steal.Load{Workers: 2}, true},
		{"one has begun what it was given", steal.Load{Workers: 2, Idle: 2, Runs: 4},
			steal.Load{Workers: 2, Idle: 1, Runs: 5}, false},
		{"it has ended that", steal.Load{Workers: 2, Idle: 2, Runs: 4}, steal.Load{Workers: 2, Idle: 2, Runs: 5}, true},
		{"more was given than can begin", steal.Load{Workers: 2, Idle: 1, Runs: 4}, steal.Load{Workers: 2, Runs: 7},
			false},
		{"and another one is idle all the same", steal.Load{Workers: 2, Idle: 1, Runs: 4},
			steal.Load{Workers: 2, Idle: 1, Runs: 7}, true},
		{"there is a job to give", steal.Load{Workers: 2}, steal.Load{Workers: 2, Queued: 1}, true},
		{"there are some more", steal.Load{Workers: 2, Queued: 1}, steal.Load{Workers: 2, Queued: 2}, false},
		{"there are many", steal.Load{Workers: 2, Queued: 1}, steal.Load{Workers: 2, Queued: 3}, true},
		{"a core was taken away", steal.Load{Workers: 2}, steal.Load{Workers: 1}, true},
	} {
		if got := port.Differs(&c.now, &c.told); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

// Less to give is told later than all else, unless it is more than that.
func TestLess(t *testing.T) {
	told := steal.Load{Workers: 2, Idle: 1, Queued: 3, Runs: 4}
	for _, c := range []struct {
		what string
		now  steal.Load
		want bool
	}{
		{"there is nothing to give", steal.Load{Workers: 2, Idle: 1, Runs: 4}, true},
		{"there is one left", steal.Load{Workers: 2, Idle: 1, Queued: 1, Runs: 4}, true},
		{"as much", steal.Load{Workers: 2, Idle: 1, Queued: 4, Runs: 4}, false},
		{"a worker has begun what it was given, too", steal.Load{Workers: 2, Runs: 5}, true},
		{"a worker has found a job, too", steal.Load{Workers: 2, Runs: 4}, false},
		{"a worker is idle, too", steal.Load{Workers: 2, Idle: 2, Runs: 4}, false},
		{"a core was taken away, too", steal.Load{Workers: 1, Idle: 1, Runs: 4}, false},
	} {
		if got := port.Less(&c.now, &told); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
	if told.Queued = 0; port.Less(&steal.Load{Workers: 2, Idle: 1, Queued: 1, Runs: 4}, &told) {
		t.Error("there is more")
	}
}
