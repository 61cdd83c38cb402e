package steal

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Leaving (fault tolerance paper, 3.3). A peer that leaves loses only what it has not finished.
//
// States: staying; leaving, from Leave to the goodbye; gone. Steps:
//
//  1. What others asked for is refused, what has not begun goes back to its owners (Return), what runs is
//     aborted. The thieves of its jobs are told that they have orphans now (Disown), and tell everybody.
//  2. The outcomes that it keeps go to other peers, several, in pieces (HandOver): first what nobody else
//     has, the largest jobs before the small ones, then what had gone home to its owners, who may be leaving
//     too. Each receiver gets the next piece when it has acknowledged the last one, so that the quick ones
//     get more. It tells everybody that it has them now.
//  3. A receiver that leaves itself says so in its acknowledgement; one that does not answer in time is taken
//     to be gone. Their pieces go to others.
//  4. Results that are on their way home are repeated until acknowledged.
//  5. When nothing is left of 2 to 4, or patience is over, it says goodbye to everybody with whom anything is
//     out, and is gone. What was not handed over by then is lost, as in a crash.
//
// The paper chooses one receiver at random. One link can be slow, and a cluster that leaves at once would
// hand over to itself.
type leaver struct {
	until     time.Duration
	pieces    [][]Partial // not sent yet
	transfers []*transfer // one for each receiver that works
	refused   map[PeerID]bool
	lastID    uint64
}

// transfer is a piece on its way.
type transfer struct {
	id    uint64
	to    *peer
	parts []Partial
	until time.Duration // then the receiver is taken to be gone
}

const (
	// maxReceivers is how many peers are handed over to at a time.
	maxReceivers = 4
	// minPiece is the least that is worth a message of its own, in bytes.
	minPiece = 16 << 10
)

// Leave makes this peer leave: see above. With no patience, or without anything to hand over, the goodbye is
// in the output; otherwise the core wants to be ticked and given messages until Gone. Afterwards it ignores
// everything.
func (c *Core) Leave(now, patience time.Duration) Output {
	if !c.begin(now) {
		return c.out
	}
	if patience <= 0 || !c.salvaging() {
		c.leave()
		return c.out
	}
	if c.leaving == nil {
		c.leaving = &leaver{until: c.now + patience, refused: make(map[PeerID]bool)}
		c.dropWork()
		c.cutPieces()
	}
	return c.end()
}

// Gone says whether the goodbye has been said.
func (c *Core) Gone() bool { return c.left }

// Cancel ends this peer's part because the run is over: everything is aborted and forgotten, and partners
// hear a goodbye.
func (c *Core) Cancel(now time.Duration) Output {
	if !c.begin(now) {
		return c.out
	}
	c.leave()
	return c.out
}

// leave says goodbye to everybody who counts on this peer, and forgets everything.
func (c *Core) leave() {
	for _, p := range c.peers.list {
		if p.farewell || p.partner(c.now) || c.flightTo(p.id) >= 0 || c.asking(p) {
			c.send(p, &Message{Goodbye: &Goodbye{}})
		}
	}
	for _, s := range c.inOrder() {
		if s.state == running {
			c.order(Order{Kind: AbortSegment, Segment: s.id})
		}
	}
	c.left = true
	c.forgetAll()
}

// forgetAll lets go of what a core that is gone needs no more. Its counters stay.
func (c *Core) forgetAll() {
	c.peers, c.flights, c.asks, c.takes, c.adopting = peerTable{}, nil, nil, nil, nil
	c.segments, c.waiting, c.unacked, c.unackedN = make(map[SegmentID]*segment), nil, nil, 0
	c.refs, c.leaseN, c.root, c.leaving = make(map[Ref]*lease), 0, nil, nil
	c.stats.TuplesEvicted += c.tuples.evicted
	c.store, c.tuples = newStore(c.cfg.MaxKept, c.cfg.MaxKeptBytes), newTupleTable(c.cfg.MaxTuples)
	c.telling, c.shown = teller{}, watcher{}
}

// dropWork is step 1.
func (c *Core) dropWork() {
	for _, p := range c.peers.list {
		p.farewell = p.partner(c.now)
	}
	for i := range c.asks {
		c.reply(&c.asks[i], nil)
	}
	for i := range c.takes { // the engine's answers go back to it
		c.reply(&c.takes[i], nil)
	}
	c.asks, c.takes, c.flights, c.wakeAt = nil, nil, nil, 0
	c.telling = teller{} // what is here will be elsewhere
	c.endRoot()
	var ls []*lease
	for _, ref := range slices.Sorted(maps.Keys(c.refs)) {
		ls = append(ls, c.refs[ref])
	}
	c.disownAll(ls)
	for _, p := range c.peers.list {
		var back []Handle
		for _, s := range slices.Clone(p.held) {
			switch s.state {
			case waiting:
				back = append(back, s.handle)
				c.stop(s)
				c.release(s)
			case running: // held until the goodbye, so that no inventory misses it
				c.order(Order{Kind: AbortSegment, Segment: s.id})
				s.state = stopped
			case lent:
				c.unown(s)
				c.orphan(s)
			}
		}
		if len(back) > 0 {
			c.send(p, &Message{Return: &Return{Handles: back}})
		}
	}
	for _, s := range c.inOrder() {
		if s.orphan {
			c.stop(s)
			delete(c.segments, s.id)
		}
	}
}

