package port

import (
	"bytes"

	"github.com/satin-peer/satin/sharedobj"
)

// An outcome of more than MaxOutcome bytes is moved by a reference, an outcome that names one thing more, itself, and
// has nothing else in it. The reference follows from the outcome, so both have the same hash wherever hashes are
// compared.

// MaxOutcome is how many bytes an outcome may have that moves as it is.
const MaxOutcome = 16 << 20

// refers is all that a reference has besides its names.
var refers = []byte{0, 'r', 'e', 'f'}

// Refer makes a reference of an outcome, which it hashes. The error says that it names too much.
func Refer(outcome []byte) (reference []byte, body *sharedobj.Body, err error) {
	body = sharedobj.Build(outcome)
	names, _ := NamedBy(outcome)
	names = append(names, sharedobj.OutcomeOf(body).Digest())
	reference, err = NameIn(refers, names)
	return reference, body, err
}

// Referred says which outcome a reference is for, and what else that names.
func Referred(outcome []byte) (d sharedobj.Digest, names []sharedobj.Digest, ok bool) {
	names, rest := NamedBy(outcome)
	if len(names) == 0 || !bytes.Equal(rest, refers) {
		return d, names, false
	}
	last := len(names) - 1
	return names[last], names[:last], true
}
