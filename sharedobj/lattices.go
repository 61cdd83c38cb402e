package sharedobj

import (
	"slices"
	"time"
)

// lattices are those whose seed is here. Their values are the engine's; here is what was told of them, and when.
//
// What is offered here is joined by the engine into what it has not yet told, and told at most every FlushEvery: that
// is the combining of messages of the Satin paper, section 4.2, and needs no memory for more than one value. What was
// lost on the way is made good by comparing all values with another peer's every SumsEvery.
type lattices struct {
	*base
	list     []*lattice // in the order in which they were opened
	byDigest map[Digest]*lattice
	most     int
	joins    map[Ticket]pendingJoin
	queued   map[PeerID]int  // joins under way by author
	strikes  map[PeerID]int  // offers of a peer that were not valid
	fellows  map[PeerID]bool // members who have spoken of one that is followed here

	sumsAt time.Duration
	owed   []comparison
}

type lattice struct {
	digest     Digest
	pending    bool // something was offered and not collected
	collecting Ticket
	flushed    time.Duration
	flushAt    time.Duration // 0: nothing to tell
	encoding   Ticket
	value      *Body     // as of the last Encode; nil: it may have changed since
	mute       bool      // the engine could not encode it; until it changes it is not asked again
	exposed    []exposed // what others may get pieces of, the oldest first
	passed     []Blob    // offers announced lately
}

// pendingJoin is a join that the engine does.
type pendingJoin struct {
	digest Digest
	from   PeerID
	passed bool   // it is another's word, which from has passed on and not seen
	author PeerID // who answers for it: from; "" of what was passed on
	job    JobID
	held   *Body // what is joined, if it was got for this, and payer has it on its account
	payer  PeerID
	paid   uint64 // what from has on its account for it else, until it is joined
	pinned bool   // its seed is, which goes before it to the engine
}

// exposed is a value and its sender; "": it is this peer's own.
type exposed struct {
	body  *Body
	payer PeerID
}

// comparison is with whom values are to be compared when they are encoded.
type comparison struct {
	peer  PeerID
	sums  *Sums // what it has said; nil: this peer begins
	until time.Duration
}

// Bounds on what others may cause.
const (
	maxJoins   = 64 // under way for one peer
	maxStrikes = 8  // invalid offers, after which a peer is not listened to
	maxOwed    = 16
	maxExposed = 2
	maxPassed  = 16
)

func newLattices(b *base) *lattices {
	return &lattices{base: b, most: b.cfg.MaxLattices, byDigest: make(map[Digest]*lattice),
		joins: make(map[Ticket]pendingJoin), queued: make(map[PeerID]int), strikes: make(map[PeerID]int),
		fellows: make(map[PeerID]bool)}
}

// reopen follows a lattice that a job here names and that was closed, or not opened. What was offered to it meanwhile
// waits to be collected.
func (c *lattices) reopen(e *entry) {
	if c.byDigest[e.digest] == nil {
		if c.open(e); c.byDigest[e.digest] != nil {
			c.byDigest[e.digest].flushAt = c.now
		}
	}
}

// open begins to follow a lattice whose seed has come. When there are too many one has to go that no job here has
// named, or names any more; what was sent unasked takes no other's place.
func (c *lattices) open(e *entry) {
	d := e.digest
	if c.byDigest[d] != nil || len(c.list) >= c.most && e.from != "" {
		return
	}
	if len(c.list) >= c.most {
		least := func(of func(e *entry) bool) int {
			return slices.IndexFunc(c.list, func(n *lattice) bool {
				e := c.store.find(n.digest)
				return e == nil || of(e)
			})
		}
		i := least(func(e *entry) bool { return e.from != "" })
		if i < 0 {
			i = least(c.store.free)
		}
		if i < 0 {
			return
		}
		c.close(c.list[i])
	}
	n := &lattice{digest: d, flushed: -c.cfg.FlushEvery}
	c.byDigest[d] = n
	c.list = append(c.list, n)
	if c.sumsAt == 0 {
		c.sumsAt = c.now + c.cfg.SumsEvery
	}
}

