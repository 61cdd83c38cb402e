package sharedobj

import (
	"slices"
	"time"
)

// fetcher gets digests.
type fetcher struct {
	*base
	list     []*fetch // under way, the oldest first
	byDigest map[Digest]*fetch
	applies  map[Ticket]applying // writes that the engine is applying
	ofVictim map[PeerID]int      // how many there are because of jobs of each
}

// applying is a write between two versions.
type applying struct {
	digest, parent Digest
	payer          PeerID
	size           uint64
	write          *Body
}

// fetch gets one digest: it learns what the digest names, then gets the writes that lead to it from a version that is
// here, or its state, whichever is shorter.
//
// It asks in tiers, the next one when nobody of the one before is any help: the own cluster (those known to have it,
// and the landing, which fetches it if need be), then those said to have it, the victim first, and the master, then
// anybody. So a cluster gets it once.
type fetch struct {
	digest  Digest
	jobs    int           // that wait for it
	guests  int           // the same, of guests
	reading time.Duration // until then a read inside a job waits for it; 0: none
	pushed  bool          // it was announced
	from    PeerID        // has announced it, or asked for it; "": somebody here waits for it, or has
	victim  PeerID        // whose job was the first to wait for it
	askers  []asker       // of the cluster, that wait for it
	holders []PeerID      // said to have it, the best first
	ways    []*way
	rounds  int
	restAt  time.Duration // everybody was asked in vain: until then nobody is asked
	fullTo  time.Duration // there was no room for the next step: until then none is made, at the cost of others

	pull   *pull
	target *entry // whose bytes the pull gets
	write  bool   // its write, not its state
	paid   uint64 // bytes of the pull that count as those of from
}

// asker is a peer that waits for what this one fetches.
type asker struct {
	peer PeerID
	told bool // what the digest names
}

// own says whether a job here waits for it, rather than others.
func (f *fetch) own() bool { return f.jobs > 0 || f.reading > 0 }

// way is a peer that may have what is fetched.
type way struct {
	peer  PeerID
	tier  int
	state wayState
	at    time.Duration // when it was asked last, or put off
}

type wayState uint8

const (
	fresh  wayState = iota
	putOff          // it is to be asked when it leaves less unanswered
	asked
	helps // has it, or is getting it
	useless
)

// large is from how many bytes on several sources are looked for at once.
const large = 16 * pieceSize

// wanted says whether anybody still waits for it.
func (f *fetch) wanted() bool {
	return f.own() || f.guests > 0 || f.pushed || len(f.askers) > 0
}

// fetch begins to get a digest, or joins who does already; nil if there are too many.
func (c *fetcher) fetch(d Digest, holders ...PeerID) *fetch {
	f := c.byDigest[d]
	if f == nil {
		if !c.anyPlace() {
			c.stats.Refused++
			return nil
		}
		f = &fetch{digest: d}
		c.store.pin(d)
		c.byDigest[d] = f
		c.list = append(c.list, f)
	}
	for _, h := range holders {
		if h != c.self && !slices.Contains(f.holders, h) && len(f.holders) < 4*maxHolders {
			f.holders = append(f.holders, h)
		}
	}
	if f.ways != nil {
		c.findWays(f)
	}
	return f
}

// placeFor says whether there is a place for what a job of one victim names: it may have a part of all.
func (c *fetcher) placeFor(victim PeerID) bool {
	return c.ofVictim[victim] < max(c.cfg.MaxNeeds, c.cfg.MaxFetches/senderPart) && c.anyPlace()
}

func (c *fetcher) anyPlace() bool { return len(c.list) < c.cfg.MaxFetches+c.cfg.MaxAdopted }

// findWays lists whom to ask.
func (c *fetcher) findWays(f *fetch) {
	add := func(id PeerID, tier int) {
		if id != c.self && c.place.member(id) && f.way(id) == nil {
			f.ways = append(f.ways, &way{peer: id, tier: tier})
		}
	}
	near := c.place.landing(f.digest)
	for _, h := range f.holders {
		if c.place.near(h) {
			add(h, 0)
		}
	}
	add(near, 0)
	for _, h := range f.holders {
		add(h, 1)
	}
	add(c.master, 1)
	if f.rounds == 0 {
		return
	}
	neighbours := c.place.ranked(f.digest, c.place.cluster[c.self])
	for _, id := range neighbours[:min(4, len(neighbours))] {
		add(id, 2)
	}
	for range min(4, len(c.place.members)) {
		add(c.place.members[c.rand.IntN(len(c.place.members))].ID, 2)
	}
}

