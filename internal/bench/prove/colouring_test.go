package main

import (
	"math"
	"testing"
	"time"
)

// Guards that what the walk calls a colouring is one, by a look at each pair of numbers, and that what it keeps while
// it flips is what a new count gives.
func TestColouring(t *testing.T) {
	const of = 9
	n := numbers[of-3] - 1
	colours, _ := coloured(of, n, 1, time.Unix(math.MaxInt32, 0))
	if len(colours) != n {
		t.Fatalf("%q", colours)
	}
	for colour, k := range map[byte]int{'0': 3, '1': of} {
		for a := range n {
			for d := 1; a+(k-1)*d < n; d++ {
				same := 0
				for i := range k {
					if colours[a+i*d] == colour {
						same++
					}
				}
				if same == k {
					t.Fatalf("%s: from %d on %d are %c, %d apart", colours, a+1, k, colour, d)
				}
			}
		}
	}

	w := newWalker(30, append(progressions(3, 30, 1), progressions(5, 30, -1)...), 2)
	w.begin()
	for range 1000 {
		w.flip(1 + w.chance.IntN(30))
		w.shift()
	}
	gains, wrong := make([]int, len(w.gain)), 0
	for c, literals := range w.clauses {
		right, only := 0, 0
		for _, l := range literals {
			if w.model[max(l, -l)] == (l > 0) {
				right, only = right+1, max(l, -l)
			}
		}
		for _, l := range literals {
			if right == 0 {
				gains[max(l, -l)] += w.weight[c]
			}
		}
		if right == 0 {
			wrong++
		} else if right == 1 {
			gains[only] -= w.weight[c]
		}
		if w.weight[c] < 1 {
			t.Fatalf("clause %d weighs %d", c, w.weight[c])
		}
	}
	if wrong != len(w.wrong) {
		t.Errorf("%d clauses are false, and it has %d", wrong, len(w.wrong))
	}
	for v := 1; v < len(gains); v++ {
		if gains[v] != w.gain[v] {
			t.Errorf("a flip of %d gains %d, and it has %d", v, gains[v], w.gain[v])
		}
	}
}