func (c *lattices) close(n *lattice) {
	for _, x := range n.exposed {
		c.store.discard(x.payer, x.body)
	}
	delete(c.byDigest, n.digest)
	c.list = slices.DeleteFunc(c.list, func(o *lattice) bool { return o == n })
}

// expose lets others get the pieces of a value, in the place of older ones.
func (c *lattices) expose(d Digest, payer PeerID, b *Body) {
	n := c.byDigest[d]
	if n == nil || b.Size <= maxInline || !c.store.accept(payer, b) {
		return
	}
	n.exposed = append(n.exposed, exposed{b, payer})
	if len(n.exposed) > maxExposed {
		c.store.discard(n.exposed[0].payer, n.exposed[0].body)
		n.exposed = n.exposed[1:]
	}
}

// Expose lets others get a value of a lattice by its name: one that goes with a job, and is too large to travel in it.
func (c *Core) Expose(d Digest, value *Body) { c.lattices.expose(d, "", value) }

// passes notes an announced offer, which is passed on once.
func (n *lattice) passes(b Blob) {
	if slices.Contains(n.passed, b) {
		return
	}
	if len(n.passed) == maxPassed {
		n.passed = n.passed[1:]
	}
	n.passed = append(n.passed, b)
}

// forget takes an offer that did not come for one that was not announced: another peer may have it.
func (c *lattices) forget(d Digest, b Blob) {
	if n := c.byDigest[d]; n != nil {
		n.passed = slices.DeleteFunc(n.passed, func(o Blob) bool { return o == b })
	}
}

// Offered says that something was offered to a lattice here that its value did not have. What else is offered until
// it is collected need not be said.
func (c *Core) Offered(now time.Duration, d Digest) Output {
	c.begin(now)
	if n := c.lattices.byDigest[d]; n != nil {
		n.pending = true
		if n.flushAt == 0 && n.collecting == 0 {
			n.flushAt = max(c.now, n.flushed+c.cfg.FlushEvery)
		}
		c.lattices.grew(n)
		c.lattices.collect(n)
	}
	return c.end()
}

// grew is called when a value may be another than that of the last Encode, and guards may see more.
func (c *lattices) grew(n *lattice) {
	n.value, n.mute = nil, false
	c.jobs.changed(n.digest)
}

// collect asks the engine for what is to be told, when it is time.
func (c *lattices) collect(n *lattice) {
	if n.flushAt == 0 || n.flushAt > c.now || n.collecting != 0 {
		return
	}
	n.flushAt, n.flushed, n.pending = 0, c.now, false
	n.collecting = c.ask(Order{Kind: OrderCollect, Digest: n.digest})
}

// Collected answers a Collect order: what was offered here since the last one, joined; nil for nothing.
func (c *Core) Collected(now time.Duration, d Digest, value *Body) Output {
	c.begin(now)
	n := c.lattices.byDigest[d]
	if n == nil || n.collecting == 0 {
		c.stats.Malformed++
		return c.end()
	}
	if n.collecting = 0; n.pending {
		n.flushAt = n.flushed + c.cfg.FlushEvery
	}
	if value != nil {
		c.lattices.grew(n) // of more offers than the first the engine has not told
	}
	switch e := c.store.find(d); {
	case value == nil:
	case value.Size <= uint64(c.cfg.SmallWrite):
		c.spread.enqueue(int(value.Size))
		c.spread.offers = append(c.spread.offers, Offer{d, value.Bytes()})
		c.spread.flushNews()
	case e != nil:
		c.lattices.expose(d, "", value)
		n.passes(value.Blob)
		c.spread.passOn(&Announce{Origin: c.self, Recipe: e.recipe, Offer: value.Blob})
	}
	return c.end()
}

// hearOffers joins what others offer to lattices that are used here.
func (c *lattices) hearOffers(from PeerID, offers []Offer) {
	for i := range offers {
		c.hears(from, offers[i].Digest)
		c.join(pendingJoin{digest: offers[i].Digest, from: from}, offers[i].Value)
	}
}

