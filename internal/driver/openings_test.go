package driver

import (
	"slices"
	"testing"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
	"github.com/satin-peer/satin/verify"
)

// Paths count among what stands behind a voucher: a step may be one byte on its way, and is four here.
func TestPathsCount(t *testing.T) {
	children := func(n, steps int) []Given {
		return slices.Repeat([]Given{{Claim: verify.Claim{Node: NodeOf(make(job.Path, steps), job.Identity{})}}}, n)
	}
	for what, c := range map[string]struct {
		made Made
		fits bool
	}{
		"of the job":        {Made{Job: steal.Job{Path: make(job.Path, MaxMade/8)}}, false},
		"of a few children": {Made{Children: children(15, steal.MaxPath)}, true},
		"of many children":  {Made{Children: children(16, steal.MaxPath)}, false},
		"longer than any":   {Made{Children: children(1, steal.MaxPath+1)}, false},
	} {
		if c.made.fits() != c.fits {
			t.Errorf("paths %s: %d bytes fit: %v", what, c.made.Size(), !c.fits)
		}
	}
}

// What one peer shows of all its jobs has a bound, and so has what all show. Within it all that was shown stays; beyond
// it what nobody looks at makes room, and what is in use stays in any case.
func TestShownIsBounded(t *testing.T) {
	v := &proving{open: map[verify.Node]*proof{}, shown: map[verify.PeerID]int{}}
	large := func() *Shown { return &Shown{Made: Made{Job: steal.Job{Arg: make([]byte, 400<<10)}}} }
	show := func(by verify.PeerID, path uint32, tree byte) bool {
		n := NodeOf(job.Path{path}, job.Identity{})
		if v.open[n] == nil {
			v.open[n] = &proof{}
		}
		g, at := &v.open[n].shown, ticket{by, verify.Hash{tree}}
		return v.add(g, at, large()) && g.look(at) != nil
	}
	here := func(by verify.PeerID, path uint32) int {
		n := 0
		for at := range v.open[NodeOf(job.Path{path}, job.Identity{})].shown.of {
			if at.by == by {
				n++
			}
		}
		return n
	}
	for i := range 20 {
		if !show("liar", 1, byte(i)) || !show("honest", 2, byte(i)) || here("honest", 2) != i+1 {
			t.Fatalf("of %d one sees %d, and %d", i+1, here("liar", 1), here("honest", 2))
		}
	}
	refused := 0
	for path := range uint32(100) {
		if !show("liar", 3+path, 0) {
			refused++
		}
	}
	if refused == 0 || v.shown["liar"] > maxShownBy || here("liar", 1) != 1 || here("honest", 2) != 20 {
		t.Errorf("%d are refused, and there are %d bytes, %d of the first, %d by somebody else", refused, v.shown["liar"],
			here("liar", 1), here("honest", 2))
	}
	for path := range uint32(200) {
		show(verify.PeerID(rune('A'+path/20)), 3+path, 1)
	}
	if v.shown[""] > maxShown || here("liar", 3) != 1 || here("honest", 2) != 1 {
		t.Errorf("there are %d bytes, %d of another", v.shown[""], here("honest", 2))
	}
	v.core = verify.New(verify.Config{}, nil, nil)
	for n, p := range v.open {
		v.close(n, p)
	}
	if v.shown[""] != 0 || v.shown["liar"] != 0 {
		t.Errorf("%d bytes are left, %d of the liar", v.shown[""], v.shown["liar"])
	}
}
