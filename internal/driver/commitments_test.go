package driver

import (
	"testing"

	"github.com/satin-peer/satin/verify"
)

// What is written again for one tree is one commitment.
func TestCommitmentsOfOneTree(t *testing.T) {
	x := &Commitments{Most: 1 << 10}
	c := &Commitment{Claim: verify.Claim{Tree: verify.Hash{1}}, Made: &Made{}}
	other := &Commitment{Claim: verify.Claim{Tree: verify.Hash{2}}, Made: &Made{}}
	n := 1<<10/c.Made.Size() - 1 // for all of which there is room
	for range n {
		x.Note(c)
	}
	x.Note(other)
	for range n {
		x.Note(c)
	}
	if x.Of(c.Run, other.Claim.Tree) == nil || x.Of(c.Run, c.Claim.Tree) == nil || len(x.order) != 2 {
		t.Errorf("%d are kept", len(x.order))
	}
}
