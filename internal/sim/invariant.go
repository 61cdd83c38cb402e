package sim

import (
	"fmt"
	"time"
)

// Invariants that every run is checked for, at every step unless something else is said; those marked (audit)
// only if Config.Audit is set, as it is in schedules. A violation ends the run with an error that names one
// of these.
const (
	exactResult = "exact-result" // at the end: the run's result is the sequential program's
	NoHang      = "no-hang"      // the run ends within Config.Limit after the last fault and never runs out of events
	// a job that is outside is filled in or put back at most once, a frame gets one result a child
	slotOnce    = "slot-once"
	segmentOnce = "segment-once" // a core never uses a segment number twice
	rightResult = "right-result" // an outcome that is used is that of the run, path and identity it is used for
	// a job that is to be run is one that the tree has, with the identity it was sent with
	rightJob = "right-job"
	// in each life of a peer, what came in = executed + salvaged + aborted + outside + still there
	conservation = "conservation"
	// at the end, without faults, if nothing was put back, copied or revoked: spawned = executed + aborted +
	// still there
	allAccounted = "all-accounted"
	timeForward  = "time-forward" // no event lies in the past
	// no peer sends more than maxRate messages within a second, or wants as many ticks
	noSpin = "no-spin"

	// (audit) a job runs again only if it, or one above it, is marked as restarted; a job goes back for a
	// reason that is counted
	hasCause = "has-cause"
	// (audit) what a frame waits for is queued, running, waiting or outside: no abort has removed it
	awaited       = "awaited"
	orphanRunsOn  = "orphan-runs-on"  // an owner's silence or goodbye aborts nothing, unless recovery is naive
	storedIsTrue  = "stored-is-true"  // (audit) what a checkpoint gives back is what the sequential program computes
	storedIsThere = "stored-is-there" // what a checkpoint has given back is in the core's table, or a job above it is
	// what was handed over and acknowledged is in the receiver's table, or a job above it is
	ackMeansStored = "ack-means-stored"
	// two leases after the last change, those who hear each other have one master, until there is an answer
	oneMaster = "one-master"
	oneAnswer = "one-answer" // every answer after the first equals it
	inBounds  = "in-bounds"  // messages, news and what is outside keep to the core's configuration
	// (Config.Frugal) little runs again whose outcome somebody has; (Config.MostAgain) nor for long what others are at
	nothingInVain = "nothing-in-vain"
	vouchedFor    = "vouched-for"     // (Config.Vouch) what is sent or stored carries its author's word
	touchedSaysSo = "touched-says-so" // (Config.Outcast) and names the outcast, if that had a hand in it
	// (Config.Outcast) who has heard of the outcast keeps nothing that it had a hand in, and brings no such thing home
	shunnedIsGone = "shunned-is-gone"
	onlyLiars     = "only-liars"   // (Config.Quorum) nobody is put out who has not lied
	proofHolds    = "proof-holds"  // (Quorum.Shows) a node that is wrong convinces others, with nothing above it
	seenLie       = "seen-lie"     // (Quorum.Shows) no outcome is used of which a node was run again and was wrong
	masterStays   = "master-stays" // no roster excludes the master
	noFlapping    = "no-flapping"  // without faults, growth follows release ever more rarely
	cancelStops   = "cancel-stops" // cancelGrace after a run was cancelled nobody works for it
)

// Of the leaves of a frugal run, one in vainShare and vainFew more may run again although who ran them is
// still there, or has left politely: those that began before news of them had arrived.
const (
	vainShare = 16
	vainFew   = 100
)

// cancelGrace is how long a cancelled run may take to stop.
const cancelGrace = 5 * time.Second

// maxRate is the number of messages, and of ticks, that no peer may exceed within any one virtual second, losses and
// floods included.
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
	found    uint64 // jobs not begun, since somebody has their results
	salvaged uint64 // those of them whose results came
	revoked  uint64 // jobs outside that are not wanted any more
	executed uint64
	aborted  uint64
	aborts   uint64 // times a frame gave up jobs of its own
	open     int64  // frames that wait
}

func (b *books) add(o books) {
	b.entered += o.entered
	b.spawned += o.spawned
	b.putBack += o.putBack
	b.given += o.given
	b.filled += o.filled
	b.found += o.found
	b.salvaged += o.salvaged
	b.revoked += o.revoked
	b.executed += o.executed
	b.aborted += o.aborted
	b.aborts += o.aborts
}
