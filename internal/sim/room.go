package sim

import (
	"math/rand/v2"

	"github.com/satin-peer/satin/steal"
)

// A room is the memory that a modelled peer has for what others give it, of which one of them may have a half.
type room struct {
	of   *peer
	most int
	all  int
	from map[steal.PeerID]int
}

func newRoom(p *peer) steal.Room {
	if p.world.cfg.Room == 0 {
		return nil
	}
	return &room{of: p, most: p.world.cfg.Room, from: map[steal.PeerID]int{}}
}

// Take implements steal.Room.
func (r *room) Take(from steal.PeerID, bytes int, must bool) bool {
	fits := r.all+bytes <= r.most && (from == "" || r.from[from]+bytes <= r.most/2)
	if fits || must {
		r.all += bytes
		r.from[from] += bytes
	}
	return fits
}

// Give implements steal.Room.
func (r *room) Give(from steal.PeerID, bytes int) {
	r.all -= bytes
	if r.from[from] -= bytes; r.from[from] < 0 {
		panic(violation(inBounds, "%s gives back %d bytes of %s more than it took", r.of.id, -r.from[from], from))
	}
}

// tightly gives some schedules little memory, down to none at all. It draws for itself, so that what the others draw
// stays.
func tightly(seed uint64, c *Config) {
	const oneOf = 7
	if seed%oneOf != 3 {
		return
	}
	r := rand.New(rand.NewPCG(seed, 0x726f6f6d))
	c.Room = 1 + r.IntN(20_000)>>r.IntN(5)
}
