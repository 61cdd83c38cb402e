package sim

import (
	"slices"

	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// What is checked of what cores say and order, while they do.

// A witness looks at what a peer's core says and orders.
type witness struct {
	of       *peer
	examined examined // the core's next output is what came of it
	ended    job.Path // of the segment that comes to its end at the moment
}

// checkBounds sees to it that no more is outside than a core may have outside.
func (x *witness) checkBounds() {
	p := x.of
	if n, most := len(p.engine.given)-p.driver.Waiting()-len(p.cameHome), p.world.cfg.Core.MaxLeases; n > most {
		panic(violation(inBounds, "%s has %d jobs outside, at most %d are possible", p.id, n, most))
	}
	s := p.core.Stats()
	if given := s.JobsGivenLocal + s.JobsGivenWide; 100*s.EagerCopies > uint64(p.world.cfg.Core.EagerPercent)*given {
		panic(violation(inBounds, "%s has copied %d of %d jobs that it gave away, at most %d %% are possible", p.id,
			s.EagerCopies, given, p.world.cfg.Core.EagerPercent))
	}
}

// checkMessage looks at the length of what a message lists.
func checkMessage(c *steal.Config, m *steal.Message) {
	over := func(what string, n, most int) {
		if n > most {
			panic(violation(inBounds, "%s sends %d %s in a %v, at most %d are possible", m.From.Peer, n, what,
				m.Kind(), most))
		}
	}
	switch {
	case m.Reply != nil:
		over("jobs", len(m.Reply.Jobs), c.MaxBatch)
		tuples := 0
		for i := range m.Reply.Jobs {
			tuples += len(m.Reply.Jobs[i].Orphans)
		}
		over("tuples", tuples, c.MaxTuplesPerNews)
	case m.Heartbeat != nil:
		over("jobs", len(m.Heartbeat.Held), c.MaxSegments)
	case m.HandOver != nil && len(m.HandOver.Parts) > 1:
		size := 0
		for i := range m.HandOver.Parts {
			size += m.HandOver.Parts[i].Size()
		}
		over("bytes of outcomes", size, c.MaxHandOver)
	}
	if err := m.Validate(); err != nil {
		panic(violation(inBounds, "%s sends what nobody may: %v", m.From.Peer, err))
	}
}

// checkNews does the same for news.
func checkNews(c *steal.Config, n *steal.News) {
	if most := c.MaxTuplesPerNews; len(n.Tuples) > most {
		panic(violation(inBounds, "%s tells %d tuples at once, at most %d are possible", n.From.Peer, len(n.Tuples),
			most))
	}
	if err := n.Validate(); err != nil {
		panic(violation(inBounds, "%s tells what nobody may: %v", n.From.Peer, err))
	}
}

// examined is the input whose consequences are looked at: a message, or a tick.
type examined struct {
	message *steal.Message
	tick    bool
}

// see looks at what the core says to an input before it is carried out.
func (x *witness) see(out steal.Output) {
	x.of.engine.sharing.fetches(out.Orders)
	in := x.examined
	x.examined = examined{}
	if in.tick || in.message != nil && in.message.Goodbye != nil {
		x.checkOrphans(out.Orders)
	}
	if in.message != nil {
		x.checkAcks(in.message, out.Messages)
	}
}

// checkOrphans looks at what an owner's silence or goodbye makes a core order: a job may be run here too, but
// none is ended, unless the outcome of it or of a job above it is in the table, or the same job runs here for
// longer and goes on in its stead.
func (x *witness) checkOrphans(orders []steal.Order) {
	p := x.of
	if p.world.cfg.Recovery == steal.Naive || p.world.cfg.Quorum != nil || p.leaving || p.world.cancelled {
		return
	}
	for i := range orders {
		s := p.engine.segments[orders[i].Segment]
		if orders[i].Kind == steal.AbortSegment && s != nil && !inTable(p.core.Orphans(), s.path) &&
			!p.engine.runsTwice(s) {
			panic(violation(orphanRunsOn, "%s aborts segment %d, job %s, because its owner is silent or gone", p.id,
				s.id, s.path))
		}
	}
}

// runsTwice says whether another segment is the same job.
func (e *engine) runsTwice(s *segment) bool {
	for _, o := range e.segments {
		if o != s && slices.Equal(o.path, s.path) {
			return true
		}
	}
	return false
}

// checkRestored looks whether what a checkpoint gave back has been taken in.
func (x *witness) checkRestored(parts []steal.Partial) {
	p := x.of
	if p.world.cfg.Recovery == steal.Naive || !p.world.cfg.keepsAll() {
		return
	}
	table := p.core.Orphans()
	for i := range parts {
		if !inTable(table, parts[i].Path) {
			panic(violation(storedIsThere, "%s does not have the outcome of %s that its checkpoint gave back", p.id,
				parts[i].Path))
		}
	}
}

// amplyKept is a bound on kept outcomes that no small run reaches.
const amplyKept = 4096

// keepsAll says whether nothing is dropped for want of room.
func (c *Config) keepsAll() bool { return c.Core.MaxKept >= amplyKept && c.Room == 0 }

// checkAcks looks whether what a core acknowledges to have been handed over is in its table; but for an outcome of the
// root, which decides the run: nobody takes it so.
func (x *witness) checkAcks(m *steal.Message, answers []*steal.Message) {
	p := x.of
	if m.HandOver == nil || !p.world.cfg.keepsAll() ||
		!slices.ContainsFunc(answers, func(a *steal.Message) bool {
			return a.HandOverAck != nil && !a.HandOverAck.Leaving && a.HandOverAck.ID == m.HandOver.ID && a.To == m.From
		}) {
		return
	}
	table := p.core.Orphans()
	for i := range m.HandOver.Parts {
		if path := m.HandOver.Parts[i].Path; len(path) > 0 && !inTable(table, path) {
			panic(violation(ackMeansStored, "%s acknowledges the outcome of %s and does not have it", p.id,
				path))
		}
	}
}

// inTable says whether somebody has a job or one above it.
func inTable(o *steal.Orphans, path job.Path) bool {
	for n := len(path); n >= 0; n-- {
		if hit, _ := o.Look(path[:n]); hit {
			return true
		}
	}
	return false
}
