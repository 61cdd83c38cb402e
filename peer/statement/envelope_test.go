package statement

import (
	"crypto/rand"
	"errors"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
)

// What was signed as one kind of statement is not another, also if that would look the same.
func TestSignedAsOneKind(t *testing.T) {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for kind, good := range map[string]bool{kindAnswered: true, kindTombstone: false, kindCard: false} {
		b, err := seal(key, kind, &Answered{At: 5, Until: 9})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := OpenAnswered(b); (err == nil) != good || err != nil && !errors.Is(err, ErrStatement) {
			t.Errorf("signed as %s: %v", kind, err)
		}
	}
}

// What a run's ID is made of cannot be cut elsewhere to make another run of the same ID.
func TestRunIDKeepsPartsApart(t *testing.T) {
	one, other := &Manifest{Entry: "sum", Arg: []byte("abc")}, &Manifest{Entry: "suma", Arg: []byte("bc")}
	if one.runID("owner") == other.runID("owner") {
		t.Error("two problems have one run ID")
	}
}

// Guards whoever computes in a run that is not verified against its owner, who signs a second manifest later that says
// it was: what the member has signed there names no run of that one.
func TestRunIDDependsOnVerify(t *testing.T) {
	plain, verified, other := &Manifest{}, &Manifest{Verify: "quorum=2"}, &Manifest{Verify: "spot=0.1"}
	if a, b, c := plain.runID("owner"), verified.runID("owner"), other.runID("owner"); a == b || b == c || a == c {
		t.Error("a run that is verified has the ID of one that is verified otherwise, or not")
	}
}
