package steal

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// describe prints a message's body for a transcript.
func describe(m *Message) string {
	var b strings.Builder
	b.WriteString(m.Kind().String())
	add := func(format string, args ...any) { fmt.Fprintf(&b, " "+format, args...) }
	switch m.Kind() {
	case KindRequest:
		add("%d max=%d", m.Request.ID, m.Request.Max)
		if m.Request.Patience > 0 {
			add("patience=%v", m.Request.Patience)
		}
	case KindReply:
		add("%d", m.Reply.ID)
		if len(m.Reply.Jobs) == 0 {
			add("no job")
		}
		for _, g := range m.Reply.Jobs {
			add("handle %d (job %s%s)", g.Handle, g.Job.Path, restarted(g.Job.Restarted))
			for _, u := range g.Orphans {
				add("with %s", describeTuple(&u))
			}
		}
		if m.Reply.Waited > 0 {
			add("waited=%v", m.Reply.Waited.Round(time.Millisecond))
		}
	case KindReturn:
		add("%v", m.Return.Handles)
	case KindResult:
		add("handle %d (job %s) %q", m.Result.Handle, m.Result.Path, m.Result.Outcome)
	case KindAck:
		add("handle %d", m.Ack.Handle)
	case KindAbort:
		add("%v", m.Abort.Handles)
	case KindHeartbeat:
		add("%d holds %v leased=%d seen=%d", m.Heartbeat.Seq, m.Heartbeat.Held, m.Heartbeat.Leases, m.Heartbeat.Seen)
	case KindHunger:
		add("queued=%d idle=%d", m.Hunger.Queued, m.Hunger.Idle)
	case KindAdopt:
		for _, j := range m.Adopt.Jobs {
			add("handle %d (job %s)", j.Handle, j.Path)
		}
	case KindDisown:
		add("%v", m.Disown.Handles)
	case KindHandOver:
		add("%d", m.HandOver.ID)
		for _, p := range m.HandOver.Parts {
			add("(job %s) %q", p.Path, p.Outcome)
		}
	case KindHandOverAck:
		add("%d", m.HandOverAck.ID)
		if m.HandOverAck.Leaving {
			add("refused")
		}
	case KindRelayed:
		add("%s -> %s %s", m.Relayed.From, m.Relayed.To, describe(m.Relayed))
	}
	return b.String()
}

// describeNews prints what is told to everybody.
func describeNews(n *News) string {
	var b strings.Builder
	b.WriteString("news")
	if m := n.Master; m != nil {
		fmt.Fprintf(&b, " beacon %d", m.Seq)
		if m.Rank < unlisted {
			fmt.Fprintf(&b, " rank=%d", m.Rank)
		}
		if m.Answered != nil {
			b.WriteString(" answered")
		}
		if m.Waiting {
			b.WriteString(" waiting")
		}
	}
	for _, t := range n.Tuples {
		b.WriteString(" " + describeTuple(&t))
	}
	return b.String()
}

func describeTuple(t *Tuple) string {
	what := "runs at"
	if t.Done {
		what = "done at"
	}
	return fmt.Sprintf("(job %s %s %s)", t.Path, what, t.Holder)
}

var stateNames = [...]string{waiting: "waiting", running: "running", lent: "lent", finished: "finished",
	stopped: "stopped"}

// state prints a core's tables.
func (s *stage) state(x *actor) {
	c := x.core
	s.printf("%s at %v: idle %d, queued %d\n", x.name, s.now, c.segments.idle(), c.segments.queued())
	if m := c.masters; m != nil && m.master {
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
	s.recoveryState(c)
	for _, f := range c.thief.flights {
		s.printf("  request %d to %s is out\n", f.request, f.Victim)
	}
	for _, a := range c.victim.asks {
		s.printf("  request %d of %s waits\n", a.request, a.Thief)
	}
}

// stats prints the counters that are not zero, those of traffic excepted.
func (s *stage) stats(x *actor) {
	v := reflect.ValueOf(x.core.Stats())
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if v.Field(i).Kind() != reflect.Uint64 || strings.HasPrefix(name, "Bytes") ||
			strings.HasPrefix(name, "Messages") {
			continue
		}
		if n := v.Field(i).Uint(); n > 0 {
			s.printf("%s: %s %d\n", x.name, name, n)
		}
	}
}
