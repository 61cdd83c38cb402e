package nqueens

import "testing"

// Every board of a search is let in where it arrives, and what no search makes is not.
func TestChecks(t *testing.T) {
	boards := 0
	var below func(b Board)
	below = func(b Board) {
		if boards++; b.check() != nil {
			t.Fatalf("%+v: %v", b, b.check())
		}
		if b.left() > 0 {
			for next := range b.moves {
				below(next)
			}
		}
	}
	for n := 2; n <= 8; n++ {
		below(empty(n, 0))
	}
	if boards < 100 {
		t.Errorf("there were %d boards only", boards)
	}
	for _, q := range []Queens{{0, 0}, {MaxN + 1, 0}, {-1, 0}, {8, -1}, {8, MaxN + 1}} {
		if q.check() == nil {
			t.Errorf("%+v is let in", q)
		}
	}
	for _, b := range []Board{{}, {N: MaxN + 1}, {N: -5}, {N: 8, Leaf: -1}, {N: 8, Row: -1}, {N: 8, Row: 9},
		{N: 8, Free: 1 << 8}} {
		if b.check() == nil {
			t.Errorf("%+v is let in", b)
		}
	}
}
