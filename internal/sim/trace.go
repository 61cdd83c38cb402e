package sim

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/steal"
)

// tracer writes what happens, a line each: virtual time in seconds, the peer, the event. Two runs of one
// configuration write the same bytes.
type tracer struct {
	out *bufio.Writer
}

// newTracer is nil for no trace; a nil tracer writes nothing.
func newTracer(out io.Writer) *tracer {
	if out == nil {
		return nil
	}
	return &tracer{bufio.NewWriterSize(out, 64<<10)}
}

func (t *tracer) line(now int64, peer steal.PeerID, format string, args ...any) {
	if t == nil {
		return
	}
	fmt.Fprintf(t.out, "%3d.%06d %s ", now/1e9, now%1e9/1e3, peer)
	fmt.Fprintf(t.out, format, args...)
	t.out.WriteByte('\n')
}

func (t *tracer) flush() error {
	if t == nil {
		return nil
	}
	return t.out.Flush()
}

func (t *tracer) sent(now int64, p *peer, m *steal.Message, size int) {
	t.line(now, p.id, "-> %s %s (%d bytes)", m.To.Peer, describe(m), size)
}

func (t *tracer) received(now int64, p *peer, m *steal.Message) {
	t.line(now, p.id, "<- %s %s", m.From.Peer, describe(m))
}

func (t *tracer) told(now int64, p *peer, n *steal.News, size int) {
	t.line(now, p.id, "=> %s (%d bytes)", tidings(n), size)
}

func (t *tracer) heard(now int64, p *peer, n *steal.News) {
	t.line(now, p.id, "<= %s %s", n.From.Peer, tidings(n))
}

// tidings says what news say.
func tidings(n *steal.News) string {
	var words []string
	if b := n.Master; b != nil {
		words = append(words, fmt.Sprintf("master of rank %d", b.Rank))
		if b.Answered != nil {
			words = append(words, "with the answer")
		}
	}
	if n.Goodbye {
		words = append(words, "goodbye")
	}
	for _, t := range n.Tuples {
		state := "works on"
		if t.Done {
			state = "has"
		}
		words = append(words, fmt.Sprintf("%s %s %s", t.Holder.Peer, state, t.Path))
	}
	return strings.Join(words, ", ")
}

func (t *tracer) ordered(now int64, p *peer, o *port.Order) {
	switch o.Kind {
	case port.Take:
		t.line(now, p.id, "take up to %d jobs", o.Max)
	case port.Run:
		t.line(now, p.id, "run job %s as segment %d", o.Job.Path, o.Segment)
	case port.PutBack:
		t.line(now, p.id, "put back job %s", p.engine.given[o.Ref].path)
	case port.Deliver:
		t.line(now, p.id, "result for job %s", p.engine.given[o.Ref].path)
	case port.Abort:
		t.line(now, p.id, "abort segment %d", o.Segment)
	case port.LostWork:
		t.line(now, p.id, "look out for orphans")
	}
}

// describe says what a message says, in a few words.
func describe(m *steal.Message) string {
	switch m.Kind() {
	case steal.KindRequest:
		s := fmt.Sprintf("request %d for %d", m.Request.ID, m.Request.Max)
		if m.Request.Patience > 0 {
			s += fmt.Sprintf(", can wait %v", m.Request.Patience.Round(time.Millisecond))
		}
		return s
	case steal.KindReply:
		var jobs []string
		for _, g := range m.Reply.Jobs {
			jobs = append(jobs, fmt.Sprintf("%s#%d", g.Job.Path, g.Handle))
		}
		if jobs == nil {
			return fmt.Sprintf("reply %d: nothing", m.Reply.ID)
		}
		return fmt.Sprintf("reply %d: %s", m.Reply.ID, strings.Join(jobs, " "))
	case steal.KindReturn:
		return fmt.Sprintf("return of %v", m.Return.Handles)
	case steal.KindResult:
		return fmt.Sprintf("result #%d of %s", m.Result.Handle, m.Result.Path)
	case steal.KindAck:
		return fmt.Sprintf("ack #%d", m.Ack.Handle)
	case steal.KindAbort:
		return fmt.Sprintf("abort %v", m.Abort.Handles)
	case steal.KindHeartbeat:
		return fmt.Sprintf("heartbeat %d, holds %v", m.Heartbeat.Seq, m.Heartbeat.Held)
	case steal.KindHunger:
		return fmt.Sprintf("hunger: %d queued, %d idle", m.Hunger.Queued, m.Hunger.Idle)
	case steal.KindGoodbye:
		return "goodbye"
	case steal.KindAdopt:
		var jobs []string
		for _, a := range m.Adopt.Jobs {
			jobs = append(jobs, fmt.Sprintf("%s#%d", a.Path, a.Handle))
		}
		return "adopt " + strings.Join(jobs, " ")
	case steal.KindDisown:
		if m.Disown.Perhaps {
			return fmt.Sprintf("disown %v, perhaps", m.Disown.Handles)
		}
		return fmt.Sprintf("disown %v", m.Disown.Handles)
	case steal.KindHandOver:
		return fmt.Sprintf("hand over %d: %d outcomes", m.HandOver.ID, len(m.HandOver.Parts))
	case steal.KindRelayed:
		return fmt.Sprintf("for %s from %s: %s", m.Relayed.To.Peer, m.Relayed.From.Peer, describe(m.Relayed))
	case steal.KindHandOverAck:
		return fmt.Sprintf("handed over %d", m.HandOverAck.ID)
	}
	return m.Kind().String()
}
