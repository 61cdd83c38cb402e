package verify

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Config says how strictly outcomes are checked.
type Config struct {
	// Quorum is how many peers with different introducers must come to an outcome; 1: whoever brings it.
	Quorum int
	// Spot is the share of a claim's nodes that are challenged, at least one; 0: none. It goes with a Quorum of 1.
	Spot float64
	// Doubt, if not 0, has an outcome be believed when it is wrong with at most this probability, as the records of
	// those who have come to it say; see the file credibility.go. It goes with a Quorum of 1.
	Doubt float64
	// Liars is the share of strangers that are taken to lie, below 1/2; for Doubt.
	Liars float64
	// Again is the share of outcomes that are compared although one record is enough, from 0 to 1; for Doubt.
	Again float64
	// Own lets this machine be the further copy when others cannot be had; else the node waits for them. Wait is how
	// long who was asked for one is waited for. (A node that tells which of two has lied is run here in any case.)
	Own  bool
	Wait time.Duration
	// AtOnce is how many nodes this machine computes at a time where Doubt would ask more than two others; with Own.
	AtOnce int
	// MaxOpen bounds the nodes that are being checked.
	MaxOpen int
}

// A Candidate may be given copies.
type Candidate struct {
	ID         PeerID
	Introducer PeerID // by whom it is a member
}

// View is what is known of the swarm.
type View interface {
	// Candidates lists who can compute a copy, in an order that is always the same.
	Candidates() []Candidate
	// Introducer is by whom a peer is a member.
	Introducer(PeerID) PeerID
	// Trusted says whether a peer's outcomes are believed as this machine's own.
	Trusted(PeerID) bool
	// Passed counts a peer's outcomes that were compared and found right: what Passed orders have said.
	Passed(PeerID) uint64
}

// Rand draws what is challenged. Nobody may foresee it.
type Rand interface {
	// Below is a number from 0 to n-1.
	Below(n uint64) uint64
}

// Core is what one peer knows and decides about the outcomes that it gets. Each input says what time it is.
type Core struct {
	cfg    Config
	view   View
	rand   Rand
	now    time.Time
	open   questions
	blamed map[PeerID]bool
	fell   bool // somebody was caught, and it is not decided yet what follows
	scale  scale
	used   beliefs
	out    []Order
}

// New makes a core that has seen nothing.
func New(cfg Config, view View, rand Rand) *Core {
	return &Core{cfg: cfg, view: view, rand: rand, open: questions{}, blamed: map[PeerID]bool{},
		scale: scale{cfg.Liars, cfg.Doubt, view}, used: beliefs{sets: map[string]*belief{}}}
}

// held is a claim with who made it; a peer has one for a node.
type held struct {
	by PeerID
	Claim
}

// A question is a node whose outcome is wanted.
type question struct {
	node     Node
	claims   []held
	asked    map[PeerID]bool // for a copy, and has not brought one
	gone     map[PeerID]bool // did not answer, or not for itself: not asked again; false: the copy was lost on the way
	since    time.Time       // of the last claim or request
	dispute  *dispute
	audit    *audit
	here     bool // it is computed here too,
	settling bool // and that decides
	again    bool // one record is not enough
	lacks    int  // further peers that are wanted for it, and not there
	accepted *Hash
	rests    *belief // what is remembered of that; nil if there is no doubt
	proven   bool    // what was accepted proves itself
	unlike   bool    // right outcomes of it may differ
}

// authors are those of the claims.
func (q *question) authors() []PeerID {
	by := make([]PeerID, len(q.claims))
	for i, h := range q.claims {
		by[i] = h.by
	}
	return by
}

func (c *Core) do(now time.Time, f func()) []Order {
	c.now = now
	f()
	c.fall()
	out := c.out
	c.out = nil
	return out
}

func (c *Core) order(o ...Order) { c.out = append(c.out, o...) }

// ask is the question about a node; nil if there are too many.
func (c *Core) ask(n Node) *question {
	q := c.open[n]
	if q == nil && len(c.open) < c.cfg.MaxOpen {
		q = &question{node: n, asked: map[PeerID]bool{}, gone: map[PeerID]bool{}, again: c.drawn()}
		c.open[n] = q
	}
	return q
}

// Came takes in what came of a node, from whoever computed it. It says nothing of nodes beyond Config.MaxOpen, which
// nobody may want.
func (c *Core) Came(now time.Time, claim Claim, from PeerID) []Order {
	return c.do(now, func() {
		q := c.ask(claim.Node)
		if q == nil {
			return
		}
		delete(q.asked, from)
		again := slices.ContainsFunc(q.claims, func(h held) bool { return h.by == from })
		if c.blamed[from] || q.accepted != nil || again {
			c.decide(q)
			return
		}
		q.claims = append(q.claims, held{from, claim})
		q.since = now
		c.decide(q)
	})
}

