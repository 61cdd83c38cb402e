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
//     out, naming the parts that others have of what goes back to whom it is said to, and tells everybody
//     else, who may have outcomes that went home to it; then it is gone. What was not handed over by then is
//     lost, as in a crash.
//
// The paper chooses one receiver at random. One link can be slow, and a cluster that leaves at once would
// hand over to itself.
type departure struct {
	*shared
	partners *partners
	segments *segments
	leases   *leases
	lost     *lostWork
	book     *book
	losses   *losses
	victim   *victim
	thief    *thief
	mirror   *mirror

	until     time.Duration
	parts     map[*peer][]Tuple // what others have of the jobs that were held for whoever hears the goodbye
	pieces    [][]Partial       // not sent yet
	transfers []*transfer       // one for each receiver that works
	refused   map[PeerID]bool
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
		c.leave(c.salvaging())
		return c.out
	}
	if !c.leaving {
		c.leaving = true
		c.departure.begin(c.now + patience)
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
	c.leave(false)
	return c.out
}

// leave says goodbye to everybody who counts on this peer, or to everybody, and forgets everything.
func (c *Core) leave(everybody bool) {
	for _, p := range c.partners.list {
		if p.farewell || p.partner(c.now) || c.thief.flightTo(p.id) >= 0 || c.victim.asking(p) {
			c.send(p, &Message{Goodbye: &Goodbye{Parts: c.departure.parts[p]}})
		}
	}
	if everybody {
		c.tellAll(&News{Goodbye: true})
	}
	for _, s := range c.segments.inOrder() {
		if s.state == running {
			c.order(Order{Kind: AbortSegment, Segment: s.id})
		}
	}
	c.left, c.leaving = true, false
	c.stats = c.Stats() // with what the machines have counted
	c.stats.PartialsLeft += c.departure.left()
	c.purse.empty()
	c.compose(c.thief.policy) // nothing of what the machines knew is needed any more
}

// begin opens the departure: steps 1 and 2.
func (dp *departure) begin(until time.Duration) {
	dp.until, dp.parts = until, make(map[*peer][]Tuple)
	dp.dropWork()
	dp.cutPieces()
}

// dropWork is step 1.
func (dp *departure) dropWork() {
	for _, p := range dp.partners.list {
		if p.farewell = p.partner(dp.now); p.farewell {
			dp.parts[p] = dp.partsOf(p)
		}
	}
	for i := range dp.victim.asks {
		dp.victim.reply(&dp.victim.asks[i], nil)
	}
	for i := range dp.victim.takes { // the engine's answers go back to it
		dp.victim.reply(&dp.victim.takes[i], nil)
	}
	dp.victim.asks, dp.victim.takes, dp.thief.flights, dp.thief.wakeAt = nil, nil, nil, 0
	dp.lost.telling = teller{} // what is here will be elsewhere
	dp.losses.endRoot()
	var ls []*lease
	for _, ref := range slices.Sorted(maps.Keys(dp.leases.refs)) {
		ls = append(ls, dp.leases.refs[ref])
	}
	dp.losses.disownAll(ls)
	for _, p := range dp.partners.list {
		dp.book.giveBack(p)
		for _, s := range slices.Clone(p.held) {
			switch s.state {
			case running: // held until the goodbye, so that no inventory misses it
				dp.order(Order{Kind: AbortSegment, Segment: s.id})
				s.state = stopped
			case lent:
				dp.book.unown(s)
				dp.losses.orphan(s)
			}
		}
	}
	for _, s := range dp.segments.inOrder() {
		if s.orphan {
			dp.book.stop(s)
			dp.segments.forget(s)
		}
	}
}

