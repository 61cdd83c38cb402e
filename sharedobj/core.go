package sharedobj

import (
	"slices"
	"time"
)

// Rand is where randomness comes from; a *math/rand/v2.Rand is one.
type Rand interface{ IntN(n int) int }

// Core is the state of shared objects at one peer in one run. See the package comment. It is made of
// machines, each with one thing to do, which share what is in base; its own methods are the inputs.
type Core struct{ *base }

// base is what all machines of a core share: what is held, the peers, the time, and the output of the present input.
type base struct {
	cfg    Config
	self   PeerID
	master PeerID
	place  place
	rand   Rand
	now    time.Duration
	stats  Stats
	ticket Ticket
	store  *store
	early  early
	noted  map[string]bool // what the user was told once
	out    Output

	asking   *asking   // what was asked and not answered (asking.go)
	fetches  *fetcher  // gets what is missing (fetch.go, plan.go, answers.go)
	errands  *errands  // gets large values of lattices (errand.go)
	serve    *server   // gives others what they ask for (serve.go)
	spread   *spreader // tells others what is new (spread.go)
	lattices *lattices // keeps lattices alike (lattices.go)
	jobs     *waiting  // holds jobs until they may begin (jobs.go)
}

// NewCore makes the core of a peer. The error wraps ErrConfig.
func NewCore(cfg Config, self PeerID, members []Member, rand Rand) (*Core, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	b := &base{cfg: cfg, self: self, place: newPlace(self, members), rand: rand, store: newStore(&cfg),
		noted: make(map[string]bool)}
	b.fetches = &fetcher{base: b, byDigest: make(map[Digest]*fetch), applies: make(map[Ticket]applying),
		ofVictim: make(map[PeerID]int)}
	b.asking = &asking{base: b, of: make(map[PeerID]*unanswered)}
	b.errands, b.spread = &errands{base: b}, &spreader{base: b}
	b.serve, b.lattices = newServer(b), newLattices(b)
	b.jobs = &waiting{base: b, byID: make(map[JobID]*job)}
	return &Core{b}, nil
}

// Stats returns the counters.
func (c *Core) Stats() Stats {
	s := c.stats
	s.BytesHeld, s.Pushed = c.store.used, c.store.senders.bytes
	for _, a := range c.store.senders.of {
		s.PushedMost = max(s.PushedMost, a.bytes)
	}
	return s
}

// Step takes a message in. It may be any message at all: what does not make sense is counted and dropped.
func (c *Core) Step(now time.Duration, m *Message) Output {
	c.begin(now)
	switch {
	case m.Validate() != nil || m.To != c.self || m.From == c.self:
		c.stats.Malformed++
	case !c.place.member(m.From):
		c.stats.Strangers++
		c.early.note(c.now, c.now-c.cfg.AskTimeout, m)
	case m.Ask != nil:
		c.serve.onAsk(m.From, m.Ask)
	case m.Answer != nil:
		c.fetches.onAnswer(m.From, m.Answer)
	case m.Get != nil:
		c.serve.onGet(m.From, m.Get)
	case m.Piece != nil:
		c.fetches.onPiece(m.From, m.Piece)
	case m.Gone != nil:
		c.fetches.onGone(m.From, m.Gone.Top)
	case m.Announce != nil:
		c.spread.onAnnounce(m.From, m.Announce)
	case m.Sums != nil:
		c.lattices.onSums(m.From, m.Sums)
	}
	return c.end()
}

// Hear takes in what a peer told everybody.
func (c *Core) Hear(now time.Duration, from PeerID, n *News) Output {
	c.begin(now)
	switch {
	case n.Validate() != nil:
		c.stats.Malformed++
	case from == c.self:
	case !c.place.member(from):
		c.stats.Strangers++
	default:
		if !c.place.guests[from] {
			c.spread.hearWrites(from, n.Writes)
		}
		c.lattices.hearOffers(from, n.Offers)
	}
	return c.end()
}

// Tick lets time pass. Call it at the time Next says, or later.
func (c *Core) Tick(now time.Duration) Output {
	c.begin(now)
	if c.cfg.Room != nil && c.cfg.Room.Wanted() {
		c.store.thin(func() bool { return false }, anyEntry)
	}
	c.jobs.expire()
	c.fetches.tickFetches()
	c.errands.tickErrands()
	c.serve.expire(c.now)
	c.lattices.tickLattices()
	return c.end()
}

