package port

import (
	"fmt"
	"time"

	"github.com/satin-peer/satin/steal"
)

// OrderKind says what an order asks of an engine.
type OrderKind uint8

// The orders; the package comment says how each is answered.
const (
	Take     OrderKind = 1 + iota // the Max oldest jobs, to be given away
	Run                           // Job, stolen or the root, as Segment; First: before all others; Alone: it stays
	PutBack                       // the job Ref runs here; Restarted: somebody may have worked on it; Stays: for good
	Deliver                       // Outcome is what came of the job Ref
	Abort                         // nobody wants Segment
	LostWork                      // Orphans is what is known of lost work
	Cores                         // Max jobs may run at once, by Turns; Others: some may take jobs from here
	Count                         // tell Counted; Whole: with what takes time

	// Of shared values: Shared says which.
	Here    // Digest, called Name, is Data, or what Ticket's Apply gave: jobs that read it go on
	Forget  // Digest need not be kept any more
	Failed  // Digest cannot be had, or shared; Text says why
	Apply   // the write Data to the value of Parent, called Name, which gives Digest: tell Applied. See ApplyAfter
	Discard // what Ticket's Apply gave is not used
	Join    // Data, which is not to be trusted, into the lattice Digest: tell Joined
	Collect // tell Collected: what was offered to the lattice Digest since the last time
	Encode  // tell Encoded: the value of the lattice Digest
	Guard   // evaluate the guard of Job, held as Segment: tell Guarded
	Judge   // Outcome of Job, which is not to be trusted, for Ticket: tell Judged

	Executed // Exec is what came of an Execute
	Measure  // time Job now and then, from now on; without an argument: its function's small instance
	orderKinds
)

// ApplyAfter bounds how long an Apply waits for a core without a job, unless a job reads what it gives. Many writes
// come at the end of a step, when cores soon have nothing else to do; done at once they would delay the jobs that the
// others wait for.
const ApplyAfter = time.Second

var orderNames = [orderKinds]string{"none", "take", "run", "put back", "deliver", "abort", "lost work", "cores", "count",
	"here", "forget", "failed", "apply", "discard", "join", "collect", "encode", "guard", "judge", "executed", "measure"}

func (k OrderKind) String() string {
	if k < orderKinds {
		return orderNames[k]
	}
	return fmt.Sprintf("order(%d)", uint8(k))
}

// An Order is one instruction to an engine; which fields are set depends on Kind. It and the job it points to
// belong to the driver again when Do returns; paths, arguments, outcomes and snapshots may be kept, and are not
// changed by anybody.
type Order struct {
	Kind      OrderKind       `cbor:"1,keyasint"`
	Ticket    steal.Ticket    `cbor:"2,keyasint,omitempty"`
	Max       int             `cbor:"3,keyasint,omitempty"`
	Segment   steal.SegmentID `cbor:"4,keyasint,omitempty"`
	Job       *steal.Job      `cbor:"5,keyasint,omitempty"`
	First     bool            `cbor:"6,keyasint,omitempty"`
	Ref       steal.Ref       `cbor:"7,keyasint,omitempty"`
	Restarted bool            `cbor:"8,keyasint,omitempty"`
	Outcome   []byte          `cbor:"9,keyasint,omitempty"`
	Orphans   *steal.Orphans  `cbor:"-"` // LostWork; package pipe has a form of its own for it
	Others    bool            `cbor:"11,keyasint,omitempty"`
	Whole     bool            `cbor:"12,keyasint,omitempty"`
	Shared    *Shared         `cbor:"13,keyasint,omitempty"`
	Exec      *Execution      `cbor:"14,keyasint,omitempty"`
	Alone     bool            `cbor:"15,keyasint,omitempty"`
	Stays     bool            `cbor:"16,keyasint,omitempty"`
	Turns     bool            `cbor:"17,keyasint,omitempty"`
}

// An Engine runs jobs.
type Engine interface {
	// Do takes an order. It never blocks. It may be called by one goroutine at a time.
	Do(o *Order)
}
