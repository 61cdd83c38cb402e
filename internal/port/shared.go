package port

import (
	"errors"
	"fmt"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/sharedobj"
)

// Shared is what an order or an event says of a shared value; which fields are set depends on its kind. What is
// here passes between package sharedobj's core and whoever runs the application's code: Digest, Ticket and so on
// are that core's.
type Shared struct {
	Ticket  sharedobj.Ticket `cbor:"1,keyasint,omitempty"`
	Digest  sharedobj.Digest `cbor:"2,keyasint"`
	Parent  sharedobj.Digest `cbor:"3,keyasint"`
	Name    string           `cbor:"4,keyasint,omitempty"` // under which its type is registered
	Data    []byte           `cbor:"5,keyasint,omitempty"` // of an order
	Text    string           `cbor:"6,keyasint,omitempty"`
	Own     bool             `cbor:"11,keyasint,omitempty"` // of Join: it counts as offered here
	Awaited bool             `cbor:"-"`                     // of Here: it answers Wanted

	// Of events.
	Recipe  *sharedobj.Recipe `cbor:"7,keyasint,omitempty"`
	Write   *sharedobj.Body   `cbor:"8,keyasint,omitempty"`
	State   *sharedobj.Body   `cbor:"9,keyasint,omitempty"`
	Changed bool              `cbor:"10,keyasint,omitempty"`
}

// Deposit is the name of a constant that is to outlive its run: a Made of one is for whoever keeps such bytes, and not
// for the core; a Wanted that has it is answered by Here or Failed, too.
const Deposit = "satin1.deposit"

// Names is what a job reads of shared values: steal.Job's Names, as bytes.
type Names struct {
	Needs   []sharedobj.Need   `cbor:"1,keyasint,omitempty"`
	Holders []sharedobj.PeerID `cbor:"2,keyasint,omitempty"` // some who have them, besides the victim
	Guarded bool               `cbor:"3,keyasint,omitempty"` // its function has a guard
	// Argument, one of the needs, is the job's argument, if that is too large to go with it. The driver puts it back
	// before an engine gets the job.
	Argument sharedobj.Digest `cbor:"4,keyasint,omitzero"`
}

// Bounds on what a job names: what one steal reply, and one fetch, can do with.
const (
	MaxNeeds   = 64
	MaxHolders = 3
	// MaxFloors is how many bytes of lattices' values a job may carry; a larger one is named and fetched.
	MaxFloors = 16 << 10
)

// ErrNames is what no correct peer says of a job.
var ErrNames = errors.New("port: a job names what cannot be")

// Encode gives the bytes; nil if the job names nothing.
func (n *Names) Encode() ([]byte, error) {
	if len(n.Needs) == 0 && !n.Guarded {
		return nil, nil
	}
	return wire.Local().Encode(n)
}

// DecodeNames reads what a job names that comes from another peer.
func DecodeNames(b []byte) (*Names, error) {
	n := new(Names)
	if err := wire.Control().Decode(b, n); err != nil {
		return nil, err
	}
	floors := 0
	seen := make(map[sharedobj.Digest]bool, min(len(n.Needs), MaxNeeds))
	for i := range n.Needs {
		floors += len(n.Needs[i].Floor)
		seen[n.Needs[i].Digest] = true
	}
	if len(n.Needs) > MaxNeeds || len(n.Holders) > MaxHolders || floors > MaxFloors || len(seen) < len(n.Needs) ||
		n.Argument != (sharedobj.Digest{}) && !seen[n.Argument] {
		return nil, fmt.Errorf("%w: %d values, %d holders, %d bytes", ErrNames, len(n.Needs), len(n.Holders), floors)
	}
	return n, nil
}

// NamesTaken reads what the engine of this peer says of a job that it gives away: its values of lattices may be large.
func NamesTaken(b []byte) (*Names, error) {
	n := new(Names)
	err := wire.Told().Decode(b, n)
	return n, err
}
