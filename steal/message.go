package steal

import (
	"errors"
	"fmt"
	"time"

	"github.com/satin-peer/satin/job"
)

// Incarnation tells the lives of one peer apart. It must grow with every start of the peer, so the adapter
// keeps it in the state directory and does not trust the clock alone. 0 means "not known" and is no peer's
// incarnation.
type Incarnation uint64

// Address is a peer in one of its lives. Handles mean something only together with the address that issued them.
type Address struct {
	Peer PeerID      `cbor:"1,keyasint"`
	Inc  Incarnation `cbor:"2,keyasint,omitempty"`
}

func (a Address) String() string { return fmt.Sprintf("%s/%d", a.Peer, a.Inc) }

// Handle is the one-shot half of a return address: the victim issues a fresh one for every job it gives away and
// accepts one result, one return or one loss for it. Handles start at 1 in each incarnation and are never used again.
type Handle uint64

// RequestID numbers the steal requests of one incarnation of a thief, from 1. A reply to request 0 is a push:
// jobs that nobody asked for.
type RequestID uint64

// Message is the envelope of everything one core says to another; exactly one of the bodies is set. Messages
// may be lost, delayed, repeated and reordered at will: that costs time and repeated work, never the answer.
// A Message is immutable once sent.
//
// The numbered tags are the wire's field numbers; internal/wire turns a Message into bytes and back.
type Message struct {
	Run  job.RunID `cbor:"1,keyasint"`
	From Address   `cbor:"2,keyasint"`
	// To.Inc is 0 when the sender has not heard from the receiver yet, which only StealRequest, StealReply (a push),
	// Heartbeat, Hunger, Goodbye and HandOver allow.
	To Address `cbor:"3,keyasint"`

	Request   *StealRequest `cbor:"4,keyasint,omitempty"`
	Reply     *StealReply   `cbor:"5,keyasint,omitempty"`
	Return    *Return       `cbor:"6,keyasint,omitempty"`
	Result    *Result       `cbor:"7,keyasint,omitempty"`
	Ack       *ResultAck    `cbor:"8,keyasint,omitempty"`
	Abort     *Abort        `cbor:"9,keyasint,omitempty"`
	Heartbeat *Heartbeat    `cbor:"10,keyasint,omitempty"`
	Hunger    *Hunger       `cbor:"11,keyasint,omitempty"`
	Goodbye   *Goodbye      `cbor:"12,keyasint,omitempty"`
	// Relayed is a Result or ResultAck of a third peer on its way round a slow or broken link. The peer it is
	// for unwraps it; the peer in between sends it on, once.
	Relayed *Message `cbor:"13,keyasint,omitempty"`

	Adopt       *Adopt       `cbor:"14,keyasint,omitempty"`
	Disown      *Disown      `cbor:"15,keyasint,omitempty"`
	HandOver    *HandOver    `cbor:"16,keyasint,omitempty"`
	HandOverAck *HandOverAck `cbor:"17,keyasint,omitempty"`
}

// StealRequest asks a victim for jobs.
type StealRequest struct {
	ID  RequestID `cbor:"1,keyasint"`
	Max int       `cbor:"2,keyasint"` // most jobs the thief has room for; 0 only measures the way
	// Patience is how long the victim may keep the request when it has nothing to give, in the hope of work
	// to come; 0 asks for an answer now. A request that waits replaces a hundred that ask again.
	Patience time.Duration `cbor:"3,keyasint,omitempty"`
}

// StealReply answers a request, with jobs or with none, or pushes jobs nobody asked for (ID 0).
type StealReply struct {
	ID   RequestID `cbor:"1,keyasint,omitempty"`
	Jobs []Grant   `cbor:"2,keyasint,omitempty"`
	// Waited is how long the victim kept the request, so that the thief can tell the network's time from the
	// victim's.
	Waited time.Duration `cbor:"3,keyasint,omitempty"`
	// Queued is how many jobs the victim has left to give: a hint for load-based policies.
	Queued int `cbor:"4,keyasint,omitempty"`
}

// Grant is a job given away together with the handle that its result must carry.
type Grant struct {
	Handle Handle `cbor:"1,keyasint"`
	Job    Job    `cbor:"2,keyasint"`
	// Orphans, with a restarted job, are tuples of jobs at or below its path, so that a newcomer knows of
	// them too (fault tolerance paper, 3.5).
	Orphans []Tuple `cbor:"3,keyasint,omitempty"`
}

