package engine

import "sync/atomic"

// returned are the jobs of a worker that thieves have brought back and that it has not looked at, the newest first.
// Anybody may push and ask, the worker alone takes.
type returned struct{ newest atomic.Pointer[Record] }

// push is the thief's last touch of a record.
func (l *returned) push(r *Record) {
	for {
		r.next = l.newest.Load()
		if l.newest.CompareAndSwap(r.next, r) {
			return
		}
	}
}

func (l *returned) any() bool { return l.newest.Load() != nil }

// take gives what came back since the last time, linked by next, the oldest first; nil if nothing did.
func (l *returned) take() (oldest *Record) {
	if !l.any() {
		return nil
	}
	for r := l.newest.Swap(nil); r != nil; {
		r.next, oldest, r = oldest, r, r.next
	}
	return oldest
}
