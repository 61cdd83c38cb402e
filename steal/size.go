package steal

import "github.com/satin-peer/satin/job"

// Size is the length of the message as internal/wire encodes it (CBOR, integer keys), in bytes and without
// framing. It is computed, not encoded: policies and simulators ask for it for every message.
func (m *Message) Size() int {
	n := 1 + 1 + sizeBytes(len(m.Run)) + 1 + m.From.size() + 1 + m.To.size() + 1 // the body's key is below 24
	switch m.Kind() {
	case KindRequest:
		n += 1 + sizeField(uint64(m.Request.ID)) + sizeField(uint64(m.Request.Max)) + sizeOptional(uint64(m.Request.Patience))
	case KindReply:
		n += m.Reply.size()
	case KindReturn:
		n += 1 + 1 + sizeHandles(m.Return.Handles)
	case KindResult:
		r := m.Result
		n += 1 + sizeField(uint64(r.Handle)) + pathFieldSize(r.Path) + 1 + sizeBytes(len(r.Identity))
		if len(r.Outcome) > 0 {
			n += 1 + sizeBytes(len(r.Outcome))
		}
	case KindAck:
		n += 1 + sizeField(uint64(m.Ack.Handle))
	case KindAbort:
		n += 1 + 1 + sizeHandles(m.Abort.Handles)
	case KindHeartbeat:
		h := m.Heartbeat
		n += 1 + sizeField(h.Seq) + sizeOptional(uint64(h.Leases)) + sizeOptional(h.Seen) + sizeOptional(uint64(h.Queued)) + sizeOptional(uint64(h.Every))
		if len(h.Held) > 0 {
			n += 1 + sizeHandles(h.Held)
		}
	case KindHunger:
		n += 1 + sizeField(m.Hunger.Seq) + sizeOptional(uint64(m.Hunger.Queued)) + sizeOptional(uint64(m.Hunger.Idle))
	case KindGoodbye:
		n++
	case KindRelayed:
		n += m.Relayed.Size()
	case KindAdopt:
		n += m.Adopt.size()
	case KindDisown:
		n += 1 + 1 + sizeHandles(m.Disown.Handles)
	case KindHandOver:
		n += m.HandOver.size()
	case KindHandOverAck:
		n += 1 + sizeField(m.HandOverAck.ID)
		if m.HandOverAck.Leaving {
			n += 2
		}
	}
	return n
}

func (a Address) size() int {
	return 1 + 1 + sizeBytes(len(a.Peer)) + sizeOptional(uint64(a.Inc))
}

func (r *StealReply) size() int {
	n := 1 + sizeOptional(uint64(r.ID)) + sizeOptional(uint64(r.Waited)) + sizeOptional(uint64(r.Queued))
	if len(r.Jobs) > 0 {
		n += 1 + sizeUint(uint64(len(r.Jobs)))
		for i := range r.Jobs {
			g := &r.Jobs[i]
			n += 1 + sizeField(uint64(g.Handle)) + 1 + g.Job.Size()
			if len(g.Orphans) > 0 {
				n += 1 + tuplesSize(g.Orphans)
			}
		}
	}
	return n
}

// Size is the job's share of an encoded message, in bytes.
func (j *Job) Size() int {
	n := 1 + pathFieldSize(j.Path) + 1 + sizeBytes(len(j.Identity)) + 1 + sizeBytes(len(j.Function))
	if len(j.Arg) > 0 {
		n += 1 + sizeBytes(len(j.Arg))
	}
	if j.Restarted {
		n += 2
	}
	return n
}

func pathFieldSize(p job.Path) int {
	if len(p) == 0 {
		return 0
	}
	n := 1 + sizeUint(uint64(len(p)))
	for _, c := range p {
		n += sizeUint(uint64(c))
	}
	return n
}

// sizeUint is the length of a CBOR head: one byte, and the argument in as few bytes as it takes.
func sizeUint(v uint64) int {
	switch {
	case v < 24:
		return 1
	case v < 1<<8:
		return 2
	case v < 1<<16:
		return 3
	case v < 1<<32:
		return 5
	default:
		return 9
	}
}

func sizeBytes(n int) int { return sizeUint(uint64(n)) + n }

func sizeField(v uint64) int { return 1 + sizeUint(v) }

func sizeOptional(v uint64) int {
	if v == 0 {
		return 0
	}
	return sizeField(v)
}

func sizeHandles(hs []Handle) int {
	n := sizeUint(uint64(len(hs)))
	for _, h := range hs {
		n += sizeUint(uint64(h))
	}
	return n
}
