package compute

import (
	"crypto/sha256"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
)

// Digest is a hash of what came of a job that is the same wherever it was computed: of a failure, where it happened
// and how the stack looked there are left out. That of a large one is its reference's. What cannot be read is hashed as
// it is.
func Digest(outcome []byte) [32]byte {
	if len(outcome) > port.MaxOutcome {
		if r, _, err := port.Refer(outcome); err == nil {
			return sha256.Sum256(r)
		}
	}
	o, err := readOutcome(outcome)
	if err != nil || o.Error == nil && o.Panic == nil {
		return sha256.Sum256(outcome)
	}
	for _, f := range []*Failure{o.Error, o.Panic} {
		if f != nil {
			f.Peer, f.Stack = "", nil
		}
	}
	names, _ := port.NamedBy(outcome)
	b, err := wire.Value().Encode(&o)
	if err == nil {
		b, err = port.NameIn(b, names)
	}
	if err != nil {
		b = outcome // it was read a moment ago
	}
	return sha256.Sum256(b)
}
