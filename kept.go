package satin

import (
	"errors"
	"fmt"

	"github.com/satin-peer/satin/internal/engine"
)

// Kept names bytes that outlive the run whose job has left them, by a hash of them, so whoever reads them by it
// has what was left or nothing. It is a value like any other: it may be in arguments, results, slices and files.
//
// They are for what is too much to travel home, and may be wanted later: a piece of a proof, a part of a picture. Bytes
// that are of no use after the run are a Constant's.
type Kept [32]byte

// MaxKept is how many bytes may have one name.
const MaxKept = 8 << 20

// Keep has the machine on which the job runs keep b on its disk, on what its owner leaves to the run's, and two other
// members of the swarm keep copies, for 90 days. Nobody may change b afterwards. That a machine had the room, and has
// not lost it since, only whoever reads them will see. It returns at once.
//
// False: the job runs where there is no swarm, or in a module, and nothing is kept.
func Keep(f *Frame, b []byte) (Kept, bool) {
	if len(b) == 0 || len(b) > MaxKept {
		panic(fmt.Sprintf("satin: Keep of %d bytes, want 1 to %d", len(b), MaxKept))
	}
	to := f.worker().Shelf().Deposits
	if to == nil {
		return Kept{}, false
	}
	return Kept(to.Deposit(b)), true
}

// ErrNotKept is what Read returns if nobody who has the bytes can be reached.
var ErrNotKept = errors.New("satin: nobody who keeps it can be reached")

// Read gives the bytes, from whoever has them, which are not to be changed. It waits, and lends its core to other jobs.
func (k Kept) Read(f *Frame) ([]byte, error) {
	b, err := f.worker().Shelf().ReadDeposit(f.worker(), engine.Name(k))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotKept, err)
	}
	return b, nil
}
