package agenda

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// What is put down happens by time, and in the same moment first put down, first done.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a Agenda
		type mark struct {
			at time.Duration
			n  int
		}
		var want, got []mark
		for n, at := range rapid.SliceOf(rapid.IntRange(0, 5)).Draw(t, "times") {
			m := mark{time.Duration(at), n}
			want = append(want, m)
			a.Post(m.at, func() { got = append(got, m) })
		}
		slices.SortStableFunc(want, func(x, y mark) int { return int(x.at - y.at) })
		for due, ok := a.Due(); ok; due, ok = a.Due() {
			at, do := a.Next()
			if do(); at != due || got[len(got)-1].at != at {
				t.Fatalf("due at %d, taken off at %d, it was for %v", due, at, got[len(got)-1])
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
