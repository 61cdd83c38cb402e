package peer

import (
	"runtime/debug"
	"time"
)

// A thrift says when memory is to be given back to the system: when no run has been in progress for a while, as it
// takes longer than a short run does, and from then on every minute, since what is done all the time takes some of it
// again.
type thrift struct{ next time.Time }

const (
	thriftAfter = 5 * time.Second
	thriftEvery = time.Minute
)

// due is asked all the time; busy says that a run is in progress.
func (t *thrift) due(busy bool, now time.Time) bool {
	switch {
	case busy:
		t.next = time.Time{}
	case t.next.IsZero():
		t.next = now.Add(thriftAfter)
	case !now.Before(t.next):
		t.next = now.Add(thriftEvery)
		return true
	}
	return false
}

// giveBack gives memory back: first what ended runs have left (the engine has the collector come seldom, so it would
// stay for hours of idleness), then the pages of this program's own file, which is most of what a daemon has that does
// nothing. Their content is in the system's cache of files as long as nobody needs that memory, so taking a page up
// again costs a microsecond, and all of it less than a millisecond.
func giveBack() {
	debug.FreeOSMemory()
	letGoOfFiles()
}
