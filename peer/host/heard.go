package host

import (
	"cmp"
	"hash/maphash"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	ma "github.com/multiformats/go-multiaddr"
)

const (
	maxHeard = 64 // members whose addresses are remembered although they were never met
	// heardEvery is how much later a member is heard of again for that to be written down, and heardLately how long ago
	// it may be heard of last for its place to be its own.
	heardEvery  = time.Hour
	heardLately = 24 * time.Hour
)

// Heard notes where a member says that it is, by a card that was found good and that came over a link; via is nil if it
// came by gossip. Streams to it are dialed there. Some of those that this peer never meets are remembered across starts
// too, and dialed when nobody is here: else a peer whose partners are gone for good would be alone, though it knew of
// others.
func (h *Host) Heard(id peer.ID, addrs []ma.Multiaddr, via ma.Multiaddr) {
	addrs = h.Dialable(addrs, via)
	h.known.Peerstore.AddAddrs(id, addrs, peerstore.RecentlyConnectedAddrTTL)
	if h.book.hear(id, addrs, time.Now()) {
		h.seeker.poke()
	}
}

// hear notes addresses out of a member's card. What the member has signed for the exchange counts for more.
func (b *addrBook) hear(id peer.ID, addrs []ma.Multiaddr, now time.Time) (news bool) {
	if id == b.self || len(addrs) == 0 {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.all[id]
	if (known == nil || !known.lasts()) && !b.heardRoom(id, now) {
		return false
	}
	e := b.entry(id, id)
	e.byCard = e.byCard || known == nil
	if e.record == nil {
		news = e.know(addrs, e.addrs)
	}
	b.fresh = b.fresh || !e.lasts()
	if news || now.Sub(e.heard) >= heardEvery {
		e.heard, b.dirty = now, true
	}
	return news
}

// heardRoom makes room for one more member that is only heard of, if another has less of a claim to its place: it was
// not heard of lately, or has a higher number. The numbers are this process's own, so that nobody can make itself IDs
// that drive others out everywhere. The lock is held.
func (b *addrBook) heardRoom(id peer.ID, now time.Time) bool {
	var ids []peer.ID
	for other, e := range b.all {
		if !e.heard.IsZero() && !e.member() {
			ids = append(ids, other)
		}
	}
	if len(ids) < maxHeard {
		return true
	}
	late := func(id peer.ID) int { return int(now.Sub(b.all[id].heard) / heardLately) }
	last := slices.MaxFunc(ids, func(x, y peer.ID) int {
		return cmp.Or(cmp.Compare(late(x), late(y)), cmp.Compare(b.number(x), b.number(y)))
	})
	if late(last) == 0 && b.number(last) < b.number(id) {
		return false
	}
	e := b.all[last]
	if e.heard = (time.Time{}); e.byCard {
		delete(b.all, last)
	}
	return true
}

func (b *addrBook) number(id peer.ID) uint64 { return maphash.String(b.seed, string(id)) }

// know puts lists of addresses together, the first first, and says whether there is one among them that was not known.
func (e *bookEntry) know(lists ...[]ma.Multiaddr) (news bool) {
	var all []ma.Multiaddr
	if e.reached != nil {
		all = append(all, e.reached)
	}
	for _, a := range slices.Concat(lists...) {
		if len(all) < maxPeerAddrs && !slices.ContainsFunc(all, a.Equal) {
			all = append(all, a)
			news = news || !slices.ContainsFunc(e.addrs, a.Equal)
		}
	}
	e.addrs = all
	return news
}
