package steal

import "github.com/satin-peer/satin/job"

// Messages of recovery; see Message for the envelope.

// Adopt asks the holder of orphans to work for the sender from now on: as though it had stolen these jobs
// from the sender under these handles. What it does not have any more it returns.
type Adopt struct {
	Jobs []Adoption `cbor:"1,keyasint"` // by handle
}

// Adoption is one orphan and the return address for its outcome.
type Adoption struct {
	Handle   Handle       `cbor:"1,keyasint"`
	Path     job.Path     `cbor:"2,keyasint,omitempty"`
	Identity job.Identity `cbor:"3,keyasint"`
}

// Disown says that the sender waits for these jobs no longer and that nevertheless they are not unwanted: its
// own job above them is lost, and whoever runs that again may adopt them. Not acknowledged.
type Disown struct {
	Handles []Handle `cbor:"1,keyasint"`
	// Perhaps says that the sender still waits for them, but has passed them on for a peer that is silent now. Others
	// may adopt them all the same; the sender then gets them back.
	Perhaps bool `cbor:"2,keyasint,omitempty"`
}

// HandOver gives a peer outcomes to keep, from one that leaves, or copies. A leaver sends it again, perhaps to
// another peer, until it is acknowledged.
type HandOver struct {
	ID    uint64    `cbor:"1,keyasint"` // numbers the sender's, from 1
	Parts []Partial `cbor:"2,keyasint"`
	// Copy says that the sender stays and has them too: see mirror.
	Copy bool `cbor:"3,keyasint,omitempty"`
}

// HandOverAck says that the parts are kept, or that the receiver leaves itself and keeps nothing.
type HandOverAck struct {
	ID      uint64 `cbor:"1,keyasint"`
	Leaving bool   `cbor:"2,keyasint,omitempty"`
}

func (a *Adopt) valid() bool {
	last := Handle(0)
	for i := range a.Jobs {
		j := &a.Jobs[i]
		if j.Handle <= last || len(j.Path) > MaxPath {
			return false
		}
		last = j.Handle
	}
	return len(a.Jobs) > 0 && len(a.Jobs) <= maxAdoptions
}

func (h *HandOver) valid() bool {
	for i := range h.Parts {
		if len(h.Parts[i].Path) > MaxPath {
			return false
		}
	}
	return h.ID > 0 && len(h.Parts) > 0 && len(h.Parts) <= maxParts
}
