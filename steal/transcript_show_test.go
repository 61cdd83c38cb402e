package steal_test

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/satin-peer/satin/steal"
)

// describe prints a message's body for a transcript.
func describe(m *steal.Message) string {
	var b strings.Builder
	b.WriteString(m.Kind().String())
	add := func(format string, args ...any) { fmt.Fprintf(&b, " "+format, args...) }
	switch m.Kind() {
	case steal.KindRequest:
		add("%d max=%d", m.Request.ID, m.Request.Max)
		if m.Request.Patience > 0 {
			add("patience=%v", m.Request.Patience)
		}
	case steal.KindReply:
		add("%d", m.Reply.ID)
		if len(m.Reply.Jobs) == 0 {
			add("no job")
		}
		for _, g := range m.Reply.Jobs {
			add("handle %d (job %s%s%s)", g.Handle, g.Job.Path, restarted(g.Job.Restarted), deeper(g.Job.Depth))
			for _, u := range g.Orphans {
				add("with %s", steal.DescribeTuple(&u))
			}
		}
		if m.Reply.Waited > 0 {
			add("waited=%v", m.Reply.Waited.Round(time.Millisecond))
		}
	case steal.KindReturn:
		add("%v", m.Return.Handles)
	case steal.KindResult:
		add("handle %d (job %s) %q", m.Result.Handle, m.Result.Path, m.Result.Outcome)
	case steal.KindAck:
		add("handle %d", m.Ack.Handle)
	case steal.KindAbort:
		add("%v", m.Abort.Handles)
		for i := range m.Abort.Elsewhere {
			add("as %s", steal.DescribeTuple(&m.Abort.Elsewhere[i]))
		}
	case steal.KindHeartbeat:
		add("%d holds %v leased=%d seen=%d", m.Heartbeat.Seq, m.Heartbeat.Held, m.Heartbeat.Leases, m.Heartbeat.Seen)
	case steal.KindHunger:
		add("queued=%d idle=%d", m.Hunger.Queued, m.Hunger.Idle)
	case steal.KindGoodbye:
		for i := range m.Goodbye.Parts {
			add("with %s", steal.DescribeTuple(&m.Goodbye.Parts[i]))
		}
	case steal.KindAdopt:
		for _, j := range m.Adopt.Jobs {
			add("handle %d (job %s)", j.Handle, j.Path)
		}
	case steal.KindDisown:
		add("%v", m.Disown.Handles)
		if m.Disown.Perhaps {
			add("perhaps")
		}
	case steal.KindHandOver:
		add("%d", m.HandOver.ID)
		if m.HandOver.Copy {
			add("copies")
		}
		for _, p := range m.HandOver.Parts {
			add("(job %s) %q", p.Path, p.Outcome)
		}
	case steal.KindHandOverAck:
		add("%d", m.HandOverAck.ID)
		if m.HandOverAck.Leaving {
			add("refused")
		}
	case steal.KindRelayed:
		add("%s -> %s %s", m.Relayed.From, m.Relayed.To, describe(m.Relayed))
	}
	return b.String()
}

// describeNews prints what is told to everybody.
func describeNews(n *steal.News) string {
	var b strings.Builder
	b.WriteString("news")
	if m := n.Master; m != nil {
		fmt.Fprintf(&b, " beacon %d", m.Seq)
		if m.Rank < steal.Unlisted {
			fmt.Fprintf(&b, " rank=%d", m.Rank)
		}
		if m.Answered != nil {
			b.WriteString(" answered")
		}
		if m.Waiting {
			b.WriteString(" waiting")
		}
	}
	if n.Goodbye {
		b.WriteString(" goodbye")
	}
	for _, t := range n.Tuples {
		b.WriteString(" " + steal.DescribeTuple(&t))
	}
	return b.String()
}

// stats prints the counters that are not zero, those of traffic excepted.
func (s *stage) stats(x *actor) {
	v := reflect.ValueOf(x.driver.Core().Stats())
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
