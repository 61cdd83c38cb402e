package steal

import (
	"fmt"
	"time"
)

// Ref is the engine's name for a job that one of its own frames spawned and that was taken to be given away.
// The engine chooses it and never uses it twice. The core hands it back in one Deliver or PutBack order,
// unless the engine says Aborted first. The two may cross: the engine ignores an order for a job whose abort
// it has reported.
type Ref uint64

// SegmentID is the core's name for a job that this peer holds for another one, with everything that is run in
// place under it. Never used twice in a core's life.
type SegmentID uint64

// Ticket matches the engine's Taken to the core's Take.
type Ticket uint64

// Taken is one job that the engine took out of its queue to be given away.
type Taken struct {
	Ref Ref `cbor:"1,keyasint"`
	Job Job `cbor:"2,keyasint"`
	// Spawned says for certain that a frame here spawned the job: that it is not the job of a RunSegment
	// order which no worker had begun. Without it an orphan that runs here is not put in the place of the
	// same job, lest it wait for itself.
	Spawned bool `cbor:"3,keyasint,omitempty"`
	// Segment is the one in which it was spawned, of several with that path above it; 0: that is gone.
	Segment SegmentID `cbor:"4,keyasint,omitempty"`
}

// Load is what the engine reports of itself. Idle must be exact as of the moment of the report; the others
// are hints and may be stale.
type Load struct {
	// Workers is how many jobs the engine runs at once.
	Workers int `cbor:"1,keyasint,omitempty"`
	// Idle is how many workers have nothing to run and wait for a RunSegment order. A worker whose frame is
	// parked on a remote child and that found no other work is idle too.
	Idle int `cbor:"2,keyasint,omitempty"`
	// Runs is how many RunSegment orders the engine had received when it counted Idle. With it the core can
	// tell an idle worker from one whose order is still on its way.
	Runs uint64 `cbor:"3,keyasint,omitempty"`
	// Queued is how many jobs the engine could give away or run next: the stealable part of all queues. What
	// an engine cannot count cheaply it may leave out; the core takes 0 to mean "nothing" only when all
	// workers are idle.
	Queued int `cbor:"4,keyasint,omitempty"`
}

// IdleAfter is how many workers have nothing to run, after so many RunSegment orders in all: one is taken for busy as
// soon as it has been ordered to run a segment. An engine that has been damaged may say that it has heard of more.
func (l *Load) IdleAfter(runs uint64) int { return max(0, min(l.Idle, l.Idle-int(runs-l.Runs))) }

// OrderKind says what an order asks of the engine.
type OrderKind uint8

// The orders a core gives its engine.
const (
	// Take asks for the Max oldest jobs, to give away. The engine answers with Core.Taken for the same
	// Ticket, perhaps with fewer jobs or none, without waiting for a running leaf to end.
	Take OrderKind = 1 + iota
	// RunSegment asks an idle worker to run Job as Segment. The engine answers with Core.Finished once. The
	// run's root, at its master, is a segment like any other, but it comes First: if all workers are busy one
	// of them begins it nevertheless, as soon as it can, and goes on with its own job when the root waits for
	// children that are elsewhere, or has ended.
	RunSegment
	// PutBack returns the job Ref to the queue it was taken from, as the oldest. Restarted says that another
	// peer may have worked on it, Stays that it cannot leave: the engine does not take it again.
	PutBack
	// Deliver fills the slot of job Ref with Outcome. The engine may see at most one Deliver or PutBack for one Ref.
	Deliver
	// AbortSegment says that nobody wants the outcome of Segment any more. The engine need not answer; a
	// Finished that comes nevertheless is counted and dropped.
	AbortSegment
	// Tell asks for News to be told to everybody in the run, by gossip, without waiting and without a promise.
	Tell
	// LostWork says that Orphans is what is known of orphans from now on: it has changed, or the first restarted
	// job is here. Engines look again whether running restarted jobs have anything below them.
	LostWork
	// Answer brings the root's Outcome, this peer being master. Ordered once for each time that it becomes master.
	Answer
	// Fetch asks for what Job names, which came from Victim and is held as Segment: Core.Ready when it is here, or
	// Core.NotReady. Nothing is asked of the engine.
	Fetch
	// Release says that what Segment names is not needed for it any more.
	Release
	// Prove brings what Peer has made of Job ("" is this peer), or says that nothing will come of it (Lost). It is used
	// only when Core.Proved says so for Handle. Further copies are for CopyTo to ask for.
	Prove
	// Proven says that nobody wants to know any more whether outcomes for Handle are true: one was believed, or the job
	// is not wanted.
	Proven
	// Store brings the Outcome of Job, which a leaver has handed over and this peer keeps: the disk of whoever keeps it
	// may be all that is left of it.
	Store
	orderKinds
)

var orderNames = [orderKinds]string{"none", "take", "run", "putback", "deliver", "abort", "tell", "lost work", "answer",
	"fetch", "release", "prove", "proven", "store"}

func (k OrderKind) String() string {
	if k < orderKinds {
		return orderNames[k]
	}
	return fmt.Sprintf("order(%d)", uint8(k))
}

// Order is one instruction to the engine; which fields are set depends on Kind.
type Order struct {
	Kind      OrderKind
	Ticket    Ticket    // Take
	Max       int       // Take, at least 1
	Segment   SegmentID // RunSegment, AbortSegment, Fetch, Release
	Job       Job       // RunSegment, Fetch, Prove, Proven, Store
	Victim    PeerID    // Fetch
	First     bool      // RunSegment: before what runs
	Alone     bool      // RunSegment: nothing below it leaves this peer, or is looked up
	Ref       Ref       // PutBack, Deliver
	Restarted bool      // PutBack
	Stays     bool      // PutBack
	Outcome   []byte    // Deliver, Answer, Prove, Store
	Voucher   []byte    // Deliver, Prove, Store: of the outcome
	Handle    Handle    // Prove, Proven
	Peer      PeerID    // Prove
	Lost      bool      // Prove
	// Had is for how long Peer had the job, waiting included, by this machine's clock.
	Had     time.Duration // Prove
	News    *News         // Tell
	Orphans *Orphans      // LostWork
}

// Output is what one input made the core want to do, in the order in which it is to be done. The slices
// belong to the core and are valid until its next input; the messages they point to may be kept.
type Output struct {
	Orders   []Order
	Messages []*Message
}