// moreWays asks on when one who is said to have it has become a member, or when there was nobody to ask.
func (c *fetcher) moreWays(f *fetch) {
	isNew := func(h PeerID) bool { return c.place.member(h) && f.way(h) == nil }
	if f.ways == nil && f.restAt == 0 {
		return // nobody has been asked yet
	}
	if len(f.ways) > 0 && !slices.ContainsFunc(f.holders, isNew) {
		return
	}
	f.restAt = 0
	c.findWays(f)
	c.advance(f)
}

// advance does the next step of a fetch.
func (c *fetcher) advance(f *fetch) {
	if c.byDigest[f.digest] != f {
		return
	}
	if !f.wanted() {
		c.giveUp(f)
		return
	}
	f.wake(c.now)
	for f.pull == nil && c.byDigest[f.digest] == f {
		e := c.store.find(f.digest)
		if e == nil {
			break // nobody has said what it is
		}
		if e.state != nil {
			c.complete(f)
			return
		}
		if e.recipe.State.Size > c.cfg.MaxBytes {
			c.fail(f, c.tooLarge(&e.recipe))
			return
		}
		if f.forGuests() && e.recipe.State.Size > c.guestBytes() {
			c.fail(f, errRefused)
			return
		}
		if f.fullTo != 0 {
			return
		}
		target, step := c.plan(e)
		payer := f.payer()
		if !c.push(target, payer) {
			c.decline(f)
			return
		}
		if step == apply {
			if size := target.recipe.State.Size; f.forGuests() && !c.guestRoom(size) || !c.apply(target) {
				c.full(f)
			} else if f.forGuests() {
				target.lent = true
			}
			return
		}
		blob := target.recipe.State
		if step == getWrite {
			blob = target.recipe.Write
		}
		if b := c.store.blob(blob); b != nil {
			if !c.gotBody(target, step == getWrite, b) {
				c.full(f)
			}
			continue
		}
		if f.restAt > c.now {
			return
		}
		if !c.store.allows(payer, blob.Size, target) || !c.mayFetch(payer, blob.Size) {
			c.decline(f)
			return
		}
		if f.forGuests() && !c.guestRoom(blob.Size) || !c.pullFor(f, target, blob, step == getWrite) {
			c.full(f)
			return
		}
	}
	if c.byDigest[f.digest] == f {
		c.seek(f)
	}
}

// full has a fetch rest for which there is no room.
func (c *fetcher) full(f *fetch) { f.fullTo = c.now + c.cfg.RetryAfter }

// wake ends the rests that are over. It must not be put off: the time of each is when to tick again.
func (f *fetch) wake(now time.Duration) {
	if f.fullTo <= now {
		f.fullTo = 0
	}
	if f.restAt != 0 && f.restAt <= now {
		f.restAt, f.ways = 0, nil // everybody is asked anew
	}
}

// pullFor begins to get a blob; false if there is no room.
func (c *fetcher) pullFor(f *fetch, target *entry, blob Blob, write bool) bool {
	needs := pinnedBy(target, write)
	if c.store.pin(needs...); !c.store.room(blob.Size) {
		c.store.unpin(needs...)
		return false
	}
	target.lent = f.forGuests()
	c.store.reserved += blob.Size
	if payer := f.payer(); payer != "" {
		f.paid = blob.Size
		c.store.senders.bill(payer, f.paid)
	}
	f.pull, f.target, f.write = newPull(blob, &c.cfg), target, write
	for _, w := range f.ways {
		if w.state == helps {
			f.pull.add(c.now, w.peer)
		}
	}
	return true
}

// pinnedBy are what a pull needs when it is done: a write, the version that it is to be applied to.
func pinnedBy(target *entry, write bool) []Digest {
	if write {
		return []Digest{target.digest, target.recipe.Parent}
	}
	return []Digest{target.digest}
}