// join has a value joined that came from elsewhere. The engine checks its witness first.
func (c *lattices) join(j pendingJoin, value []byte) {
	known := c.byDigest[j.digest] != nil
	if j.author = j.from; j.passed || c.place.guests[c.self] { // a host tells its guests whatever it hears
		j.author = ""
	}
	refused := j.job == 0 && (c.queued[j.author] >= maxJoins || c.strikes[j.author] >= maxStrikes)
	if known && !refused && j.job == 0 && j.held == nil {
		j.paid = uint64(len(value))
		refused = !c.store.allows(j.from, j.paid)
	}
	if known && !refused {
		c.queued[j.author]++
		c.store.senders.bill(j.from, j.paid)
		if e := c.store.find(j.digest); e != nil && e.state != nil {
			j.pinned = true
			c.store.pin(j.digest)
		}
		own := c.place.guests[j.from]
		c.joins[c.ask(Order{Kind: OrderJoin, Digest: j.digest, Data: value, Own: own})] = j
		return
	} else if known {
		c.stats.Refused++
	}
	if j.held != nil {
		c.store.discard(j.payer, j.held)
	}
	if j.job != 0 {
		c.jobs.floored(j.job, false)
	}
}

// Joined answers a Join order: whether the value was valid, and whether it told anything new.
func (c *Core) Joined(now time.Duration, t Ticket, valid, changed bool) Output {
	c.begin(now)
	l := c.lattices
	j, ok := l.joins[t]
	if !ok {
		c.stats.Malformed++
		return c.end()
	}
	delete(l.joins, t)
	if j.pinned {
		c.store.unpin(j.digest)
	}
	c.store.senders.refund(j.from, j.paid)
	if j.held != nil {
		c.store.discard(j.payer, j.held)
	}
	if l.queued[j.author]--; l.queued[j.author] == 0 {
		delete(l.queued, j.author)
	}
	if !valid && j.author != "" && len(l.strikes) < c.cfg.MaxEntries {
		l.strikes[j.author]++
	}
	if n := l.byDigest[j.digest]; n != nil && changed {
		l.grew(n)
	}
	if j.job != 0 {
		c.jobs.floored(j.job, valid)
	}
	return c.end()
}

// compare begins a comparison with a peer, or answers its.
func (c *lattices) compare(id PeerID) { c.owe(comparison{peer: id}) }

func (c *lattices) owe(o comparison) {
	same := 0
	for _, other := range c.owed {
		if other.peer == o.peer {
			same++
		}
	}
	if len(c.owed) >= maxOwed || same >= maxOwed/senderPart || o.peer == c.self || !c.place.member(o.peer) ||
		len(c.list) == 0 {
		return
	}
	o.until = c.now + c.cfg.SumsEvery
	c.owed = append(c.owed, o)
	c.settle()
}

// settle does the comparisons that are owed once the values are encoded.
func (c *lattices) settle() {
	if len(c.owed) == 0 {
		return
	}
	stale := false
	for _, n := range c.list {
		if n.value == nil && !n.mute {
			stale = true
			if n.encoding == 0 {
				n.encoding = c.ask(Order{Kind: OrderEncode, Digest: n.digest})
			}
		}
	}
	if stale && c.owed[0].until > c.now {
		return
	}
	owed := c.owed
	c.owed = nil
	for _, o := range owed {
		c.sendSums(o)
	}
}

// Encoded answers an Encode order.
func (c *Core) Encoded(now time.Duration, t Ticket, d Digest, value *Body) Output {
	c.begin(now)
	if n := c.lattices.byDigest[d]; n != nil && n.encoding == t {
		n.encoding = 0
		n.value, n.mute = value, value == nil
		if value != nil && !slices.ContainsFunc(n.exposed, func(x exposed) bool { return x.body.Top == value.Top }) {
			c.lattices.expose(d, "", value)
		}
	}
	c.lattices.settle()
	return c.end()
}