// Proven takes in what came of a node, where it shows by itself that it is right: no quorum is needed. Others
// may have come to something else that is right, too.
func (c *Core) Proven(now time.Time, claim Claim, from PeerID) []Order {
	return c.do(now, func() {
		q := c.ask(claim.Node)
		if q == nil || q.accepted != nil || c.blamed[from] {
			return
		}
		q.claims, q.dispute, q.audit, q.proven = []held{{from, claim}}, nil, nil, true
		c.accept(q)
	})
}

// Refuted takes in what came of a node, where it shows by itself that it is wrong.
func (c *Core) Refuted(now time.Time, claim Claim, from PeerID) []Order {
	return c.do(now, func() {
		c.ask(claim.Node)
		c.blame(from, Proof{Said: claim, Wrong: Opening{Node: claim.Node, Outcome: claim.Outcome}})
	})
}

// Unlike says of a node that right outcomes of it may differ, as came to light when it was run here: what others have
// said of it is no proof of anything, and this machine's own outcome counts, or that of one that is trusted.
func (c *Core) Unlike(now time.Time, n Node) []Order {
	return c.do(now, func() {
		if q := c.open[n]; q != nil && q.accepted == nil {
			q.unlike, q.dispute, q.audit, q.settling = true, nil, nil, false
			c.decide(q)
		}
	})
}

// Lost says that no copy of a node will come from a peer that was asked for one; or, where it is empty, that the peer
// has computed the node and come to no answer, which is no lie.
func (c *Core) Lost(now time.Time, n Node, id PeerID, empty bool) []Order {
	return c.do(now, func() {
		q := c.open[n]
		if q == nil && empty {
			q = c.ask(n)
		}
		if q != nil {
			delete(q.asked, id)
			q.gone[id] = empty
			c.decide(q)
		}
	})
}

// Tick is wanted now and then: whoever was asked may never answer.
func (c *Core) Tick(now time.Time) []Order {
	return c.do(now, func() {
		for _, q := range c.open.sorted() {
			switch {
			case q.accepted != nil:
			case now.Sub(q.since) >= c.cfg.Wait:
				c.late(q)
			case q.lacks > 0: // somebody may have come, or have heard of the run by now
				maps.DeleteFunc(q.gone, func(_ PeerID, asked bool) bool { return !asked })
				c.decide(q)
			}
		}
	})
}

// late is about a node for which nothing has happened for long.
func (c *Core) late(q *question) {
	q.since = c.now
	switch {
	case q.dispute != nil && q.dispute.turn < 2, q.audit != nil && !q.audit.rerun:
		c.settle(q)
	case q.dispute != nil || q.audit != nil: // this machine is at it
	default:
		if q.lacks > 0 { // better one that was silent than nobody
			clear(q.gone)
		}
		maps.Copy(q.gone, q.asked)
		clear(q.asked)
		c.decide(q)
	}
}

// questions are those that are open.
type questions map[Node]*question

func (l questions) sorted() []*question {
	return slices.SortedFunc(maps.Values(l), func(a, b *question) int {
		return cmp.Or(cmp.Compare(a.node.Path, b.node.Path), slices.Compare(a.node.Identity[:], b.node.Identity[:]))
	})
}

// Done forgets a node: its run goes on, or is over.
func (c *Core) Done(n Node) { delete(c.open, n) }

// Blamed says whether a peer was caught.
func (c *Core) Blamed(id PeerID) bool { return c.blamed[id] }

// decide does what is to be done next about a node.
func (c *Core) decide(q *question) {
	switch {
	case q.accepted != nil || q.dispute != nil || q.audit != nil:
	case q.unlike:
		q.ownCounts(c)
	case c.settled(q):
	case c.differ(q):
	case c.agreed(q):
	case c.cfg.Spot > 0 && len(q.claims) > 0:
		c.challenge(q)
	case c.cfg.Doubt > 0:
		c.askDoubted(q)
	default:
		c.askMore(q)
	}
}

// differ begins a dispute between the first two claims that differ.
func (c *Core) differ(q *question) bool {
	for i := 1; i < len(q.claims); i++ {
		if q.claims[i].Outcome != q.claims[0].Outcome {
			c.argue(q, q.claims[0], q.claims[i])
			return true
		}
	}
	return false
}

// agreed accepts an outcome that enough have come to; all claims are equal.
func (c *Core) agreed(q *question) bool {
	if !q.sure(c.view) && (len(q.claims) == 0 || c.cfg.Spot > 0 || !c.enough(q) || q.again && c.introducers(q) < 2) {
		return false
	}
	c.accept(q)
	return true
}

// sure says whether this machine has come to an outcome, or one that is trusted as much.
func (q *question) sure(view View) bool {
	return slices.ContainsFunc(q.claims, func(h held) bool { return ours(view, h.by) })
}

// ours says whether a word is this machine's, or that of one that is trusted as much.
func ours(view View, by PeerID) bool { return by == "" || view.Trusted(by) }

