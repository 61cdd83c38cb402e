package driver

import (
	"fmt"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
)

// Large outcomes
//
// What came of a job and is too large for a message leaves the engine as a reference (see port.Refer), and the core
// of what is shared keeps the outcome. A reference is an outcome that names a value, so all of the file results.go is
// true of it: it is fetched in pieces, beside the messages of others, before the core of steal hears of it; it is
// pinned until it is acknowledged; it is kept, adopted and handed over; and where the value is gone, the job is done
// again. An engine gets it whole, and has it then: nothing here is pinned for that longer.
//
// The root's outcome is the answer, which stays whole: it is in no message of the protocol. No disk gets a
// reference.

// leaving gives what is told of an outcome that a segment has come to, a reference if it is large. The error says
// that it cannot leave.
func (d *Driver) leaving(now time.Duration, j identity, outcome []byte) ([]byte, error) {
	if len(outcome) <= d.cfg.MaxOutcome || len(j.path) == 0 {
		return outcome, nil
	}
	if d.shared == nil {
		return nil, fmt.Errorf("a result has %d bytes, and nothing is shared here", len(outcome))
	}
	reference, body, err := port.Refer(outcome)
	if err != nil {
		return nil, err
	}
	out, err := d.shared.core.KeepOutcome(now, body)
	d.shared.absorb(out)
	return reference, err
}

// whole gives the outcome that a reference is for. What no correct peer sends stays what it is, and no engine uses
// that.
func (s *shared) whole(outcome []byte) []byte {
	d, _, ok := port.Referred(outcome)
	if !ok || s == nil {
		return outcome
	}
	if b, here := s.core.Private(sharedobj.Outcome, d); here {
		return b
	}
	return outcome
}
