package peer

import (
	"testing"

	"github.com/satin-peer/satin/adapt"
)

// With fewer cores than runs each has its turn.
func TestTurns(t *testing.T) {
	served := make([]int, 3)
	a := &arbiter{cores: 1}
	current := make([]int, 3)
	for i := range served {
		a.join(&allotment{most: 4, finish: func(bool) {}, dry: func() bool { return false },
			set: func(c int, _ bool) { current[i] = c }})
	}
	for range 300 {
		if d := a.next(); d != adapt.TurnEvery {
			t.Fatalf("a turn of %v", d)
		}
		for i, c := range current {
			served[i] += c
		}
	}
	for i, n := range served {
		if n != 100 {
			t.Errorf("run %d had a core in %d of 300 turns", i, n)
		}
	}
}

// A run that has no jobs for its cores lends them to the others, and keeps one to hear of jobs by.
func TestDryRunLendsItsCores(t *testing.T) {
	var busy, dry int
	a := &arbiter{cores: 8}
	a.join(&allotment{most: 8, finish: func(bool) {}, dry: func() bool { return false },
		set: func(c int, _ bool) { busy = c }})
	a.join(&allotment{most: 8, finish: func(bool) {}, dry: func() bool { return true },
		set: func(c int, _ bool) { dry = c }})
	if busy != 7 || dry != 1 {
		t.Errorf("busy %d, dry %d", busy, dry)
	}
	a.pause(true)
	if busy != 0 || dry != 0 {
		t.Errorf("paused: busy %d, dry %d", busy, dry)
	}
	a.allow(2, 0)
	a.pause(false)
	if busy != 1 || dry != 1 {
		t.Errorf("two cores: busy %d, dry %d", busy, dry)
	}
}
