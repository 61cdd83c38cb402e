package verify

import "math"

// An audit challenges nodes of a claim, one after the other: each is reached from the top, by openings that must fit
// the commitment, and is run again, once.
//
// First as many as the rate says are drawn alike. So of a claim with a share f of wrong nodes the probability to pass k
// draws is (1-f)^k, whatever its author says of times. Then nodes are drawn by the time that they took as their author
// says: a point is drawn in the claim's time, and the node in whose own time it lies is run again. Such nodes take
// longer than others, E[t^2]/E[t] on the average instead of E[t]; so what is given is not how many they are, but how
// long they may take: the rate times the claim's time, as long as the nodes drawn alike take on the average. One that
// takes longer than what is left of that is run with the probability left/own, and ends it: so, by induction over the
// draws, all that is given is spent on the average, and no more, however times are spread.
//
// An author may say what it likes. Nodes that took no time as it says are drawn alike only, and so are, in effect, all
// others where it says of one right node that it took nearly all the time. Nodes that took longer than it says cost
// more than is given: so there are no more draws by time than alike ones.
type audit struct {
	of     held
	alike  int             // challenges still to make of nodes drawn alike,
	byTime int             // and by time, at most:
	left   uint64          // these may still take so long
	at     Claim           // where the present one has come
	timed  bool            // the present one is drawn by time
	skip   uint64          // nodes, or time, before its target, where a walk comes to a node before its children
	index  uint64          // of the node it has come to, in that walk
	ran    map[uint64]bool // which were run again
	node   *Opening
	rerun  bool
}

// size is that by which nodes are drawn now.
func (x *audit) size(c *Claim) uint64 {
	if x.timed {
		return c.Time
	}
	return c.Nodes
}

// Challenges is how many nodes of a claim are challenged that are drawn alike.
func (cfg *Config) Challenges(nodes uint64) int {
	return int(min(math.Ceil(cfg.Spot*float64(nodes)), math.MaxInt32))
}

// challenge begins the audit of the first claim.
func (c *Core) challenge(q *question) {
	h := q.claims[0]
	n := max(1, c.cfg.Challenges(h.Nodes))
	q.audit = &audit{of: h, alike: n, byTime: n, left: uint64(math.Ceil(c.cfg.Spot * float64(min(h.Time, MaxTime)))),
		ran: map[uint64]bool{}}
	c.nextChallenge(q)
}

func (c *Core) nextChallenge(q *question) {
	x := q.audit
	switch {
	case x.alike > 0:
		x.alike--
	case x.byTime > 0 && x.left > 0:
		x.byTime--
		x.timed = true
	default:
		q.audit = nil
		c.accept(q)
		return
	}
	x.at, x.index, x.rerun, x.node = x.of.Claim, 0, false, nil
	x.skip = c.rand.Below(max(x.size(&x.at), 1))
	c.order(Open{q.node, x.of.by, x.at})
}

func (c *Core) openedInAudit(q *question, from PeerID, claim Claim, o *Opening) {
	x := q.audit
	if x.rerun || from != x.of.by || claim != x.at {
		return
	}
	q.since = c.now
	if o == nil || !o.Opens(&x.at) {
		c.settle(q)
		return
	}
	own := x.size(&x.at)
	for i := range o.Children {
		own -= x.size(&o.Children[i])
	}
	if x.skip < own {
		if x.spares(own, c.rand) {
			c.nextChallenge(q)
			return
		}
		x.node, x.rerun = o, true
		c.order(Rerun{q.node, o.Node, o.Children})
		return
	}
	x.skip -= own
	x.index++
	for _, child := range o.Children {
		if x.skip < x.size(&child) {
			x.at = child
			c.order(Open{q.node, from, child})
			return
		}
		x.skip -= x.size(&child)
		x.index += child.Nodes
	}
}

// spares says whether the node that was drawn is not run again: it was, or took longer by itself than is left for it.
func (x *audit) spares(own uint64, rand Rand) bool {
	spared := x.ran[x.index]
	if x.timed {
		spared = spared || own > x.left && rand.Below(own) >= x.left
		x.left -= min(own, x.left)
	}
	x.ran[x.index] = x.ran[x.index] || !spared
	return spared
}

// audited compares. A child that the node has not spawned is no lie, where paths depend on what ended first; but its
// author could have made any number of them up, and have them challenged.
func (c *Core) audited(q *question, again *Opening) {
	x := q.audit
	q.since = c.now
	switch {
	case again == nil:
		c.settle(q)
	case again.Outcome != x.node.Outcome:
		q.audit = nil
		c.blame(x.of.by, Proof{x.of.Claim, *x.node, x.node.Children})
	case len(again.Children) < len(x.node.Children):
		c.settle(q)
	default:
		c.nextChallenge(q)
	}
}