// partsOf lists what others have of the jobs that are held for a peer, the largest first if there are many. Whoever is
// silent may be gone, and tells everybody if not.
func (dp *departure) partsOf(p *peer) (parts []Tuple) {
	of := func(l *lease) bool {
		return slices.ContainsFunc(p.held, func(s *segment) bool { return atOrAbove(s.job.Path, l.job.Path) })
	}
	for _, q := range dp.partners.list {
		for _, l := range q.leases {
			if q != p && q.inc != 0 && !q.suspected() && l.witnessOf == nil && of(l) {
				parts = append(parts, Tuple{Path: l.job.Path, Identity: l.job.Identity, Holder: q.addr(),
					Age: dp.now - l.since})
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b Tuple) int { return cmp.Compare(len(a.Path), len(b.Path)) })
	return parts[:min(len(parts), dp.cfg.MaxTuplesPerNews)]
}

// cutPieces is the first half of step 2: what there is to hand over, in the order of its worth.
func (dp *departure) cutPieces() {
	ks := slices.DeleteFunc(slices.Clone(dp.lost.store.index), func(k *kept) bool {
		return k.copied && !k.told // who sent it has it
	})
	slices.SortStableFunc(ks, func(a, b *kept) int {
		return cmp.Or(cmp.Compare(min(b.class, 1), min(a.class, 1)), cmp.Compare(len(a.Path), len(b.Path)))
	})
	total := 0
	for _, k := range ks {
		total += k.Size()
	}
	piece := min(dp.cfg.MaxHandOver, max(minPiece, total/(2*maxReceivers)))
	for _, k := range ks {
		dp.add(k.Partial, piece)
	}
}

// add puts an outcome into the last piece or a new one. A large one is a piece by itself.
func (dp *departure) add(p Partial, piece int) {
	size := p.Size()
	if n := len(dp.pieces) - 1; n >= 0 && len(dp.pieces[n]) < maxParts {
		sum := size
		for i := range dp.pieces[n] {
			sum += dp.pieces[n][i].Size()
		}
		if sum <= piece {
			dp.pieces[n] = append(dp.pieces[n], p)
			return
		}
	}
	dp.pieces = append(dp.pieces, []Partial{p})
}

// alsoHandOver adds what the engine finished while leaving.
func (dp *departure) alsoHandOver(k *kept) {
	if dp.leaving {
		dp.add(k.Partial, minPiece)
	}
}

// handOver is the second half of step 2, and steps 3 and 4. It says when it is time for step 5.
func (dp *departure) handOver() (done bool) {
	if dp.now >= dp.until {
		return true
	}
	for _, t := range slices.Clone(dp.transfers) {
		if dp.now >= t.until || t.to.lost {
			dp.refusedHandOver(t)
		}
	}
	for len(dp.pieces) > 0 && len(dp.transfers) < maxReceivers {
		p := dp.receiver()
		if p == nil {
			break
		}
		dp.handOvers++
		t := &transfer{id: dp.handOvers, to: p, parts: dp.pieces[0]}
		dp.pieces = dp.pieces[1:]
		m := &Message{HandOver: &HandOver{ID: t.id, Parts: t.parts}}
		t.until = dp.now + dp.cfg.StealTimeout + 4*dp.links.expected(p.cluster, m.Size())
		dp.transfers = append(dp.transfers, t)
		p.farewell = true
		dp.send(p, m)
	}
	return len(dp.transfers) == 0 && !dp.resultsUnderway()
}

// left counts what nobody has acknowledged.
func (dp *departure) left() (n uint64) {
	for _, parts := range dp.pieces {
		n += uint64(len(parts))
	}
	for _, t := range dp.transfers {
		n += uint64(len(t.parts))
	}
	return n
}

// refusedHandOver gives a piece back that its receiver does not keep, and does not ask that one again.
func (dp *departure) refusedHandOver(t *transfer) {
	dp.refused[t.to.id] = true
	dp.transfers = slices.DeleteFunc(dp.transfers, func(u *transfer) bool { return u == t })
	dp.pieces = slices.Insert(dp.pieces, 0, t.parts)
}

// receiver chooses who gets the next piece: the least busy, as far as is known, then the nearest. Nil if
// everybody has a piece, or does not want one.
func (dp *departure) receiver() (best *peer) {
	bestCost := 0
	for i := range dp.members.Len() {
		m := dp.members.At(i)
		if m.ID == dp.self.Peer || m.Guest || dp.refused[m.ID] ||
			slices.ContainsFunc(dp.transfers, func(t *transfer) bool { return t.to.id == m.ID }) {
			continue
		}
		p := dp.partners.find(m.ID)
		if p != nil && p.lost {
			continue
		}
		cost := 0
		if p != nil && p.known.Heard > 0 {
			cost = 2 * min(p.known.Queued, 1<<20)
		}
		if m.Cluster != dp.cluster {
			cost++
		}
		if best != nil && cost >= bestCost {
			continue
		}
		if p = dp.partners.meet(m.ID); p != nil {
			best, bestCost = p, cost
		}
	}
	return best
}

// resultsUnderway says whether a result may still be acknowledged.
func (dp *departure) resultsUnderway() bool {
	return slices.ContainsFunc(dp.segments.unacked, func(s *segment) bool { return !s.owner.lost })
}

// nextHandOver is when leaving has to go on by itself.
func (dp *departure) nextHandOver() time.Duration {
	if !dp.leaving {
		return 0
	}
	at := dp.until
	for _, t := range dp.transfers {
		at = min(at, t.until)
	}
	return at
}

// onHandOver keeps what a leaver hands over, and tells that it is here now; of copies when their sender is lost.
func (dp *departure) onHandOver(p *peer, h *HandOver) {
	if h.Copy && !dp.leaving && !dp.run.Proving {
		dp.lost.keepCopies(p.id, h.Parts)
		for i := range h.Parts { // what was here before, too: nobody else may know of it who waits for this job
			dp.mirror.pass(p, h.Parts[i])
		}
		dp.send(p, &Message{HandOverAck: &HandOverAck{ID: h.ID}})
		return
	}
	if dp.leaving || !dp.salvaging() || dp.run.Proving {
		dp.send(p, &Message{HandOverAck: &HandOverAck{ID: h.ID, Leaving: true}})
		return
	}
	for i := range h.Parts {
		dp.lost.store.dropCopy(h.Parts[i])
		if k := dp.lost.keep(h.Parts[i], handed, p.id); k != nil {
			dp.lost.announceOne(k)
			dp.lost.reconsider = true
			dp.order(Order{Kind: Store, Job: Job{Path: k.Path, Identity: k.Identity}, Outcome: k.Outcome,
				Voucher: k.Voucher})
		}
	}
	dp.send(p, &Message{HandOverAck: &HandOverAck{ID: h.ID}})
}

// onHandOverAck ends a transfer.
func (dp *departure) onHandOverAck(p *peer, a *HandOverAck) {
	i := -1
	if dp.leaving {
		i = slices.IndexFunc(dp.transfers, func(t *transfer) bool { return t.id == a.ID && t.to == p })
	}
	switch {
	case i < 0:
		dp.stats.DroppedUnexpected++
	case a.Leaving:
		dp.refusedHandOver(dp.transfers[i])
	default:
		dp.stats.PartialsHandedOver += uint64(len(dp.transfers[i].parts))
		dp.transfers = slices.Delete(dp.transfers, i, i+1)
	}
}
