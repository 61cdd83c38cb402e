package steal

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"github.com/satin-peer/satin/job"
)

// ranking orders all peers there could be by who should rather hold a run's root: first the deputies of its
// manifest, the owner at their head, in their order, then everybody else by a hash of run and peer. A rank
// follows from the manifest and the peer's ID alone. It is not a position among the members, because two
// peers seldom know the same members: with positions, each of two masters could find the other one worse, and
// both would stay. So a receiver can also tell whether a sender has the rank that it claims.
type ranking struct {
	run      job.RunID
	deputies []PeerID
}

// unlisted is the least rank of a peer that is not a deputy.
const unlisted = 1 << 31

// of is the rank of a peer; a lower one is better.
func (r *ranking) of(id PeerID) uint32 {
	if i := slices.Index(r.deputies, id); i >= 0 {
		return uint32(i)
	}
	h := sha256.New()
	h.Write(r.run[:])
	h.Write([]byte(id))
	var sum [sha256.Size]byte
	return unlisted | binary.BigEndian.Uint32(h.Sum(sum[:0]))
}

// compare is negative if a should rather be master than b. Peers whose hashes are equal are told apart by
// their IDs, so that the order is total.
func (r *ranking) compare(a, b PeerID) int {
	return cmp.Or(cmp.Compare(r.of(a), r.of(b)), cmp.Compare(a, b))
}

// claim is what a master says of itself.
type claim struct {
	id      PeerID
	waiting bool // it has not begun the root
}

// before says which of two masters stays: one that has begun rather than one that has not, and else the one of better
// rank. That one has the answer does not count: anybody may say so, and an owner that computes, or a deputy, would
// lose its root to a lie.
func (r *ranking) before(a, b claim) bool {
	if a.waiting != b.waiting {
		return b.waiting
	}
	return r.compare(a.id, b.id) < 0
}

// better lists the members that rank before a peer and could become master.
func (r *ranking) better(members *Members, than PeerID) (ids []PeerID) {
	for i := range members.Len() {
		if m := members.At(i); !m.Guest && r.compare(m.ID, than) < 0 {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// stagger is how long after the end of a master's lease a peer becomes master that knows of n better ones
// that might: time for them to do so and to be heard. The first four are a whole step apart each. What
// follows is squeezed into one more step, less and less apart, so that the wait is bounded (by four steps)
// and yet no two of a large swarm begin at the same moment: when the master took the best of them with it,
// the next to act is still one, not all.
func stagger(n int, step time.Duration) time.Duration {
	if n <= 3 {
		return time.Duration(n) * step
	}
	return 4*step - step/time.Duration(n-2)
}
