package verify

import "math"

// An audit challenges nodes of a claim, one after the other: each is reached from the top, by openings that must fit
// the commitment, and run again.
type audit struct {
	of    held
	left  int    // challenges still to make
	at    Claim  // where the present one has come
	skip  uint64 // nodes before its target, in the order of a walk that comes to a node before its children
	node  *Opening
	rerun bool
}

// Challenges is how many nodes of a claim are challenged.
func (cfg *Config) Challenges(nodes uint64) int {
	return int(min(math.Ceil(cfg.Spot*float64(nodes)), math.MaxInt32))
}

// challenge begins the audit of the first claim.
func (c *Core) challenge(q *question) {
	h := q.claims[0]
	q.audit = &audit{of: h, left: max(1, c.cfg.Challenges(h.Nodes))}
	c.nextChallenge(q)
}

func (c *Core) nextChallenge(q *question) {
	x := q.audit
	if x.left == 0 {
		q.audit = nil
		c.accept(q)
		return
	}
	x.left--
	x.at, x.skip, x.rerun, x.node = x.of.Claim, c.rand.Below(max(x.of.Nodes, 1)), false, nil
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
	if x.skip == 0 {
		x.node, x.rerun = o, true
		c.order(Rerun{q.node, o.Node, o.Children})
		return
	}
	x.skip--
	for _, child := range o.Children {
		if x.skip < child.Nodes {
			x.at = child
			c.order(Open{q.node, from, child})
			return
		}
		x.skip -= child.Nodes
	}
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
