package peer

import (
	"testing"

	"github.com/satin-peer/satin/adapt"
	"github.com/satin-peer/satin/peer/session"
	"github.com/satin-peer/satin/steal"
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

// A run that has no jobs for its cores lends all of them, has its part at once when it has one, and keeps one that
// nobody else wants.
func TestDryRunLendsItsCores(t *testing.T) {
	var busy, other int
	dry := true
	a := &arbiter{cores: 8}
	one := &allotment{owner: "x", most: 8, finish: func(bool) {}, dry: func() bool { return false },
		set: func(c int, _ bool) { busy = c }}
	a.join(one)
	a.join(&allotment{owner: "y", most: 8, finish: func(bool) {}, dry: func() bool { return dry },
		set: func(c int, _ bool) { other = c }})
	want := func(what string, b, o int) {
		t.Helper()
		if busy != b || other != o {
			t.Errorf("%s: %d and %d cores, want %d and %d", what, busy, other, b, o)
		}
	}
	want("dry", 8, 0)
	dry = false
	a.again()
	want("with a job", 4, 4)
	dry, one.most = true, 2
	a.next()
	want("beside one that may have two", 2, 1)
	a.pause(true)
	want("paused", 0, 0)
}

// Whoever holds nothing is dry: no job of others, not the root, none that others have and none that waits or runs.
func TestDry(t *testing.T) {
	idle := steal.Load{Workers: 2, Idle: 2}
	for _, c := range []struct {
		stats session.Stats
		dry   bool
	}{
		{session.Stats{Load: idle}, true},
		{session.Stats{}, true}, // without a core
		{session.Stats{Load: idle, Held: 1}, false},
		{session.Stats{Master: true}, false},
		{session.Stats{Load: idle, Given: 1}, false},
		{session.Stats{Load: steal.Load{Queued: 1}}, false},
		{session.Stats{Load: steal.Load{Workers: 2, Idle: 1}}, false},
	} {
		if dry(c.stats) != c.dry {
			t.Errorf("%+v: dry is %v", c.stats, !c.dry)
		}
	}
}
