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

	Sparing Character = "sparing" // makes up the leaves that take long
	Missing Character = "missing" // gets the leaf wrong that takes longest
)

// Says is what liars say of times.
type Says uint8

// What they say.
const (
	TimesTaken   Says = iota
	NoTimes           // that they do not know
	TimesAside        // that what is wrong took none
	TimesHuge         // that each node took days
	TimesAtLarge      // anything
	says
)

// Characters are those that lie.
func Characters() []Character { return []Character{Lazy, Careless, Colluding, Once, Patient, Silent} }

// patience is how many outcomes a patient liar gives honestly.
const patience = 4

// A peer computes what it is given.
type peer struct {
	id, by verify.PeerID // who it is, and by whom it is a member
	is     Character
	says   Says
	speed  uint64 // in percent
	rng    *rand.Rand
	rough  bool // makes nodes of some jobs only
	jobs   int  // so far
	lied   bool // ever
	made   map[verify.Hash]*verify.Opening
}

// times is what a peer says of how long a node took it.
func (p *peer) times(t tree) func(n verify.Node, wrong bool) uint64 {
	return func(n verify.Node, wrong bool) uint64 {
		took := max(t.took(n)*p.speed/100, 1)
		switch {
		case p.says == NoTimes, p.says == TimesAside && wrong:
			return 0
		case p.says == TimesHuge:
			return verify.MaxTime >> 12
		case p.says == TimesAtLarge:
			return p.rng.Uint64N(1 << p.rng.IntN(30))
		}
		return took
	}
}

// compute gives a peer's claim for a node, how many nodes it really ran, and for how long.
func (p *peer) compute(n verify.Node, t tree) (verify.Claim, int, uint64) {
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
		o := &verify.Opening{Node: n, Time: p.times(t)(n, true)}
		bend(p.rng.Uint64(), &o.Outcome)
		c := o.Claim()
		p.made[c.Tree] = o
		return c, 0, 0
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
	case Sparing, Missing:
		longest := t.longest(n)
		spoil = func(n verify.Node, isLeaf bool, h *verify.Hash) {
			if n == longest || p.is == Sparing && isLeaf && t.took(n) > longTime {
				p.lied = true
				bend(p.rng.Uint64(), h)
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
	w := t.compute(n, spoil, p.times(t), small)
	for tree, o := range w.open {
		p.made[tree] = o
	}
	return w.claim, w.ran, w.took
}

// opening is what a peer says stands behind a claim.
func (p *peer) opening(c *verify.Claim) *verify.Opening {
	if p.is == Silent {
		return nil
	}
	return p.made[c.Tree]
}
