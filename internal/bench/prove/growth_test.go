package main

import (
	"math"
	"strings"
	"testing"
)

// Guards the estimate of what comes next: an exact series goes on as it is, one that is not has bounds around what the
// formula gives by hand, and nothing is estimated before t = 14 is there.
func TestGrowth(t *testing.T) {
	exact := []float64{1, 3, 9, 27, 81, 243, 729}
	l := fitted(exact)
	if factor, err := l.step(); math.Abs(factor-3) > 1e-9 || err > 1e-6 {
		t.Errorf("grows by %g ± %g", factor, err)
	}
	if v, from, to := l.next(7); math.Abs(v-2187) > 1e-6 || v-from > 1e-3 || to-v > 1e-3 {
		t.Errorf("2187 is next: %g, %g to %g", v, from, to)
	}
	// ln 1, e, e, e^2: slope 0.6, at 0.1; squares of what is left 0.01, 0.09, 0.09, 0.01, so 0.1 each; at 4 that is
	// 4.30 sqrt(0.1 (1 + 1/4 + 2.5^2/5)).
	e := math.E
	l = fitted([]float64{1, e, e, e * e})
	v, from, to := l.next(4)
	if off := 4.30 * math.Sqrt(0.1*2.5); math.Abs(math.Log(v)-2.5) > 1e-9 ||
		math.Abs(math.Log(to/v)-off) > 1e-9 || math.Abs(math.Log(v/from)-off) > 1e-9 {
		t.Errorf("%g, %g to %g", v, from, to)
	}
	if text := grown(exact); !strings.Contains(text, "| 15 | 2.2e+03 |") || !strings.Contains(text, "| 20 |") {
		t.Error(text)
	}
	if text := grown(exact[:6]); strings.Contains(text, "|") {
		t.Errorf("estimated before t = 14: %s", text)
	}
}

// Guards that growth refuses what is no series.
func TestGiven(t *testing.T) {
	for _, words := range [][]string{nil, {"1", "2", "3"}, {"1", "2", "3", "x"}, {"1", "2", "3", "0"},
		{"1", "2", "3", "NaN"}, {"1", "2", "3", "Inf"}} {
		if c, err := given(words); err == nil {
			t.Errorf("%q is %v", words, c)
		}
	}
}
