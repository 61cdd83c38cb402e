package liars

import (
	"math/rand/v2"

	"github.com/satin-peer/satin/verify"
)

// A Character says how a peer lies.
type Character string

// The characters.
const (
	Honest    Character = "honest"
	Lazy      Character = "lazy"      // computes nothing, and says something
	Careless  Character = "careless"  // gets a leaf in ten wrong
	Colluding Character = "colluding" // agrees with its gang on what is wrong, and where
	Once      Character = "once"      // one false leaf in its life
	Patient   Character = "patient"   // honest for a while, then careless
	Silent    Character = "silent"    // as lazy, and opens nothing
)

// Characters are those that lie.
func Characters() []Character { return []Character{Lazy, Careless, Colluding, Once, Patient, Silent} }

// patience is how many outcomes a patient liar gives honestly.
const patience = 4

// A peer computes what it is given.
type peer struct {
	id, by verify.PeerID // who it is, and by whom it is a member
	is     Character
	rng    *rand.Rand
	rough  bool // makes nodes of some jobs only
	jobs   int  // so far
	lied   bool // ever
	made   map[verify.Hash]*verify.Opening
}

// compute gives a peer's claim for a node, and how many nodes it really ran.
func (p *peer) compute(n verify.Node, deepest int) (verify.Claim, int) {
	p.jobs++
	spoil := honest
	leaf := func(one uint64) func(verify.Node, bool, *verify.Hash) {
		return func(_ verify.Node, leaf bool, h *verify.Hash) {
			if leaf && p.rng.Uint64N(one) == 0 {
				p.lied = true
				bend(p.rng.Uint64(), h)
			}
		}
	}
	switch p.is {
	case Lazy, Silent:
		p.lied = true
		o := &verify.Opening{Node: n}
		bend(p.rng.Uint64(), &o.Outcome)
		c := o.Claim()
		p.made[c.Tree] = o
		return c, 0
	case Careless:
		spoil = leaf(10)
	case Patient:
		if p.jobs > patience {
			spoil = leaf(10)
		}
	case Once:
		if !p.lied {
			spoil = func(_ verify.Node, isLeaf bool, h *verify.Hash) {
				if isLeaf && !p.lied {
					p.lied = true
					bend(1, h)
				}
			}
		}
	case Colluding:
		spoil = func(n verify.Node, isLeaf bool, h *verify.Hash) {
			if isLeaf && n.Identity[1]%8 == 0 { // what all of the gang know
				p.lied = true
				bend(42, h)
			}
		}
	}
	small := never
	if p.rough {
		small = func() bool { return p.rng.IntN(3) == 0 }
	}
	w := compute(n, deepest, spoil, small)
	for tree, o := range w.open {
		p.made[tree] = o
	}
	return w.claim, w.ran
}

// opening is what a peer says stands behind a claim.
func (p *peer) opening(c *verify.Claim) *verify.Opening {
	if p.is == Silent {
		return nil
	}
	return p.made[c.Tree]
}
