package sim

import "fmt"

// Invariants that every run is checked for, at every step unless something else is said. A violation ends the run with an
// error that names one of these.
const (
	exactResult  = "exact-result"  // at the end: the run's result is the sequential program's
	noHang       = "no-hang"       // the run ends within Config.Limit of virtual time and never runs out of events
	slotOnce     = "slot-once"     // a job given away is filled in or put back at most once, a frame gets one result a child
	segmentOnce  = "segment-once"  // a core never uses a segment number twice
	rightResult  = "right-result"  // an outcome that is delivered belongs to the job it is delivered to: path and identity
	rightJob     = "right-job"     // a job that is to be run is one that the tree has, with the identity it was sent with
	conservation = "conservation"  // on each peer, jobs that came in = queued + running + waiting + executed + aborted + given away
	allAccounted = "all-accounted" // at the end, without faults, if nothing was put back, copied or revoked: spawned = executed + aborted + still there
	timeForward  = "time-forward"  // no event lies in the past
	noSpin       = "no-spin"       // no peer sends more than maxRate messages within a second
)

// maxRate is the number of messages that no peer may exceed within any one virtual second, losses and floods included.
const maxRate = 50_000

// Violation says which invariant did not hold, where and how.
type Violation struct {
	Invariant string
	Text      string
	At        string // virtual time and peer, when known
}

func (v *Violation) Error() string {
	if v.At == "" {
		return v.Invariant + ": " + v.Text
	}
	return v.At + ": " + v.Invariant + ": " + v.Text
}

func violation(invariant, format string, args ...any) *Violation {
	return &Violation{Invariant: invariant, Text: fmt.Sprintf(format, args...)}
}

// books count what happens to jobs on one peer.
type books struct {
	entered  uint64 // the run's root and jobs of other peers
	spawned  uint64
	putBack  uint64
	given    uint64
	filled   uint64 // jobs given away whose result came back
	revoked  uint64 // jobs given away that are not wanted any more
	executed uint64
	aborted  uint64
	open     int64 // frames that wait
}
