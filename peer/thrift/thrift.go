// Package thrift gives memory back to the system while a daemon has nothing to do. Giving it back takes milliseconds,
// and may be done beside everything else.
package thrift

import (
	"runtime/debug"
	"time"
)

// A Thrift says when memory is to be given back to the system: when no run has been in progress for a while, as it
// takes longer than a short run does, and from then on every minute, since what is done all the time takes some of it
// again.
type Thrift struct {
	Next time.Time // when it is due, unless a run is in progress then; zero: there was one at the last look
}

const (
	after = 5 * time.Second
	every = time.Minute
)

// Due is asked all the time; busy says that a run is in progress.
func (t *Thrift) Due(busy bool, now time.Time) bool {
	switch {
	case busy:
		t.Next = time.Time{}
	case t.Next.IsZero():
		t.Next = now.Add(after)
	case !now.Before(t.Next):
		t.Next = now.Add(every)
		return true
	}
	return false
}

// GiveBack gives memory back: first what ended runs have left (the engine has the collector come seldom, so it would
// stay for hours of idleness), then the pages of this program's own file, which is most of what a daemon has that does
// nothing. Their content is in the system's cache of files as long as nobody needs that memory, so taking a page up
// again costs a microsecond, and all of it less than a millisecond.
func GiveBack() {
	debug.FreeOSMemory()
	letGoOfFiles()
}
