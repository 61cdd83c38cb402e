package peer

import (
	"runtime/debug"
	"time"
)

// A thrift says when memory is to be given back to the system: as soon as no run is in progress any more, and from then
// on every minute, since what is done all the time takes some of it again.
type thrift struct{ last time.Time }

const thriftEvery = time.Minute

// due is asked all the time; busy says that a run is in progress.
func (t *thrift) due(busy bool, now time.Time) bool {
	if busy {
		t.last = time.Time{}
		return false
	}
	if now.Sub(t.last) < thriftEvery {
		return false
	}
	t.last = now
	return true
}

// giveBack gives memory back: first what ended runs have left (the engine has the collector come seldom, so it would
// stay for hours of idleness), then the pages of this program's own file, which is most of what a daemon has that does
// nothing. Their content is in the system's cache of files as long as nobody needs that memory, so taking a page up
// again costs a microsecond, and all of it less than a millisecond.
func giveBack() {
	debug.FreeOSMemory()
	letGoOfFiles()
}
