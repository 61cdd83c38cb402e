package gossip

// A window remembers which of an author's sequence numbers were seen: exactly for the latest ones, and everything
// before them counts as seen. Like the window against replay of IPsec (RFC 4303, 3.4.3): messages may overtake each
// other, which a mere maximum (pubsub's BasicSeqnoValidator) would punish.
type window struct {
	top  uint64 // the largest number seen
	bits [windowSize / 64]uint64
}

const windowSize = 256

// seen says whether the number was added, or is too old to tell.
func (w *window) seen(seq uint64) bool {
	switch {
	case seq > w.top:
		return false
	case w.top-seq >= windowSize:
		return true
	}
	return w.bits[seq%windowSize/64]&(1<<(seq%64)) != 0
}

// add notes the number and says whether it is new.
func (w *window) add(seq uint64) bool {
	if w.seen(seq) {
		return false
	}
	if seq > w.top {
		if seq-w.top >= windowSize {
			w.bits = [windowSize / 64]uint64{}
		} else {
			for s := w.top + 1; s != seq; s++ {
				w.bits[s%windowSize/64] &^= 1 << (s % 64)
			}
		}
		w.top = seq
	}
	w.bits[seq%windowSize/64] |= 1 << (seq % 64)
	return true
}