// Next is when the core wants to be ticked; false if nothing is due.
func (c *Core) Next() (at time.Duration, ok bool) {
	at = sooner(c.jobs.next(), c.fetches.nextFetch())
	for _, e := range c.errands.list {
		at = sooner(at, sooner(e.pull.next(), e.until))
	}
	at = sooner(at, c.serve.next())
	at = sooner(at, c.spread.flushAt)
	at = sooner(at, c.lattices.nextLattice())
	return at, at != 0
}

// SetMembers replaces the membership, and SetMaster says who holds the run's root. Whoever has become a member is
// answered what it asked a moment ago, and asked for what is looked for in vain.
func (c *Core) SetMembers(now time.Duration, members []Member) Output {
	c.begin(now)
	c.place = newPlace(c.self, members)
	c.forgetStrangers()
	for _, m := range c.early.admitted(c.now-c.cfg.AskTimeout, c.place.member) {
		c.serve.onAsk(m.From, m.Ask)
	}
	for _, f := range slices.Clone(c.fetches.list) {
		c.fetches.moreWays(f)
	}
	return c.end()
}

// SetMaster says who holds the run's root: a peer that probably has what is named.
func (c *Core) SetMaster(master PeerID) { c.master = master }

// Lost says that a peer cannot be reached or is gone. It may be heard of again.
func (c *Core) Lost(now time.Duration, id PeerID) Output {
	c.begin(now)
	c.serve.lost(id)
	delete(c.asking.of, id)
	for _, f := range slices.Clone(c.fetches.list) {
		f.lost(id)
		c.fetches.advance(f)
	}
	for _, e := range slices.Clone(c.errands.list) {
		e.pull.gone(id)
		c.errands.advanceErrand(e)
	}
	return c.end()
}

// SendFailed says that a message of an earlier Output was certainly not delivered.
func (c *Core) SendFailed(now time.Duration, m *Message) Output {
	switch {
	case m.Ask != nil, m.Get != nil:
		return c.Lost(now, m.To)
	default: // whoever wants it asks again
		c.begin(now)
		return c.end()
	}
}

// Created says that a first version was made here: a constant, an object or the seed of a lattice. It is also how
// the engine brings back what it has and the core has dropped.
func (c *Core) Created(now time.Duration, r *Recipe, state *Body) Output {
	c.begin(now)
	c.enter(r, nil, state)
	return c.end()
}

// Wrote says that a version was made here by a write, and tells the others.
func (c *Core) Wrote(now time.Duration, r *Recipe, write, state *Body) Output {
	c.begin(now)
	if e := c.enter(r, write, state); e != nil {
		c.spread.tellWrite(e)
	}
	return c.end()
}

// enter takes in what the engine here has made.
func (c *Core) enter(r *Recipe, write, state *Body) *entry {
	if !r.valid() || r.State != state.Blob || write != nil && r.Write != write.Blob {
		c.stats.Malformed++
		return nil
	}
	e := c.put(r, write, state)
	if e == nil {
		c.order(Order{Kind: OrderFailed, Digest: r.Digest(), Err: c.tooLarge(r)})
		return nil
	}
	c.arrived(e, 0)
	return e
}

// put holds what was made here, whatever other runs leave; nil if it is more than this one may.
func (c *Core) put(r *Recipe, write, state *Body) *entry {
	e := c.store.know(r)
	c.claim(r.Digest())
	c.store.must = true
	defer func() { c.store.must = false }()
	if e == nil || write != nil && !c.store.putWrite(e, write) || !c.store.putState(e, state) {
		return nil
	}
	return e
}

func (c *base) tooLarge(r *Recipe) error {
	return &TooLarge{Kind: r.Kind, Digest: r.Digest(), Name: r.Name, Size: r.State.Size, Most: c.cfg.MaxBytes}
}

// Pin keeps versions, whether here or not, until Unpin has been called as often: those that running frames hold, and
// those of jobs that were given away.
func (c *Core) Pin(ds ...Digest) {
	for _, d := range ds {
		c.claim(d)
		c.store.pin(d)
	}
}

