package steal

import (
	"cmp"
	"slices"
	"time"
)

// peer is what the core remembers of another peer. It is a partner while jobs are out between the two, in
// either direction, or while the other believes so; only partners are watched and sent heartbeats. Others are
// acquaintances, and make room for new ones in turn.
type peer struct {
	id      PeerID
	cluster ClusterID
	inc     Incarnation // its present life; 0 while it has not been heard
	floor   Incarnation // lives below this one are over
	heard   time.Duration
	lost    bool // fell silent as a partner, or said goodbye; cleared by any message of a life that counts

	leases []*lease   // my jobs that it holds, by handle
	held   []*segment // its jobs that I hold, by handle
	done   [8]Handle  // its handles that were closed here most recently, so that a repeated reply is known
	doneAt int

	disowned []Handle // handles of mine that it was told to be disowned, last ones
	farewell bool     // it is to hear the goodbye of this peer, which leaves

	askSeq   RequestID     // the highest request of its present life
	expects  time.Duration // until when it counts on heartbeats from here
	beatAt   time.Duration // the next heartbeat to it; 0: none
	every    time.Duration // the period that its last heartbeat announced
	seen     uint64        // Seq of the last heartbeat from it
	hungerID uint64        // Seq of the last Hunger from it
	known    Acquaintance
}

// partner says whether jobs are out between the two, or the other believes so.
func (p *peer) partner(now time.Duration) bool {
	return p.watched() || now < p.expects
}

// watched says whether the peer's silence would matter here.
func (p *peer) watched() bool { return len(p.leases) > 0 || len(p.held) > 0 }

func (p *peer) addr() Address { return Address{Peer: p.id, Inc: p.inc} }

// begin opens a life: all that was numbered in the last one starts again.
func (p *peer) begin(inc Incarnation) {
	p.inc = inc
	p.askSeq, p.seen, p.hungerID, p.done = 0, 0, 0, [len(p.done)]Handle{}
}

// findLease and findHeld look a handle up.
func (p *peer) findLease(h Handle) (int, bool) {
	return slices.BinarySearchFunc(p.leases, h, func(l *lease, h Handle) int { return cmp.Compare(l.handle, h) })
}

func (p *peer) findHeld(h Handle) (int, bool) {
	return slices.BinarySearchFunc(p.held, h, func(s *segment, h Handle) int { return cmp.Compare(s.handle, h) })
}

// closed remembers that the peer's handle is finished with here.
func (p *peer) closed(h Handle) {
	p.done[p.doneAt] = h
	p.doneAt = (p.doneAt + 1) % len(p.done)
}

// peerTable holds the peers in a fixed order. Iteration follows that order, never a map's.
type peerTable struct {
	list  []*peer
	index map[PeerID]*peer
	hand  int // where the search for one to forget goes on
}

func (t *peerTable) find(id PeerID) *peer { return t.index[id] }

// add enters a peer. In a full table it takes the place of the next acquaintance in turn; nil if all are in use.
func (t *peerTable) add(p *peer, limit int, inUse func(*peer) bool) *peer {
	if t.index == nil {
		t.index = make(map[PeerID]*peer)
	}
	if len(t.list) < limit {
		t.list = append(t.list, p)
		t.index[p.id] = p
		return p
	}
	for range t.list {
		t.hand = (t.hand + 1) % len(t.list)
		if old := t.list[t.hand]; !inUse(old) {
			delete(t.index, old.id)
			t.list[t.hand] = p
			t.index[p.id] = p
			return p
		}
	}
	return nil
}

// meet finds the peer or enters it; nil if there is no room.
func (c *Core) meet(id PeerID) *peer {
	if p := c.peers.find(id); p != nil {
		return p
	}
	return c.peers.add(c.stranger(id), c.cfg.MaxPartners, func(p *peer) bool {
		return p.partner(c.now) || c.flightTo(p.id) >= 0 || c.asking(p)
	})
}

// stranger is a peer of which only the membership is known.
func (c *Core) stranger(id PeerID) *peer {
	m, _ := c.members.Find(id)
	return &peer{id: id, cluster: m.Cluster}
}

// asking says whether a request of the peer is being dealt with.
func (c *Core) asking(p *peer) bool {
	has := func(a Ask) bool { return a.peer == p }
	return slices.ContainsFunc(c.asks, has) || slices.ContainsFunc(c.takes, has)
}