// sendSums says what the values here are: all of them, or those that differ from what the peer has said.
func (c *lattices) sendSums(o comparison) {
	theirs := make(map[Digest]*Sum)
	if o.sums != nil {
		for i := range o.sums.Values {
			theirs[o.sums.Values[i].Digest] = &o.sums.Values[i]
		}
	}
	s := &Sums{Reply: o.sums != nil}
	bytes := 0
	for _, n := range c.list {
		sum := theirs[n.digest]
		if n.value == nil || o.sums != nil && (sum == nil || sum.Blob == n.value.Blob) {
			continue
		}
		v := Sum{Digest: n.digest, Blob: n.value.Blob}
		if n.value.Size <= maxInline && bytes+int(n.value.Size) <= maxAnswer {
			v.Value = n.value.Bytes()
			bytes += len(v.Value)
		}
		if s.Values = append(s.Values, v); len(s.Values) == maxSums {
			break
		}
	}
	if o.sums != nil {
		c.takeSums(o.peer, o.sums)
	}
	switch {
	case len(s.Values) == 0 || o.sums != nil && o.sums.Reply:
	case !c.serve.spend(c.now, o.peer, uint64(bytes)):
		c.stats.Refused++
	default:
		c.send(o.peer, &Message{Sums: s})
	}
}

// onSums compares when the values here are encoded.
func (c *lattices) onSums(from PeerID, s *Sums) {
	for i := range s.Values {
		c.hears(from, s.Values[i].Digest)
	}
	if s.Reply {
		c.takeSums(from, s) // its values differ from those here, or did
		return
	}
	c.owe(comparison{peer: from, sums: s})
}

// takeSums joins the values that differ.
func (c *lattices) takeSums(from PeerID, s *Sums) {
	for i := range s.Values {
		v := &s.Values[i]
		n := c.byDigest[v.Digest]
		switch {
		case n == nil || n.value != nil && n.value.Blob == v.Blob:
		case len(v.Value) > 0 || v.Blob.Size == 0:
			c.join(pendingJoin{digest: v.Digest, from: from}, v.Value)
		case n.value != nil || s.Reply:
			if c.strikes[from] < maxStrikes {
				c.errands.run(&errand{lattice: v.Digest, from: from}, v.Blob)
			}
		}
	}
}

// tickLattices tells what is due, and compares.
func (c *lattices) tickLattices() {
	for _, n := range c.list {
		c.collect(n)
	}
	if c.sumsAt != 0 && c.sumsAt <= c.now {
		c.sumsAt = c.now + c.cfg.SumsEvery
		if id := c.partner(); id != "" {
			c.compare(id)
		}
	}
	c.settle()
}

// hears notes that a member has spoken of a lattice.
func (c *lattices) hears(from PeerID, d Digest) {
	if c.byDigest[d] != nil {
		c.fellows[from] = true
	}
}

// partner draws somebody to compare with, of those who have spoken of a lattice that is followed here, and now and then
// of all, as most members of a run may follow none. One in as many comparisons as there are such in the own cluster
// goes to another one: so links carry one for each cluster, however many peers it has.
func (c *lattices) partner() PeerID {
	var all, near, far []PeerID
	for _, m := range c.place.members {
		if m.ID == c.self {
			continue
		}
		all = append(all, m.ID)
		switch {
		case !c.fellows[m.ID]:
		case c.place.near(m.ID):
			near = append(near, m.ID)
		default:
			far = append(far, m.ID)
		}
	}
	ids := near
	switch {
	case len(all) == 0:
		return ""
	case c.rand.IntN(len(near)+len(far)+1) == 0:
		ids = all
	case len(far) > 0 && c.rand.IntN(len(near)+1) == 0:
		ids = far
	}
	return ids[c.rand.IntN(len(ids))]
}

func (c *lattices) nextLattice() (at time.Duration) {
	for _, n := range c.list {
		at = sooner(at, n.flushAt)
	}
	if len(c.owed) > 0 {
		at = sooner(at, c.owed[0].until)
	}
	return sooner(at, c.sumsAt)
}
