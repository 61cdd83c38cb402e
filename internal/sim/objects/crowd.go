package objects

import "math/rand/v2"

// A crowd are the other runs of a peer, as its core sees them: until the world is calm they take a part of the memory
// that changes all the time, and want what the core can spare; afterwards they are gone.
type crowd struct {
	of   *peer
	rnd  *rand.Rand
	told uint64 // what the core has said to hold
}

func newCrowd(p *peer) *crowd {
	return &crowd{of: p, rnd: rand.New(rand.NewPCG(p.world.cfg.Seed, 0x63726f7764+uint64(p.number)))}
}

func (c *crowd) there() bool { return c.of.world.now < c.of.world.cfg.Calm }

// Hold implements sharedobj.Room.
func (c *crowd) Hold(bytes uint64, must bool) bool {
	left := c.of.world.cfg.Core.MaxBytes
	if c.there() {
		left = c.rnd.Uint64N(left)
	}
	fits := bytes <= c.told || bytes <= left
	if fits || must {
		c.told = bytes
	}
	return fits
}

// Wanted implements sharedobj.Room.
func (c *crowd) Wanted() bool { return c.there() && c.rnd.IntN(4) == 0 }
