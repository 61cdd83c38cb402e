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
	c.order(Open{x.of.by, x.at})
}

func (c *Core) openedInAudit(q *question, from PeerID, claim Claim, o *Opening) {
	x := q.audit
	if x.rerun || from != x.of.by || claim != x.at {
		return
	}
	q.since = c.now
	if o == nil || !o.opens(&x.at) {
		c.dropped(q, from)
		return
	}
	if x.skip == 0 {
		x.node, x.rerun = o, true
		c.order(Rerun{o.Node, o.Children})
		return
	}
	x.skip--
	for _, child := range o.Children {
		if x.skip < child.Nodes {
			x.at = child
			c.order(Open{from, child})
			return
		}
		x.skip -= child.Nodes
	}
}

// audited compares.
func (c *Core) audited(q *question, again *Opening) {
	x := q.audit
	q.since = c.now
	if !x.node.same(again) {
		q.audit = nil
		c.blame(x.of.by, Proof{x.of.Claim, *x.node})
		return
	}
	c.nextChallenge(q)
}
