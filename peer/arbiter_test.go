package peer

import (
	"testing"

	"pgregory.net/rapid"
)

// Cores are divided alike among the runs that want them, and what is left over goes round.
func TestShareOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores := rapid.IntRange(0, 16).Draw(t, "cores")
		want := rapid.SliceOfN(rapid.IntRange(0, 16), 1, 8).Draw(t, "want")
		turn := rapid.IntRange(0, 100).Draw(t, "turn")
		got := shareOut(cores, want, turn)
		sum, wanted := 0, 0
		for i := range got {
			sum, wanted = sum+got[i], wanted+want[i]
			if got[i] > want[i] {
				t.Fatalf("%d gets %d, wants %d", i, got[i], want[i])
			}
			for j := range got {
				if got[i] < want[i] && got[j] > got[i]+1 {
					t.Fatalf("%v: %d gets less than %d though it wants more", got, i, j)
				}
			}
		}
		if sum != min(cores, wanted) {
			t.Fatalf("%v: %d of %d cores, %d wanted", got, sum, cores, wanted)
		}
	})
}

// With fewer cores than runs each has its turn.
func TestTurns(t *testing.T) {
	served := make([]int, 3)
	a := &arbiter{cores: 1}
	current := make([]int, 3)
	for i := range served {
		a.join(&share{most: 4, dry: func() bool { return false }, set: func(c int) { current[i] = c }})
	}
	for range 300 {
		a.next()
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
	a.join(&share{most: 8, dry: func() bool { return false }, set: func(c int) { busy = c }})
	a.join(&share{most: 8, dry: func() bool { return true }, set: func(c int) { dry = c }})
	if busy != 7 || dry != 1 {
		t.Errorf("busy %d, dry %d", busy, dry)
	}
	a.pause(true)
	if busy != 0 || dry != 0 {
		t.Errorf("paused: busy %d, dry %d", busy, dry)
	}
	a.allow(2)
	a.pause(false)
	if busy != 1 || dry != 1 {
		t.Errorf("two cores: busy %d, dry %d", busy, dry)
	}
}
