package objects

import (
	"math/rand/v2"

	"github.com/satin-peer/satin/sharedobj"
)

// A crowd are the other runs of a peer, as its core sees them: until the world is calm they take a part of the memory
// that changes all the time, and want what the core can spare; afterwards they are gone.
type crowd struct {
	of   *peer
	rnd  *rand.Rand
	told uint64 // what the core has said to hold
	sent map[sharedobj.PeerID]uint64
}

func newCrowd(p *peer) *crowd {
	return &crowd{of: p, rnd: rand.New(rand.NewPCG(p.world.cfg.Seed, 0x63726f7764+uint64(p.number))),
		sent: map[sharedobj.PeerID]uint64{}}
}

func (c *crowd) there() bool { return c.of.world.now < c.of.world.cfg.Calm }

// Hold implements sharedobj.Room.
func (c *crowd) Hold(bytes uint64, must bool) bool {
	fits := bytes <= c.told || bytes <= c.left()
	if fits || must {
		c.told = bytes
	}
	return fits
}

// Sent implements sharedobj.Room.
func (c *crowd) Sent(from sharedobj.PeerID, bytes uint64, must bool) bool {
	fits := bytes <= c.sent[from] || bytes <= c.left()
	if fits || must {
		c.sent[from] = bytes
	}
	return fits
}

func (c *crowd) left() uint64 {
	most := c.of.world.cfg.Core.MaxBytes
	if c.there() {
		return c.rnd.Uint64N(most)
	}
	return most
}

// mostSent is what the sender has that has most, as the core says.
func (c *crowd) mostSent() (n uint64) {
	for from, bytes := range c.sent {
		if from != "" {
			n = max(n, bytes)
		}
	}
	return n
}

// Wanted implements sharedobj.Room.
func (c *crowd) Wanted() bool { return c.there() && c.rnd.IntN(4) == 0 }