// Return gives jobs back that the thief has not started: it had no room for them, or it is leaving. Or it has, and has
// no room for what came of them.
type Return struct {
	Handles []Handle `cbor:"1,keyasint"`
	Begun   bool     `cbor:"2,keyasint,omitempty"`
}

// Result brings the outcome of a stolen job home. It is sent again until it is acknowledged.
type Result struct {
	Handle   Handle       `cbor:"1,keyasint"`
	Path     job.Path     `cbor:"2,keyasint,omitempty"`
	Identity job.Identity `cbor:"3,keyasint"`
	Outcome  []byte       `cbor:"4,keyasint,omitempty"` // encoded by the engine's side: a value, an error or a panic
	Voucher  []byte       `cbor:"5,keyasint,omitempty"` // see Partial
}

// ResultAck says that the result for a handle is not needed any more: it was used, or the handle is not (or
// no longer) waiting for one.
type ResultAck struct {
	Handle Handle `cbor:"1,keyasint"`
}

// Abort says that the outcomes of these jobs are not wanted any more. It is not acknowledged: a lost Abort is
// repeated when the next inventory still lists the handle.
type Abort struct {
	Handles []Handle `cbor:"1,keyasint,omitempty"`
	// Elsewhere are jobs that the sender is at work on itself, and somebody waits for it: no orphan of one of them, or
	// of one below, is wanted that began later.
	Elsewhere []Tuple `cbor:"2,keyasint,omitempty"`
}

// Heartbeat is sent once a period to every partner. It is the proof of life, and both halves of the lease inventory.
type Heartbeat struct {
	Seq uint64 `cbor:"1,keyasint"` // grows by at least one with every heartbeat to the same partner
	// Held lists the receiver's handles that the sender holds, waiting, running, or finished and not acknowledged, in
	// growing order. It is always complete.
	Held []Handle `cbor:"2,keyasint,omitempty"`
	// Leases is how many of the sender's jobs it believes the receiver to hold. A receiver that sees a number here
	// answers with heartbeats of its own even if it holds nothing: that is how a lost reply is found.
	Leases int `cbor:"3,keyasint,omitempty"`
	// Seen is the highest Seq that the sender has had from the receiver. It proves which of the receiver's
	// earlier messages cannot still be on their way, if the transport keeps order: an inventory that has not
	// seen the heartbeat after a reply says nothing about that reply's jobs, however slow the link.
	Seen   uint64 `cbor:"4,keyasint,omitempty"`
	Queued int    `cbor:"5,keyasint,omitempty"` // as in StealReply
	// Every is when the sender means to send the next one; silence is measured by it.
	Every time.Duration `cbor:"6,keyasint,omitempty"`
	// Still says that the sender has had no core for the run for a while, since its user has paused it for instance:
	// idle workers need not wait for what it holds.
	Still bool `cbor:"7,keyasint,omitempty"`
}

// Hunger tells a peer how much work the sender has: load-based policies collect it at a cluster's coordinator.
type Hunger struct {
	Seq    uint64 `cbor:"1,keyasint"`
	Queued int    `cbor:"2,keyasint,omitempty"`
	Idle   int    `cbor:"3,keyasint,omitempty"` // workers with nothing to run
}

// Goodbye is the last message of a peer that leaves: what it held is to be queued again at once, and what was
// stolen from it has lost its owner.
type Goodbye struct {
	// Parts of what is to be queued again are at work elsewhere. Their holders tell everybody so, but whoever begins
	// these jobs again at once would begin the first part too before that is heard.
	Parts []Tuple `cbor:"1,keyasint,omitempty"`
}

// Kind names the body of a message.
type Kind uint8

// The kinds of message, in the order of the envelope's fields.
const (
	KindNone Kind = iota
	KindRequest
	KindReply
	KindReturn
	KindResult
	KindAck
	KindAbort
	KindHeartbeat
	KindHunger
	KindGoodbye
	KindRelayed
	KindAdopt
	KindDisown
	KindHandOver
	KindHandOverAck
	kinds
)

var kindNames = [kinds]string{"none", "request", "reply", "return", "result", "ack", "abort", "heartbeat", "hunger",
	"goodbye", "relayed",
	"adopt", "disown", "handover", "handover-ack"}

