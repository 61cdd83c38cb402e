package verify

import "time"

// A dispute is between two claims about one node that differ. Both are opened, again and again one level deeper where
// they differ, until a node is found that tells who is wrong.
type dispute struct {
	a, b     held  // as they were handed in
	atA, atB Claim // the node that they differ about now, as each has it
	openA    *Opening
	openB    *Opening
	waits    PeerID // whose opening is awaited; "" if none is, or this machine's
	turn     int    // 0: a is asked, 1: b, 2: a's node is run again, 3: b's
	wrongA   bool
}

func (d *dispute) has(id PeerID) bool { return d.a.by == id || d.b.by == id }

// argue begins a dispute.
func (c *Core) argue(q *question, a, b held) {
	q.dispute = &dispute{a: a, b: b, atA: a.Claim, atB: b.Claim}
	c.askOpening(q)
}

func (c *Core) askOpening(q *question) {
	d := q.dispute
	d.turn, d.openA, d.openB, d.waits = 0, nil, nil, d.a.by
	c.order(Open{d.a.by, d.atA})
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
	if o == nil || !o.opens(at) {
		c.dropped(q, from)
		return
	}
	if d.turn == 0 {
		d.openA, d.turn, d.waits = o, 1, d.b.by
		c.order(Open{d.b.by, d.atB})
		return
	}
	d.openB, d.waits = o, ""
	for i := range d.openA.Children {
		if i >= len(d.openB.Children) {
			break
		}
		x, y := d.openA.Children[i], d.openB.Children[i]
		if x.Node != y.Node {
			break
		}
		if x.Outcome != y.Outcome { // the first that differs
			d.atA, d.atB = x, y
			c.askOpening(q)
			return
		}
	}
	d.turn = 2
	c.order(Rerun{d.openA.Node, d.openA.Children})
}

// Reran is what a node came to that was run again here.
func (c *Core) Reran(now time.Time, node Node, again *Opening) []Order {
	return c.do(now, func() {
		q := c.open[node]
		switch {
		case q == nil || again == nil:
		case q.dispute != nil:
			c.judge(q, again)
		case q.audit != nil && q.audit.rerun:
			c.audited(q, again)
		}
	})
}

// judge compares what the node came to with what each has said. Where their children are the same, one look tells.
func (c *Core) judge(q *question, again *Opening) {
	d := q.dispute
	q.since = c.now
	switch d.turn {
	case 2:
		d.wrongA = !d.openA.same(again)
		if sameChildren(d.openA, d.openB) {
			c.sentence(q, !d.openB.same(again))
			return
		}
		d.turn = 3
		c.order(Rerun{d.openB.Node, d.openB.Children})
	case 3:
		c.sentence(q, !d.openB.same(again))
	}
}

func sameChildren(a, b *Opening) bool {
	if len(a.Children) != len(b.Children) {
		return false
	}
	for i := range a.Children {
		if a.Children[i].Node != b.Children[i].Node || a.Children[i].Outcome != b.Children[i].Outcome {
			return false
		}
	}
	return true
}

// sentence ends a dispute.
func (c *Core) sentence(q *question, wrongB bool) {
	d := q.dispute
	q.dispute = nil
	if d.wrongA {
		c.blame(d.a.by, Proof{d.a.Claim, *d.openA})
	}
	if wrongB {
		c.blame(d.b.by, Proof{d.b.Claim, *d.openB})
	}
	if !d.wrongA && !wrongB { // the node is no function of what it was given
		c.dropped(q, d.b.by)
	}
}
