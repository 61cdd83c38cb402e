package verify

import (
	"slices"
	"time"
)

// A dispute is between two claims about one node that differ. Both are opened, again and again one level deeper
// where they differ, until they agree on all children that both have: then the node, run again with the outcomes of
// these, tells who is wrong. The other children are of no use for that: each of the two has made nodes of what took
// it long, so there may be lies among them that nothing is to be compared with.
type dispute struct {
	a, b     held  // as they were handed in
	atA, atB Claim // the node that they differ about now, as each has it
	openA    *Opening
	openB    *Opening
	agreed   []Claim // children of both
	turn     int     // 0: a is asked, 1: b, 2: the node is run again
}

func (d *dispute) has(id PeerID) bool { return d.a.by == id || d.b.by == id }

// argue begins a dispute.
func (c *Core) argue(q *question, a, b held) {
	q.dispute = &dispute{a: a, b: b, atA: a.Claim, atB: b.Claim}
	c.askOpening(q)
}

func (c *Core) askOpening(q *question) {
	d := q.dispute
	d.turn, d.openA, d.openB = 0, nil, nil
	c.order(Open{q.node, d.a.by, d.atA})
}

// Opened takes in what stands behind a claim; nil if its author does not say. Node is the one that was handed in.
func (c *Core) Opened(now time.Time, node Node, from PeerID, claim Claim, o *Opening) []Order {
	return c.do(now, func() {
		q := c.open[node]
		switch {
		case q == nil || c.blamed[from]:
		case q.dispute != nil:
			c.openedInDispute(q, from, claim, o)
		case q.audit != nil:
			c.openedInAudit(q, from, claim, o)
		}
	})
}

func (c *Core) openedInDispute(q *question, from PeerID, claim Claim, o *Opening) {
	d := q.dispute
	at, by := &d.atA, d.a.by
	if d.turn == 1 {
		at, by = &d.atB, d.b.by
	}
	if d.turn > 1 || from != by || claim != *at {
		return // of a step that is over
	}
	q.since = c.now
	if o == nil || !o.Opens(at) {
		c.settle(q)
		return
	}
	if d.turn == 0 {
		d.openA, d.turn = o, 1
		c.order(Open{q.node, d.b.by, d.atB})
		return
	}
	d.openB, d.agreed = o, nil
	for _, x := range d.openA.Children {
		i, both := Find(o.Children, x.Node)
		switch {
		case !both:
		case x.Outcome == o.Children[i].Outcome:
			d.agreed = append(d.agreed, x)
		default: // the first that differs
			d.atA, d.atB = x, o.Children[i]
			c.askOpening(q)
			return
		}
	}
	d.turn = 2
	c.order(Rerun{q.node, d.atA.Node, d.agreed})
}

// Reran is what a node came to that was run again here; nil if it cannot be, or takes too long.
func (c *Core) Reran(now time.Time, node Node, again *Opening) []Order {
	return c.do(now, func() {
		q := c.open[node]
		switch {
		case q == nil:
		case q.dispute != nil && q.dispute.turn == 2:
			c.judge(q, again)
		case q.audit != nil && q.audit.rerun:
			c.audited(q, again)
		}
	})
}

// judge compares what the node came to with what each has said: they differ, so at most one is right.
func (c *Core) judge(q *question, again *Opening) {
	d := q.dispute
	q.since = c.now
	if again == nil {
		c.settle(q)
		return
	}
	q.dispute = nil
	if again.Outcome != d.openA.Outcome {
		c.blame(d.a.by, Proof{d.a.Claim, *d.openA, d.agreed})
	}
	if again.Outcome != d.openB.Outcome {
		c.blame(d.b.by, Proof{d.b.Claim, *d.openB, d.agreed})
	}
}

// settle ends a dispute or an audit that leads nowhere: somebody does not stand by what he has claimed, which is no
// proof of a lie, or nothing can be run again. This machine computes the node, whatever it may be a further copy of:
// were a claim dropped instead, it might be the true one, and whoever shows nothing would never be caught.
func (c *Core) settle(q *question) {
	q.dispute, q.audit, q.settling = nil, nil, true
	c.decide(q) // it may have been computed here already
	if q.accepted == nil && !q.here {
		q.here = true
		c.order(RunHere{q.node})
	}
}

// settled has all blamed who have come to something else than this machine.
func (c *Core) settled(q *question) bool {
	i := slices.IndexFunc(q.claims, func(h held) bool { return h.by == "" })
	if i < 0 {
		return q.settling
	}
	so := q.claims[i].Outcome
	for _, h := range slices.Clone(q.claims) {
		if h.Outcome != so && !c.blamed[h.by] {
			c.blame(h.by, Proof{Said: h.Claim, Wrong: Opening{Node: q.node, Outcome: h.Outcome}})
		}
	}
	if q.accepted == nil {
		c.accept(q)
	}
	return true
}
