package port

import (
	"time"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// Figures are an engine's statistics at one moment. Of jobs that run they are as old as the worker's last look
// at its attention word.
type Figures struct {
	Segments []SegmentTally `cbor:"1,keyasint,omitempty"` // of the segments that run, by number
	// What follows is told only if it was asked for: it may take some 20 ms.
	Whole    bool    `cbor:"10,keyasint,omitempty"`
	Spawned  uint64  `cbor:"2,keyasint,omitempty"`  // jobs
	Executed uint64  `cbor:"3,keyasint,omitempty"`  // jobs run to their end, also those that failed
	Aborts   uint64  `cbor:"11,keyasint,omitempty"` // operations
	Aborted  uint64  `cbor:"4,keyasint,omitempty"`
	Syncs    uint64  `cbor:"5,keyasint,omitempty"`  // results taken and syncs
	Late     int     `cbor:"14,keyasint,omitempty"` // workers in the middle of a leaf, which have counted less
	Times    Times   `cbor:"6,keyasint"`
	Progress float64 `cbor:"8,keyasint,omitempty"` // estimated share of what was given that is done, 0 to 1
	Speed    Speed   `cbor:"12,keyasint"`
	// Leaf is a job that ran here and could be the run's yardstick: with its function and argument and nothing else.
	Leaf *steal.Job `cbor:"13,keyasint,omitempty"`
}

// Speed is what Measure has brought to light: how long the yardstick takes on one core, by the clock on the wall. Who
// times the same one can be compared.
type Speed struct {
	Yardstick job.Identity  `cbor:"1,keyasint"`           // of its function and argument
	Took      time.Duration `cbor:"2,keyasint,omitempty"` // the least of the last few times; 0: not yet
	Runs      uint64        `cbor:"3,keyasint,omitempty"` // times in all, of this yardstick and others
}

// Bounds on a yardstick that travels.
const (
	MaxYardstick     = 512 // bytes of its argument
	MaxYardstickName = 128 // bytes of its function's name
)

// Times say where the time of an engine's cores went since it began, added up over the cores. Each moment of a core
// counts once; what is nothing else was work.
type Times struct {
	// Cores is the time of all cores that the run might use: paused and lent ones do not count.
	Cores time.Duration `cbor:"1,keyasint,omitempty"`
	// Free is that of cores with nothing to do. What they were waiting for only the core of the protocol knows.
	Free       time.Duration `cbor:"2,keyasint,omitempty"`
	Stealing   time.Duration `cbor:"3,keyasint,omitempty"` // from other workers of the engine
	Waiting    time.Duration `cbor:"4,keyasint,omitempty"` // for other workers of the engine
	Recovering time.Duration `cbor:"5,keyasint,omitempty"` // looking for outcomes of lost work
	Encoding   time.Duration `cbor:"6,keyasint,omitempty"` // arguments and outcomes
	// CPU is the processor time that the system gave to the threads of the workers, and to executables that these wait
	// for; 0: it does not say. Cores less Free is what they would have had with nobody else on the machine.
	CPU time.Duration `cbor:"7,keyasint,omitempty"`
}

// SegmentTally is what has been counted of a segment that runs.
type SegmentTally struct {
	Segment steal.SegmentID `cbor:"1,keyasint"`
	Tally   Tally           `cbor:"2,keyasint"`
}
