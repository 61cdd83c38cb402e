package port

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/satin-peer/satin/sharedobj"
)

// An outcome that names shared values says so before anything else: a mark, how many there are, and their digests.
// What follows is the engine's. So whoever moves outcomes learns what has to move with them, and looks at five bytes of
// all others.

// naming is no beginning of a CBOR map, which outcomes are.
var naming = []byte{0, 'h', 'a', 's'}

// NameIn gives an outcome that says what it names; the error says that it is too much.
func NameIn(outcome []byte, names []sharedobj.Digest) ([]byte, error) {
	if len(names) == 0 {
		return outcome, nil
	}
	if len(names) > MaxNeeds {
		return nil, fmt.Errorf("it names %d shared values, at most %d may go with a result", len(names), MaxNeeds)
	}
	b := append(slices.Clone(naming), byte(len(names)))
	for i := range names {
		b = append(b, names[i][:]...)
	}
	return append(b, outcome...), nil
}

// NamedBy says what an outcome names, each once, and what the outcome itself is. Of what no correct peer says nothing
// is taken away, so it cannot be decoded.
func NamedBy(outcome []byte) (names []sharedobj.Digest, rest []byte) {
	rest, named := bytes.CutPrefix(outcome, naming)
	if !named || len(rest) == 0 {
		return nil, outcome
	}
	n, rest := int(rest[0]), rest[1:]
	if n == 0 || n > MaxNeeds || len(rest) < n*len(sharedobj.Digest{}) {
		return nil, outcome
	}
	for range n {
		d := sharedobj.Digest(rest[:len(sharedobj.Digest{})])
		if rest = rest[len(d):]; !slices.Contains(names, d) {
			names = append(names, d)
		}
	}
	return names, rest
}
