package port

import (
	"errors"
	"fmt"
	"time"

	"github.com/satin-peer/satin/steal"
)

// EventKind says what has happened in an engine.
type EventKind uint8

// The events; the package comment says when each comes.
const (
	LoadChanged EventKind = 1 + iota // Load
	Taken                            // Jobs, for Ticket
	Finished                         // Segment, with Outcome; Good: it returned, and did not panic; Tally
	Stopped                          // Segment, which was aborted; Tally
	Dropped                          // nobody waits for the jobs Refs any more
	Found                            // Jobs that were about to begin, and that somebody has
	Kept                             // Kept: long jobs that ran in place
	Delivered                        // the outcome for Ref has come; Good: it was used, and is worth keeping
	Counted                          // Figures
	Troubled                         // Text says what went wrong with a job; nothing follows from it
	Execute                          // Exec: a job has another program run. Of processes of their own
	Withdraw                         // Exec's Ticket: it is not wanted any more
	Shares                           // a job of Segment shares a lattice of its own, where somebody wants to know

	// Of shared values: Shared says which.
	Made      // a version that was made here: Recipe, State, and Write if it is not the first
	Wanted    // Digest: a job in the middle of its work reads it
	Offered   // to the lattice Digest, what its value did not have
	Applied   // for Ticket: State, nil if the write failed
	Joined    // for Ticket; Good: it was valid; Changed: it was news
	Collected // State of what was offered to the lattice Digest, nil for nothing
	Encoded   // for Ticket: State of the lattice Digest
	Guarded   // Segment; Good: it may begin
	Judged    // for Ticket; Good: it may be right; Changed: it proves itself or, not Good, is none; Outcome: to compare
	Died      // the engine is gone; Text: why; Good: its jobs did it. The last event
	eventKinds
)

var eventNames = [eventKinds]string{"none", "load", "taken", "finished", "stopped", "dropped", "found", "kept",
	"delivered", "counted", "troubled", "execute", "withdraw", "shares", "made", "wanted", "offered", "applied", "joined",
	"collected", "encoded", "guarded", "judged", "died"}

func (k EventKind) String() string {
	if k < eventKinds {
		return eventNames[k]
	}
	return fmt.Sprintf("event(%d)", uint8(k))
}

// An Event is something that happened in an engine; which fields are set depends on Kind. What it points to
// is not changed afterwards.
type Event struct {
	Kind    EventKind       `cbor:"1,keyasint"`
	Load    steal.Load      `cbor:"2,keyasint"`
	Ticket  steal.Ticket    `cbor:"3,keyasint,omitempty"`
	Jobs    []steal.Taken   `cbor:"4,keyasint,omitempty"`
	Segment steal.SegmentID `cbor:"5,keyasint,omitempty"`
	Outcome []byte          `cbor:"6,keyasint,omitempty"`
	Good    bool            `cbor:"7,keyasint,omitempty"`
	Refs    []steal.Ref     `cbor:"8,keyasint,omitempty"`
	Kept    []KeptJob       `cbor:"9,keyasint,omitempty"`
	Ref     steal.Ref       `cbor:"10,keyasint,omitempty"`
	Tally   Tally           `cbor:"11,keyasint"`
	Figures *Figures        `cbor:"12,keyasint,omitempty"`
	Text    string          `cbor:"13,keyasint,omitempty"`
	Shared  *Shared         `cbor:"14,keyasint,omitempty"`
	Exec    *Execution      `cbor:"15,keyasint,omitempty"`
}

// A KeptJob is one that ran in place for long.
type KeptJob struct {
	Partial steal.Partial   `cbor:"1,keyasint"`           // what came of it
	Segment steal.SegmentID `cbor:"2,keyasint"`           // in which it ran
	Job     steal.Job       `cbor:"3,keyasint"`           // the whole of it, where somebody may want to run it again
	Own     time.Duration   `cbor:"4,keyasint,omitempty"` // on one core, for nothing that was kept of it, too
}

// An Execution is a program that a job has run which is no part of this one. Whoever started the engine's process runs
// it: no driver hears of it.
type Execution struct {
	Ticket  uint64   `cbor:"1,keyasint"`
	Name    string   `cbor:"2,keyasint,omitempty"`
	Args    []string `cbor:"3,keyasint,omitempty"` // at most MaxArgs
	Data    []byte   `cbor:"4,keyasint,omitempty"` // its input, or what it wrote
	Failure string   `cbor:"5,keyasint,omitempty"` // why there is none
}

// MaxArgs is how many arguments a program may be run with.
const MaxArgs = 8 << 10

// ErrByJobs is what the reason of an engine's death wraps if jobs have brought it about: a stack that overflowed,
// memory that ran out.
var ErrByJobs = errors.New("jobs did it")

// A Tally counts the jobs of a segment that were run in place: itself and those under it.
type Tally struct {
	Spawned  uint64 `cbor:"1,keyasint,omitempty"`
	Executed uint64 `cbor:"2,keyasint,omitempty"`
	// Own is how long these took on all cores together, without jobs that were kept; of a segment that has ended.
	Own time.Duration `cbor:"3,keyasint,omitempty"`
}
