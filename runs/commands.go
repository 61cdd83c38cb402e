package runs

import "time"

// Commands. Each ends with a Reply that has its ticket.

// Submit begins an own run.
func (c *Core) Submit(now time.Time, t Ticket, m *Manifest, args []string) []Order {
	return c.do(now, func() { c.own.submit(t, m, args) })
}

// Cancel ends an own run everywhere.
func (c *Core) Cancel(now time.Time, t Ticket, id RunID) []Order {
	return c.do(now, func() { c.own.cancel(t, id) })
}

// Suspend ends an own run everywhere until it is resumed.
func (c *Core) Suspend(now time.Time, t Ticket, id RunID) []Order {
	return c.do(now, func() { c.own.suspend(t, id) })
}

// Collected is the end of Collect; no says why the run cannot be suspended.
func (c *Core) Collected(now time.Time, id RunID, no *Refusal) []Order {
	return c.do(now, func() {
		if r := c.runs[id]; r != nil {
			c.own.collected(r, no)
		}
	})
}

// MayResume says why an own run cannot be resumed; nil if it can.
func (c *Core) MayResume(id RunID) *Refusal {
	r, no := c.own.mine(id)
	if no == nil {
		no = c.own.mayResume(r)
	}
	return no
}

// Resume takes a suspended run up; the manifest is the whole one.
func (c *Core) Resume(now time.Time, t Ticket, m *Manifest) []Order {
	return c.do(now, func() { c.own.resume(t, m) })
}

// MayKeep says why an answer of at least so many bytes that somebody brings would not be kept; "" if it would be.
func (c *Core) MayKeep(k *Claim, size int64) string {
	return c.kept.refuses(k.Run, k.Author, k.Hash, size)
}

// Keep keeps an answer that somebody brings; it was compared with the claim's hash.
func (c *Core) Keep(now time.Time, t Ticket, k *Claim, out Outcome, elapsed int64, peers int) []Order {
	return c.do(now, func() { c.kept.bring(t, k, out, elapsed, peers) })
}

// KeptAt is the end of KeepAt: whether the peer keeps the answer.
func (c *Core) KeptAt(now time.Time, id RunID, ok bool) []Order {
	return c.do(now, func() {
		if r := c.runs[id]; r != nil {
			c.kept.keptAt(r, ok)
		}
	})
}
