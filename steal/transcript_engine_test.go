package steal_test

import (
	"fmt"

	"slices"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
)

// An actor is what its driver speaks to: it prints what the core wants, pretends to do it, and takes messages on their
// way.

// Send takes a message on its way.
func (x *actor) Send(m *steal.Message) {
	s := x.stage
	s.lastMsg++
	s.flying = append(s.flying, flying{n: s.lastMsg, m: m})
	s.printf("  #%d %s -> %s %s\n", s.lastMsg, m.From, m.To, describe(m))
}

// Tell takes news on their way.
func (x *actor) Tell(n *steal.News) {
	s := x.stage
	s.lastMsg++
	s.flying = append(s.flying, flying{n: s.lastMsg, news: n})
	s.printf("  #%d %s -> all %s\n", s.lastMsg, n.From, describeNews(n))
}

// Answer has the root's outcome.
func (x *actor) Answer(outcome []byte) { x.stage.printf("  %s: the answer is %q\n", x.name, outcome) }

// Do takes an order.
func (x *actor) Do(o *port.Order) {
	s := x.stage
	switch o.Kind {
	case port.Take:
		n := min(o.Max, len(x.queue))
		if x.mute {
			s.printf("  %s: take %d\n", x.name, o.Max)
			return
		}
		jobs := slices.Clone(x.queue[:n])
		x.queue = slices.Delete(x.queue, 0, n)
		s.printf("  %s: take %d, engine gives %d\n", x.name, o.Max, n)
		x.load.Queued = len(x.queue)
		x.happened(port.Event{Kind: port.Taken, Ticket: o.Ticket, Jobs: jobs})
		s.report(x)
	case port.Run:
		x.load.Idle--
		x.load.Runs++
		x.running = append(x.running, o.Segment)
		s.printf("  %s: run segment %d, job %s%s%s\n", x.name, o.Segment, o.Job.Path, restarted(o.Job.Restarted),
			deeper(o.Job.Depth))
		s.report(x)
	case port.PutBack:
		s.fill(x, o.Ref, "")
		j := x.jobs[o.Ref]
		j.Restarted = j.Restarted || o.Restarted
		s.printf("  %s: put back job %s%s\n", x.name, j.Path, restarted(o.Restarted))
		x.queue = slices.Insert(x.queue, 0, steal.Taken{Ref: o.Ref, Job: j})
		s.report(x)
	case port.Deliver:
		s.fill(x, o.Ref, string(o.Outcome))
		s.printf("  %s: deliver %q to job %s\n", x.name, o.Outcome, x.jobs[o.Ref].Path)
		x.happened(port.Event{Kind: port.Delivered, Ref: o.Ref, Good: true})
	case port.Abort:
		s.printf("  %s: abort segment %d\n", x.name, o.Segment)
		x.running = slices.DeleteFunc(x.running, func(id steal.SegmentID) bool { return id == o.Segment })
		x.load.Idle++
		s.report(x)
	case port.LostWork:
		s.printf("  %s: lost work at %d paths\n", x.name, o.Orphans.Len())
	}
}

// happened tells the driver what has happened in the engine.
func (x *actor) happened(e port.Event) { x.driver.Happened(x.stage.now, e) }

func (s *stage) fill(x *actor, r steal.Ref, outcome string) {
	if was, filled := x.slots[r]; filled {
		s.printf("  %s: ERROR: slot %d was filled with %q already\n", x.name, r, was)
	}
	if outcome != "" {
		x.slots[r] = outcome
	}
}

func restarted(r bool) string {
	if r {
		return " (restarted)"
	}
	return ""
}

func deeper(steps uint8) string {
	if steps > 0 {
		return fmt.Sprintf(" (%d deeper)", steps)
	}
	return ""
}
