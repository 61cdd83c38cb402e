package port

import (
	"time"

	"github.com/satin-peer/satin/steal"
)

// Figures are an engine's statistics at one moment. Of jobs that run they are as old as the worker's last look
// at its attention word.
type Figures struct {
	Segments []SegmentTally `cbor:"1,keyasint,omitempty"` // of the segments that run, by number
	Unkept   uint64         `cbor:"9,keyasint,omitempty"` // outcomes of long jobs that were not kept: see Kept
	// What follows is told only if it was asked for: it may take some 20 ms.
	Whole    bool          `cbor:"10,keyasint,omitempty"`
	Spawned  uint64        `cbor:"2,keyasint,omitempty"` // jobs
	Executed uint64        `cbor:"3,keyasint,omitempty"` // jobs run to their end, also those that failed
	Aborted  uint64        `cbor:"4,keyasint,omitempty"`
	Syncs    uint64        `cbor:"5,keyasint,omitempty"` // results taken and syncs
	Idle     time.Duration `cbor:"6,keyasint,omitempty"` // of workers that looked for a job or waited for one
	Total    time.Duration `cbor:"7,keyasint,omitempty"` // of all workers since the engine began
	Progress float64       `cbor:"8,keyasint,omitempty"` // estimated share of what was given that is done, 0 to 1
}

// SegmentTally is what has been counted of a segment that runs.
type SegmentTally struct {
	Segment steal.SegmentID `cbor:"1,keyasint"`
	Tally   Tally           `cbor:"2,keyasint"`
}
