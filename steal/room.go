package steal

// A Room is the memory that this peer has for what others give it, over all its runs. A core takes from it what the
// jobs that it holds for others, their results until they are acknowledged, the outcomes that it keeps, or that are
// unproved, and the tuples that it knows take; what is both kept and not acknowledged counts twice, for a short time.
// Its answers are inputs of the core like any other.
type Room interface {
	// Take sets bytes aside for what came from a peer, or "" for what came about here, and says whether that was
	// allowed. If it must be, because it is here already, they are set aside in any case.
	Take(from PeerID, bytes int, must bool) bool
	// Give gives back what was taken.
	Give(from PeerID, bytes int)
}

// A purse is what a core has of the room; without a room nothing is counted.
type purse struct {
	room Room
	has  map[PeerID]int
}

func newPurse(r Room) *purse { return &purse{room: r, has: map[PeerID]int{}} }

func (u *purse) take(from PeerID, bytes int, must bool) bool {
	if u == nil || u.room == nil {
		return true
	}
	fits := u.room.Take(from, bytes, must)
	if fits || must {
		u.has[from] += bytes
	}
	return fits
}

func (u *purse) give(from PeerID, bytes int) {
	if u == nil || u.room == nil || bytes == 0 {
		return
	}
	u.room.Give(from, bytes)
	if u.has[from] -= bytes; u.has[from] == 0 {
		delete(u.has, from)
	}
}

// empty gives back all that there is.
func (u *purse) empty() {
	for from, bytes := range u.has { // in any order: they are only added up
		u.room.Give(from, bytes)
	}
	clear(u.has)
}

// jobOverhead is about what a job that is held takes besides its argument.
const jobOverhead = 512

// charge counts a segment's bytes as those of whoever gave it.
func (ss *segments) charge(s *segment, bytes int, must bool) bool {
	fits := ss.purse.take(s.from, bytes, must)
	if fits || must {
		s.taken += bytes
	}
	return fits
}