// ownCounts accepts what this machine has come to, or one that is trusted, whatever others say.
func (q *question) ownCounts(c *Core) {
	q.claims = slices.DeleteFunc(q.claims, func(h held) bool { return !ours(c.view, h.by) })
	switch {
	case len(q.claims) > 0:
		q.claims = q.claims[:1]
		c.accept(q)
	case !q.here:
		q.here = true
		c.order(RunHere{q.node})
	}
}

// enough says whether an outcome is to be believed for those who have come to it.
func (c *Core) enough(q *question) bool {
	if c.cfg.Doubt > 0 {
		return c.scale.credible(q.authors())
	}
	return c.introducers(q) >= max(c.cfg.Quorum, 1)
}

func (c *Core) accept(q *question) {
	by := q.authors()
	h := q.claims[0].Outcome
	q.accepted, q.lacks = &h, 0
	c.order(Accept{q.node, h, by, len(by) > 1 && (q.sure(c.view) || c.introducers(q) > 1)})
	if c.cfg.Doubt > 0 && !q.proven {
		c.note(q, by)
	}
}

// introducers counts those of the peers that have brought a claim.
func (c *Core) introducers(q *question) int {
	seen := map[PeerID]bool{}
	for _, h := range q.claims {
		seen[c.view.Introducer(h.by)] = true
	}
	return len(seen)
}

// askMore asks for further copies, from peers with other introducers than all that have one or were asked. If there are
// none, this machine is one, if it may be.
func (c *Core) askMore(q *question) {
	seen := map[PeerID]bool{}
	for _, h := range q.claims {
		seen[c.view.Introducer(h.by)] = true
	}
	for id := range q.asked {
		seen[c.view.Introducer(id)] = true
	}
	want := max(c.cfg.Quorum, 1) - len(seen)
	for _, x := range c.candidates(q, seen) {
		if want > 0 && !seen[x.Introducer] {
			seen[x.Introducer] = true
			want--
			c.copyTo(q, x.ID)
		}
	}
	switch {
	case want <= 0:
		q.lacks = 0
	case c.cfg.Own && !q.here:
		q.here = true
		c.order(RunHere{q.node})
	case !c.cfg.Own:
		c.order(q.lack(want)...)
	}
}

// lack notes, and says the first time, that so many more are wanted than there are.
func (q *question) lack(n int) (said []Order) {
	if q.lacks == 0 {
		said = append(said, Missing{q.node, n})
	}
	q.lacks = n
	return said
}

// Lacking counts the nodes that wait until there are more peers with other introducers, and says how many more the one
// that wants most would need.
func (c *Core) Lacking() (nodes, peers int) {
	for _, q := range c.open {
		if q.lacks > 0 {
			nodes, peers = nodes+1, max(peers, q.lacks)
		}
	}
	return nodes, peers
}

// candidates lists who may be asked for a copy: nobody is to know who will be.
func (c *Core) candidates(q *question, seen map[PeerID]bool) []Candidate {
	list := slices.DeleteFunc(slices.Clone(c.view.Candidates()), func(x Candidate) bool {
		return seen[x.Introducer] || c.blamed[x.ID] || q.tried(x.ID)
	})
	if len(list) == 0 {
		return nil
	}
	first := c.rand.Below(uint64(len(list)))
	return slices.Concat(list[first:], list[:first])
}

func (q *question) tried(id PeerID) bool {
	_, is := q.gone[id]
	return is
}

func (c *Core) copyTo(q *question, id PeerID) {
	q.asked[id], q.since = true, c.now
	c.order(Copy{q.node, id})
}

// blame names who has lied, and takes back all that rests on its word. What follows is decided when all are known who
// are found out by the same input: see fall.
func (c *Core) blame(id PeerID, p Proof) {
	c.fell = true
	if c.blamed[id] {
		return
	}
	c.blamed[id] = true
	c.order(Blame{id, p})
	for _, q := range c.open.sorted() {
		if q.without(id) && q.accepted != nil && !q.proven && !q.sure(c.view) && !c.enough(q) {
			if q.accepted = nil; q.rests != nil {
				q.rests.n--
				q.rests = nil
			}
			c.order(Withdraw{q.node})
		}
	}
}

// fall decides about all nodes after somebody was caught: first by what this machine has come to of them, since that
// may have others caught, and then by what is left of what all have said.
func (c *Core) fall() {
	for c.fell {
		c.fell = false
		open := c.open.sorted()
		for _, q := range open {
			if q.sure(c.view) {
				c.decide(q)
			}
		}
		for _, q := range open {
			if !c.fell {
				c.decide(q)
			}
		}
	}
}

// without takes all back that somebody has said of a node, and says whether that was anything.
func (q *question) without(id PeerID) bool {
	before := len(q.claims)
	q.claims = slices.DeleteFunc(q.claims, func(h held) bool { return h.by == id })
	delete(q.asked, id)
	if q.dispute != nil && q.dispute.has(id) {
		q.dispute = nil
	}
	if q.audit != nil && q.audit.of.by == id {
		q.audit = nil
	}
	return len(q.claims) < before
}