// Unpin undoes a Pin.
func (c *Core) Unpin(ds ...Digest) {
	for _, d := range ds {
		c.store.done(d)
	}
}

// Keep enters the argument of a job of a function that is about to be given away, pinned; false if there is no room.
func (c *Core) Keep(now time.Duration, function string, arg *Body) (d Digest, out Output, ok bool) {
	c.begin(now)
	r := &Recipe{Kind: Argument, Name: function, State: arg.Blob}
	if !r.valid() {
		return d, c.end(), false
	}
	d = r.Digest()
	if e := c.store.know(r); e != nil && c.store.putState(e, arg) {
		c.store.pin(d)
		c.arrived(e, 0)
		ok = true
	}
	return d, c.end(), ok
}

// KeepOutcome enters what came of a job here. It stays as long as there is room, or it is pinned. The error says that
// it is more than this peer may hold.
func (c *Core) KeepOutcome(now time.Duration, outcome *Body) (out Output, err error) {
	c.begin(now)
	r := OutcomeOf(outcome)
	if e := c.put(r, nil, outcome); e != nil {
		c.arrived(e, 0)
	} else {
		err = c.tooLarge(r)
	}
	return c.end(), err
}

// Private gives an argument or an outcome, if it is here.
func (c *Core) Private(kind Kind, d Digest) (b []byte, ok bool) {
	if e := c.store.find(d); !kind.private() || e == nil || e.recipe.Kind != kind || e.state == nil {
		return nil, false
	}
	return c.store.state(d).Bytes(), true
}

// Applied answers an Apply order with the encoded state; nil if the write failed.
func (c *Core) Applied(now time.Duration, t Ticket, state *Body) Output {
	c.begin(now)
	c.fetches.applied(t, state)
	return c.end()
}

// Holders names up to three other peers that are known to have a version, for a grant.
func (c *Core) Holders(d Digest) []PeerID {
	if e := c.store.find(d); e != nil {
		return slices.Clone(e.holders)
	}
	return nil
}

// Value gives a version that is here, and the name under which its type is registered; false if it is not, or if its
// digest is not all that its value depends on, as that of a lattice.
func (c *Core) Value(d Digest) (name string, value *Body, ok bool) {
	e := c.store.find(d)
	if e == nil || e.state == nil || e.recipe.Kind != Constant && e.recipe.Kind != Phased {
		return "", nil, false
	}
	return e.recipe.Name, e.state, true
}

// Has says whether a version's value is here.
func (c *Core) Has(d Digest) bool {
	e := c.store.find(d)
	return e != nil && e.state != nil
}

func (c *Core) begin(now time.Duration) {
	c.now = max(c.now, now, 1) // 0 means never
	c.out.Orders, c.out.Messages = c.out.Orders[:0], c.out.Messages[:0]
}

// end tells the engine what was dropped, and everybody what has waited long enough.
func (c *Core) end() Output {
	c.jobs.findPlaces()
	c.tellGone()
	c.tellRefused()
	if c.spread.flushAt != 0 && c.spread.flushAt <= c.now {
		c.spread.flushNews()
	}
	c.store.tell(0, true)
	c.store.tellSent()
	return c.out
}

// tellGone comes before every value that is pushed too, lest a value be forgotten that has come back.
func (c *base) tellGone() {
	for _, d := range c.store.gone {
		if e := c.store.find(d); e == nil || e.state == nil {
			c.order(Order{Kind: OrderForget, Digest: d})
		}
	}
	c.store.gone = c.store.gone[:0]
}

// first says whether something is to be told to the user: what is not told again, nor too much.
func (c *base) first(about string) bool {
	if c.noted[about] || len(c.noted) >= c.cfg.MaxEntries {
		return false
	}
	c.noted[about] = true
	return true
}

func (c *base) order(o Order) { c.out.Orders = append(c.out.Orders, o) }

// ask orders something that the engine answers.
func (c *base) ask(o Order) Ticket {
	c.ticket++
	o.Ticket = c.ticket
	c.order(o)
	return c.ticket
}

func (c *base) send(to PeerID, m *Message) {
	if to == c.self || !c.place.member(to) {
		return
	}
	m.From, m.To = c.self, to
	c.out.Messages = append(c.out.Messages, m)
	near := c.place.near(to)
	c.stats.sent(m, near)
}
