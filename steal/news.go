package steal

import (
	"fmt"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
)

// Partial is a finished job's outcome by itself: what is kept when its spawner may be lost, handed over by a
// peer that leaves, and written to checkpoints.
type Partial struct {
	Path     job.Path     `cbor:"1,keyasint,omitempty"`
	Identity job.Identity `cbor:"2,keyasint"`
	Outcome  []byte       `cbor:"3,keyasint,omitempty"`
	// Voucher says who has computed the outcome, and from what, signed. It goes wherever the outcome goes. To the
	// core it is opaque: the driver has it made, and whoever speaks to the network has it checked where it comes in.
	Voucher []byte `cbor:"4,keyasint,omitempty"`
}

// Tuple says who has a job's outcome, or is working on it: the (jobID, processorID) of the fault tolerance
// paper, 3.2.
type Tuple struct {
	Path     job.Path     `cbor:"1,keyasint,omitempty"`
	Identity job.Identity `cbor:"2,keyasint"`
	Holder   Address      `cbor:"3,keyasint"`
	Done     bool         `cbor:"4,keyasint,omitempty"` // the holder has the outcome; else it is still at work
	// Age is for how long the holder has been at work when it tells so.
	Age time.Duration `cbor:"5,keyasint,omitempty"`
}

func (t *Tuple) sameJob(u Tuple) bool {
	return t.Identity == u.Identity && slices.Equal(t.Path, u.Path)
}

// News is told to everybody in the run, by gossip: it may be lost, repeated, reordered and late, which costs
// only time.
type News struct {
	Run  job.RunID `cbor:"1,keyasint"`
	From Address   `cbor:"2,keyasint"`
	// Tuples are of jobs that From holds itself.
	Tuples []Tuple `cbor:"3,keyasint,omitempty"`
	// Master is set by a master.
	Master *Beacon `cbor:"4,keyasint,omitempty"`
	// Goodbye is the last that a peer says which leaves: for those who are no partners of it any more, and have
	// outcomes that went home to it.
	Goodbye bool `cbor:"5,keyasint,omitempty"`
}

// Beacon says who holds the root: a master sends one every Config.BeaconEvery.
type Beacon struct {
	// the sender's, by the manifest alone: a deputy's place, 0 is the owner's; else a hash, from 1<<31 on
	Rank uint32 `cbor:"1,keyasint,omitempty"`
	Seq  uint64 `cbor:"2,keyasint"` // grows with every beacon of one life, from 1
	// Answered is the hash of the root's outcome once the master has it.
	Answered *[16]byte `cbor:"3,keyasint,omitempty"`
	// Waiting says that the root has not begun, for want of a worker: whoever has one may take it.
	Waiting bool `cbor:"4,keyasint,omitempty"`
}

// Bounds on what a message may list, whatever a core's configuration says: no correct core sends more.
const (
	maxTuples    = 1 << 10
	maxAdoptions = 1 << 8
	maxParts     = 1 << 12
)

// MaxPath bounds the steps of a path that is said to others.
const MaxPath = 1 << 13

// Validate reports what no correct core would say, as an error that wraps ErrMalformed. It takes time linear
// in the length.
func (n *News) Validate() error {
	switch {
	case n.From.Inc == 0 || n.From.Peer == "":
		return fmt.Errorf("%w: news without a sender", ErrMalformed)
	case len(n.Tuples) == 0 && n.Master == nil && !n.Goodbye:
		return fmt.Errorf("%w: news that say nothing", ErrMalformed)
	case n.Master != nil && n.Master.Seq == 0:
		return fmt.Errorf("%w: a beacon without its number", ErrMalformed)
	case !tuplesValid(n.Tuples):
		return fmt.Errorf("%w: news with tuples out of range", ErrMalformed)
	}
	return nil
}

func tuplesValid(ts []Tuple) bool {
	if len(ts) > maxTuples {
		return false
	}
	for i := range ts {
		if t := &ts[i]; t.Holder.Inc == 0 || t.Holder.Peer == "" || len(t.Path) > MaxPath || t.Age < 0 {
			return false
		}
	}
	return true
}
