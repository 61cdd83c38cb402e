package steal

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/satin-peer/satin/steal/policy"
)

// What the tests that run cores by package driver see of them.

// Leaving says whether a core is about to go.
func (c *Core) Leaving() bool { return c.leaving }

// Holds counts the leases, segments and unacknowledged results of a core.
func (c *Core) Holds() int { return c.leases.n + len(c.segments.byID) + len(c.segments.unacked) }

// Unlisted is the rank of a master that is no deputy.
const Unlisted = unlisted

// A printer writes lines of a transcript.
type printer struct{ w io.Writer }

func (p printer) printf(format string, args ...any) { fmt.Fprintf(p.w, format, args...) }

var stateNames = [...]string{waiting: "waiting", fetching: "fetching", running: "running", lent: "lent",
	finished: "finished", stopped: "stopped"}

// WriteState prints a core's tables.
func (c *Core) WriteState(w io.Writer, now time.Duration) {
	s := printer{w}
	s.printf("%s at %v: idle %d, queued %d\n", c.self.Peer, now, c.segments.idle(), c.segments.queued())
	if m := c.Masters; m != nil && m.master {
		switch {
		case c.segments.root != nil:
			s.printf("  master, with the root in segment %d: %s\n", c.segments.root.id,
				stateNames[c.segments.root.state])
		case m.answered != nil:
			s.printf("  master, with the answer\n")
		}
	}
	for _, p := range c.partners.list {
		for _, l := range p.leases {
			s.printf("  handle %d leased to %s, job %s, missed by %d inventories\n", l.handle, p.addr(), l.job.Path,
				l.misses)
		}
		for _, h := range p.held {
			s.printf("  segment %d held for %s, handle %d: %s\n", h.id, p.addr(), h.handle, stateNames[h.state])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.segments.byID)) {
		if h := c.segments.byID[id]; h.copyOf != nil {
			s.printf("  segment %d is a copy of handle %d: %s\n", h.id, h.copyOf.handle, stateNames[h.state])
		}
	}
	c.writeLost(s)
	for _, f := range c.thief.flights {
		s.printf("  request %d to %s is out\n", f.request, f.Victim)
	}
	for _, a := range c.victim.asks {
		s.printf("  request %d of %s waits\n", a.request, a.Thief)
	}
}

var classNames = [...]string{settled: "its owner had it", handed: "handed over", restored: "from a checkpoint",
	own: "nobody else has it"}

// writeLost prints what a core knows of lost work.
func (c *Core) writeLost(s printer) {
	for _, g := range c.segments.inOrder() {
		if g.orphan {
			s.printf("  segment %d is an orphan, job %s: %s\n", g.id, g.job.Path, stateNames[g.state])
		}
	}
	for _, k := range c.lost.store.index {
		s.printf("  keeps %q of job %s: %s\n", k.Outcome, k.Path, classNames[k.class])
	}
	for _, e := range c.lost.tuples.index {
		s.printf("  knows %s\n", DescribeTuple(&e.Tuple))
	}
	if c.leaving {
		s.printf("  leaves, %d pieces to hand over, %d on their way\n", len(c.departure.pieces),
			len(c.departure.transfers))
	}
	if !slices.IsSortedFunc(c.lost.tuples.index, func(a,
		b *tupleEntry) int {
		return compareNames(a.Path, a.Identity, b.Path, b.Identity)
	}) {
		s.printf("  ERROR: the table is out of order\n")
	}
}

// DescribeTuple says what a tuple says.
func DescribeTuple(t *Tuple) string {
	what := "runs at"
	if t.Done {
		what = "done at"
	}
	return fmt.Sprintf("(job %s %s %s)", t.Path, what, t.Holder)
}

// Scripted is a policy that does what the transcript says.
type Scripted struct {
	Steals []policy.Steal
	Pushes []policy.Push
	Via    ClusterID // of results; "" is straight
	Within time.Duration
}

func (*Scripted) Name() string { return "scripted" }
func (s *Scripted) Plan(_ policy.View, p *policy.Plan) {
	for _, x := range s.Steals {
		p.Steal(x.Victim, x.Max, x.Patience)
	}
	for _, x := range s.Pushes {
		p.Push(x.Thief, x.Max)
	}
	s.Steals, s.Pushes = nil, nil
}
func (*Scripted) Give(_ policy.View, a policy.Ask) int { return a.Max }

func (s *Scripted) Route(_ policy.View, _ ClusterID, _, _ int, _ bool) (ClusterID, time.Duration) {
	return s.Via, s.Within
}
