package arbiter

import (
	"testing"
	"time"

	"github.com/satin-peer/satin/adapt"
)

// With fewer cores than runs each has its turn.
func TestTurns(t *testing.T) {
	served := make([]int, 3)
	a := New(1)
	current := make([]int, 3)
	for i := range served {
		a.Join(&Allotment{Most: 4, Finish: func(bool) {}, Dry: func() bool { return false },
			Set: func(c int, _ bool) { current[i] = c }})
	}
	for range 300 {
		if d := a.Next(); d != adapt.TurnEvery {
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
	a := New(8)
	one := &Allotment{Owner: "x", Most: 8, Finish: func(bool) {}, Dry: func() bool { return false },
		Set: func(c int, _ bool) { busy = c }}
	a.Join(one)
	a.Join(&Allotment{Owner: "y", Most: 8, Finish: func(bool) {}, Dry: func() bool { return dry },
		Set: func(c int, _ bool) { other = c }})
	want := func(what string, b, o int) {
		t.Helper()
		if busy != b || other != o {
			t.Errorf("%s: %d and %d cores, want %d and %d", what, busy, other, b, o)
		}
	}
	want("dry", 8, 0)
	dry = false
	a.Again()
	want("with a job", 4, 4)
	dry, one.Most = true, 2
	a.Next()
	want("beside one that may have two", 2, 1)
	a.Pause(true)
	want("paused", 0, 0)
}

// Guards that the cores are said to be left alone just while they are.
func TestResting(t *testing.T) {
	a := New(1)
	a.Allow(1, 50)
	for range 20 {
		a.Next()
		a.Used(time.Hour) // they have done more than they may
	}
	if a.Resting() != 50 {
		t.Error("the cores are not said to be left alone")
	}
	a.Allow(1, 0)
	if a.Resting() != 0 {
		t.Error("nobody wants them to be left alone any more")
	}
}