// cutPieces is the first half of step 2: what there is to hand over, in the order of its worth.
func (c *Core) cutPieces() {
	ks := slices.Clone(c.store.index)
	slices.SortStableFunc(ks, func(a, b *kept) int {
		return cmp.Or(cmp.Compare(min(b.class, 1), min(a.class, 1)), cmp.Compare(len(a.Path), len(b.Path)))
	})
	total := 0
	for _, k := range ks {
		total += k.Size()
	}
	piece := min(c.cfg.MaxHandOver, max(minPiece, total/(2*maxReceivers)))
	for _, k := range ks {
		c.leaving.add(k.Partial, piece)
	}
}

// add puts an outcome into the last piece or a new one. A large one is a piece by itself.
func (l *leaver) add(p Partial, piece int) {
	size := p.Size()
	if n := len(l.pieces) - 1; n >= 0 && len(l.pieces[n]) < maxParts {
		sum := size
		for i := range l.pieces[n] {
			sum += l.pieces[n][i].Size()
		}
		if sum <= piece {
			l.pieces[n] = append(l.pieces[n], p)
			return
		}
	}
	l.pieces = append(l.pieces, []Partial{p})
}

// alsoHandOver adds what the engine finished while leaving.
func (c *Core) alsoHandOver(k *kept) {
	if c.leaving != nil {
		c.leaving.add(k.Partial, minPiece)
	}
}

// handOver is the second half of step 2, and steps 3 to 5.
func (c *Core) handOver() {
	l := c.leaving
	if c.now >= l.until {
		c.leave()
		return
	}
	for _, t := range slices.Clone(l.transfers) {
		if c.now >= t.until || t.to.lost {
			c.refusedHandOver(t)
		}
	}
	for len(l.pieces) > 0 && len(l.transfers) < maxReceivers {
		p := c.receiver()
		if p == nil {
			break
		}
		l.lastID++
		t := &transfer{id: l.lastID, to: p, parts: l.pieces[0]}
		l.pieces = l.pieces[1:]
		m := &Message{HandOver: &HandOver{ID: t.id, Parts: t.parts}}
		t.until = c.now + c.cfg.StealTimeout + 4*c.links.expected(p.cluster, m.Size())
		l.transfers = append(l.transfers, t)
		p.farewell = true
		c.send(p, m)
	}
	if len(l.transfers) == 0 && !c.resultsUnderway() {
		c.leave()
	}
}

// refusedHandOver gives a piece back that its receiver does not keep, and does not ask that one again.
func (c *Core) refusedHandOver(t *transfer) {
	l := c.leaving
	l.refused[t.to.id] = true
	l.transfers = slices.DeleteFunc(l.transfers, func(u *transfer) bool { return u == t })
	l.pieces = slices.Insert(l.pieces, 0, t.parts)
}

// receiver chooses who gets the next piece: the least busy, as far as is known, then the nearest. Nil if
// everybody has a piece, or does not want one.
func (c *Core) receiver() (best *peer) {
	l := c.leaving
	bestCost := 0
	for i := range c.members.Len() {
		m := c.members.At(i)
		if m.ID == c.self.Peer || l.refused[m.ID] ||
			slices.ContainsFunc(l.transfers, func(t *transfer) bool { return t.to.id == m.ID }) {
			continue
		}
		p := c.peers.find(m.ID)
		if p != nil && p.lost {
			continue
		}
		cost := 0
		if p != nil && p.known.Heard > 0 {
			cost = 2 * min(p.known.Queued, 1<<20)
		}
		if m.Cluster != c.cluster {
			cost++
		}
		if best != nil && cost >= bestCost {
			continue
		}
		if p = c.meet(m.ID); p != nil {
			best, bestCost = p, cost
		}
	}
	return best
}

// resultsUnderway says whether a result may still be acknowledged.
func (c *Core) resultsUnderway() bool {
	return slices.ContainsFunc(c.unacked, func(s *segment) bool { return !s.owner.lost })
}

// nextHandOver is when leaving has to go on by itself.
func (c *Core) nextHandOver() time.Duration {
	if c.leaving == nil {
		return 0
	}
	at := c.leaving.until
	for _, t := range c.leaving.transfers {
		at = min(at, t.until)
	}
	return at
}

// onHandOver keeps what a leaver hands over, and tells that it is here now.
func (c *Core) onHandOver(p *peer, h *HandOver) {
	if c.leaving != nil || !c.salvaging() {
		c.send(p, &Message{HandOverAck: &HandOverAck{ID: h.ID, Leaving: true}})
		return
	}
	for i := range h.Parts {
		if k := c.keep(h.Parts[i], handed, p.id); k != nil {
			c.announceOne(k)
			c.reconsider = true
		}
	}
	c.send(p, &Message{HandOverAck: &HandOverAck{ID: h.ID}})
}

// onHandOverAck ends a transfer.
func (c *Core) onHandOverAck(p *peer, a *HandOverAck) {
	l := c.leaving
	i := -1
	if l != nil {
		i = slices.IndexFunc(l.transfers, func(t *transfer) bool { return t.id == a.ID && t.to == p })
	}
	switch {
	case i < 0:
		c.stats.DroppedUnexpected++
	case a.Leaving:
		c.refusedHandOver(l.transfers[i])
	default:
		c.stats.PartialsHandedOver += uint64(len(l.transfers[i].parts))
		l.transfers = slices.Delete(l.transfers, i, i+1)
	}
}
