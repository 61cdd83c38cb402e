package engine

import "testing"

// Children are given to their loop in the order in which they finished.
func TestReadyInOrder(t *testing.T) {
	var l readyList
	rec := func(group, depth uint64) *Record { return &Record{Group: group, ID: depth << DepthShift} }
	a1, b1, a2, c1, b2, dead := rec(1, 1), rec(2, 1), rec(1, 1), rec(3, 2), rec(2, 1), rec(4, 9)
	for _, r := range []*Record{a1, b1, a2, c1, b2, dead} {
		l.push(r)
	}
	for i, step := range []struct {
		group uint64
		want  *Record
	}{{2, b1}, {1, a1}, {2, b2}, {2, nil}, {3, c1}, {1, a2}, {1, nil}} {
		if got := l.take(step.group, 2<<DepthShift); got != step.want {
			t.Fatalf("step %d: took %p of group %d, want %p", i, got, step.group, step.want)
		}
	}
	if len(l) != 0 {
		t.Errorf("%d queues left, one of a frame that has ended", len(l))
	}
}
