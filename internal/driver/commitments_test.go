package driver

import (
	"testing"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
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
	if x.Of(c.Run, other.Claim.Tree) == nil || x.Of(c.Run, c.Claim.Tree) == nil || len(x.of[""].order) != 2 {
		t.Errorf("%d are kept", len(x.of[""].order))
	}
}

// The owner that has most makes room, with what is oldest of it: nobody pushes out what stands behind others' runs.
func TestCommitmentsOfOwners(t *testing.T) {
	x := &Commitments{Most: 64 << 10}
	note := func(owner string, i int) *Commitment {
		c := &Commitment{Owner: owner, Run: job.RunID{owner[0]}, Made: &Made{},
			Claim: verify.Claim{Tree: verify.Hash{owner[0], byte(i), byte(i >> 8)}}}
		x.Note(c)
		return c
	}
	var few []*Commitment
	for i := range 100 {
		few = append(few, note("few", i))
	}
	for i := range 1000 {
		last := note("many", i)
		if x.Of(last.Run, last.Claim.Tree) == nil {
			t.Fatal("the newest makes room")
		}
	}
	for _, c := range few {
		if x.Of(c.Run, c.Claim.Tree) == nil {
			t.Fatal("one owner pushes out what is another's")
		}
	}
	if n := x.of["many"].bytes + x.of["few"].bytes; n != x.bytes || n > x.Most {
		t.Errorf("%d bytes of both are %d, and may be %d", n, x.bytes, x.Most)
	}
	x.Forget(job.RunID{'m'})
	if x.bytes != x.of["few"].bytes || len(x.of) != 1 {
		t.Errorf("of %d owners %d bytes are left", len(x.of), x.bytes)
	}
}

// Outcomes that a segment was made of are held for those who may want to see them alone, and no more of them than may
// be shown: else one that goes on for long, as a root, held all that ever came home, which is counted nowhere.
func TestHeldOfSegments(t *testing.T) {
	for _, commit := range []func(*verify.Claim, *Made){nil, func(*verify.Claim, *Made) {}} {
		v := &provenance{commit: commit, parts: map[steal.SegmentID][]part{1: nil}}
		for i := range uint32(100) {
			v.add(1, part{path: job.Path{i}, outcome: make([]byte, MaxMade/2)})
		}
		if n := held(v.parts[1]); len(v.parts[1]) != 100 || n > maxHeld || (commit == nil) != (n == 0) {
			t.Errorf("of %d parts %d bytes are held", len(v.parts[1]), n)
		}
	}
}