func (k Kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Kind says which body is set; KindNone if none is.
func (m *Message) Kind() Kind {
	switch {
	case m.Request != nil:
		return KindRequest
	case m.Reply != nil:
		return KindReply
	case m.Return != nil:
		return KindReturn
	case m.Result != nil:
		return KindResult
	case m.Ack != nil:
		return KindAck
	case m.Abort != nil:
		return KindAbort
	case m.Heartbeat != nil:
		return KindHeartbeat
	case m.Hunger != nil:
		return KindHunger
	case m.Goodbye != nil:
		return KindGoodbye
	case m.Relayed != nil:
		return KindRelayed
	case m.Adopt != nil:
		return KindAdopt
	case m.Disown != nil:
		return KindDisown
	case m.HandOver != nil:
		return KindHandOver
	case m.HandOverAck != nil:
		return KindHandOverAck
	}
	return KindNone
}

// ErrMalformed is what Validate wraps: a message that no correct core sends.
var ErrMalformed = errors.New("malformed message")

// Validate reports what no correct core would send, as an error that wraps ErrMalformed. It looks at this
// message alone, in time linear in its length; limits on sizes are the transport's.
func (m *Message) Validate() error {
	bodies := 0
	for _, set := range [...]bool{m.Request != nil, m.Reply != nil, m.Return != nil, m.Result != nil, m.Ack != nil,
		m.Abort != nil, m.Heartbeat != nil, m.Hunger != nil, m.Goodbye != nil, m.Relayed != nil,
		m.Adopt != nil, m.Disown != nil, m.HandOver != nil, m.HandOverAck != nil} {
		if set {
			bodies++
		}
	}
	if bodies != 1 {
		return fmt.Errorf("%w: %d bodies", ErrMalformed, bodies)
	}
	if m.From.Inc == 0 {
		return fmt.Errorf("%w: %s without the sender's incarnation", ErrMalformed, m.Kind())
	}
	if m.To.Inc == 0 && m.needsIncarnation() {
		return fmt.Errorf("%w: %s without the receiver's incarnation", ErrMalformed, m.Kind())
	}
	if !m.bodyValid() {
		return fmt.Errorf("%w: %s with fields out of range", ErrMalformed, m.Kind())
	}
	return nil
}

// needsIncarnation says whether the message speaks of handles or requests that the receiver issued in one of
// its lives.
func (m *Message) needsIncarnation() bool {
	switch m.Kind() {
	case KindReply:
		return m.Reply.ID != 0
	case KindReturn, KindResult, KindAck, KindAbort, KindAdopt, KindDisown, KindHandOverAck:
		return true
	case KindHeartbeat:
		return len(m.Heartbeat.Held) > 0 || m.Heartbeat.Seen > 0
	default:
		return false
	}
}

func (m *Message) bodyValid() bool {
	switch m.Kind() {
	case KindRequest:
		return m.Request.ID > 0 && m.Request.Max >= 0 && m.Request.Patience >= 0
	case KindReply:
		for i := range m.Reply.Jobs {
			if m.Reply.Jobs[i].Handle == 0 || !tuplesValid(m.Reply.Jobs[i].Orphans) {
				return false
			}
		}
		return m.Reply.Waited >= 0 && m.Reply.Queued >= 0
	case KindReturn:
		return growing(m.Return.Handles) && len(m.Return.Handles) > 0
	case KindResult:
		return m.Result.Handle > 0
	case KindAck:
		return m.Ack.Handle > 0
	case KindAbort:
		return growing(m.Abort.Handles) && len(m.Abort.Handles)+len(m.Abort.Elsewhere) > 0 &&
			tuplesValid(m.Abort.Elsewhere)
	case KindHeartbeat:
		h := m.Heartbeat
		return h.Seq > 0 && growing(h.Held) && h.Leases >= 0 && h.Queued >= 0 && h.Every >= 0
	case KindHunger:
		return m.Hunger.Seq > 0 && m.Hunger.Queued >= 0 && m.Hunger.Idle >= 0
	case KindRelayed:
		// the receiver looks at all of it; nothing else may travel so
		return m.Relayed.Result != nil || m.Relayed.Ack != nil
	case KindAdopt:
		return m.Adopt.valid()
	case KindGoodbye:
		return tuplesValid(m.Goodbye.Parts)
	case KindDisown:
		return growing(m.Disown.Handles) && len(m.Disown.Handles) > 0
	case KindHandOver:
		return m.HandOver.valid()
	case KindHandOverAck:
		return m.HandOverAck.ID > 0
	default:
		return true
	}
}

// growing says whether the handles are positive and strictly growing.
func growing(hs []Handle) bool {
	last := Handle(0)
	for _, h := range hs {
		if h <= last {
			return false
		}
		last = h
	}
	return true
}
