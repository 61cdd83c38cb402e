package statement

import (
	"crypto/rand"
	"errors"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/satin-peer/satin/job"
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

// Guards whoever computes in a run that is not verified, or whose results are not compared where they depend on how a
// machine rounds, against its owner, who signs a second manifest later that says it was, and they are: what the member
// has signed names no run of that one.
func TestRunIDDependsOnVerify(t *testing.T) {
	of := map[job.RunID]bool{}
	manifests := []Manifest{{}, {Verify: "quorum=2"}, {Verify: "spot=0.1"}, {Verify: "quorum=2", Rounding: "amd64"}}
	for i := range manifests {
		of[manifests[i].runID("owner")] = true
	}
	if len(of) != len(manifests) {
		t.Error("a run that is verified has the ID of one that is verified otherwise, or not")
	}
}