// foreign says whether one more may be fetched that nobody here waits for, because a peer has sent something; "" if a
// guest's job has named it.
func (c *fetcher) foreign(from PeerID) bool {
	n, its := 0, 0
	for _, f := range c.list {
		if !f.own() {
			n++
		}
		if from != "" && f.payer() == from {
			its++
		}
	}
	if n < c.cfg.MaxAdopted && its < max(1, c.cfg.MaxAdopted/senderPart) {
		return true
	}
	c.stats.Refused++
	return false
}

// decline ends a fetch for which whoever wants it has no room left here.
func (c *fetcher) decline(f *fetch) {
	f.pushed = false
	c.giveUp(f)
}

func (c *fetcher) refuseAskers(f *fetch) {
	for _, a := range f.askers {
		c.send(a.peer, &Message{Answer: &Answer{Digest: f.digest, Status: Lacking}})
	}
	f.askers = f.askers[:0]
}

// lost takes a peer out of the ways.
func (f *fetch) lost(id PeerID) {
	if w := f.way(id); w != nil {
		w.state = useless
	}
	if f.pull != nil {
		f.pull.gone(id)
	}
}

// end takes a fetch from the list.
func (c *fetcher) endFetch(f *fetch) {
	c.dropPull(f)
	c.store.unpin(f.digest)
	delete(c.byDigest, f.digest)
	c.list = slices.DeleteFunc(c.list, func(g *fetch) bool { return g == f })
	c.jobs.freed = true
	if f.victim != "" {
		if c.ofVictim[f.victim]--; c.ofVictim[f.victim] == 0 {
			delete(c.ofVictim, f.victim)
		}
	}
}

func (c *fetcher) dropPull(f *fetch) {
	if f.pull != nil {
		c.store.reserved -= f.pull.parts.blob.Size
		c.store.senders.refund(f.from, f.paid)
		c.store.unpin(pinnedBy(f.target, f.write)...)
		f.pull, f.target, f.paid = nil, nil, 0
	}
}

// giveUp ends a fetch that nobody wants any more.
func (c *fetcher) giveUp(f *fetch) {
	if f.pull != nil {
		c.serve.refuseHeld(f.pull.parts.blob.Top)
	}
	c.refuseAskers(f)
	c.endFetch(f)
}

// fail ends one that cannot be done.
func (c *fetcher) fail(f *fetch, err error) {
	reading := f.reading > 0
	f.jobs, f.guests, f.reading = 0, 0, 0
	c.giveUp(f)
	if reading {
		c.order(Order{Kind: OrderFailed, Digest: f.digest, Err: err})
	}
	c.jobs.failed(f.digest, err)
}

// complete ends one whose value is here. Those who asked for it are served what they request.
func (c *fetcher) complete(f *fetch) {
	c.stats.Fetches++
	askers := f.askers
	f.askers = nil
	c.endFetch(f)
	for _, a := range askers {
		c.send(a.peer, &Message{Answer: c.serve.answer(f.digest)})
	}
}

// tickFetches lets time pass for all of them.
func (c *fetcher) tickFetches() {
	for _, f := range slices.Clone(c.list) {
		if f.reading > 0 && f.reading <= c.now {
			c.order(Order{Kind: OrderFailed, Digest: f.digest, Err: &NotFound{f.digest}})
			f.reading = 0
		}
		if f.pull != nil {
			f.pull.expire(c.now)
		}
		c.advance(f)
	}
}

// nextFetch is when tickFetches has something to do; 0 is never.
func (c *fetcher) nextFetch() (at time.Duration) {
	for _, f := range c.list {
		at = sooner(sooner(at, f.reading), sooner(f.restAt, f.fullTo))
		if f.pull != nil {
			at = sooner(at, f.pull.next())
		}
		for _, w := range f.ways {
			again := w.at + c.cfg.AskTimeout
			if w.state == putOff {
				again = w.at + c.cfg.RetryAfter
			}
			if (w.state == asked || w.state == putOff) && again > c.now {
				at = sooner(at, again)
			}
		}
	}
	return at
}
