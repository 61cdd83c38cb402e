package port_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/sharedobj"
)

// An outcome says what it names, whoever sends it: what no correct peer sends names nothing, and stays as it is.
func TestNaming(t *testing.T) {
	outcome := []byte{0xa1, 1, 2}
	one, two := sharedobj.Digest{1}, sharedobj.Digest{2}
	for _, names := range [][]sharedobj.Digest{nil, {one}, {two, one}, make([]sharedobj.Digest, port.MaxNeeds)} {
		b, err := port.NameIn(outcome, names)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Compact(names)
		if got, rest := port.NamedBy(b); !slices.Equal(got, want) || !bytes.Equal(rest, outcome) {
			t.Errorf("%v in %v are read as %v in %v", names, outcome, got, rest)
		}
	}
	if _, err := port.NameIn(outcome, make([]sharedobj.Digest, port.MaxNeeds+1)); err == nil {
		t.Error("an outcome may name any number of values")
	}
	good, _ := port.NameIn(nil, []sharedobj.Digest{one, two})
	for n := range len(good) {
		if got, rest := port.NamedBy(good[:n]); got != nil || !bytes.Equal(rest, good[:n]) {
			t.Errorf("the first %d bytes are read as %v in %v", n, got, rest)
		}
	}
	many := append(slices.Clone(good[:4]), 255)
	if got, _ := port.NamedBy(append(many, make([]byte, 255*32)...)); got != nil {
		t.Errorf("%d names are read", len(got))
	}
}
