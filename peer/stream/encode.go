package stream

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// The messages of a steal are encoded and decoded by hand, here and in decode.go: 15 us of a round trip of 31
// went into the general codec, which looks at types at run time. The bytes are those of wire.Control, to
// which everything else is left: other kinds of messages, values out of the usual, and whatever a later
// version of package steal adds. Tests compare the two.

// appendFrame writes m as a frame to the end of b. On an error b is as it was.
func appendFrame(b *bytes.Buffer, m *steal.Message) error {
	start := b.Len()
	b.Grow(wire.FrameHead + m.Size())
	head := b.AvailableBuffer()[:wire.FrameHead]
	encoded, ok := appendMessage(head, m)
	if ok && len(encoded) == wire.FrameHead+m.Size() && len(encoded) <= wire.FrameHead+wire.MaxControlFrame {
		binary.BigEndian.PutUint32(encoded, uint32(len(encoded)-wire.FrameHead))
		b.Write(encoded)
		return nil
	}
	b.Write(head)
	if err := wire.Control().Append(b, m); err != nil {
		b.Truncate(start)
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	binary.BigEndian.PutUint32(b.Bytes()[start:], uint32(b.Len()-start-wire.FrameHead))
	return nil
}

// The major types of CBOR (RFC 8949, 3.1) that messages use, in their place in a head's first byte.
const (
	cborUint  = 0 << 5
	cborBytes = 2 << 5
	cborText  = 3 << 5
	cborArray = 4 << 5
	cborMap   = 5 << 5
	cborTrue  = 0xf5
)

// appendHead appends a type and its argument in as few bytes as it takes.
func appendHead(b []byte, major byte, v uint64) []byte {
	switch {
	case v < 24:
		return append(b, major|byte(v))
	case v <= math.MaxUint8:
		return append(b, major|24, byte(v))
	case v <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(v))
	case v <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(v))
	default:
		return binary.BigEndian.AppendUint64(append(b, major|27), v)
	}
}

// appendMessage appends m's encoding if it is one of those that are encoded by hand. The numbers are those of
// steal.Message's tags.
func appendMessage(b []byte, m *steal.Message) ([]byte, bool) {
	b = appendHead(b, cborMap, 4)
	b = append(b, 1)
	b = append(appendHead(b, cborBytes, uint64(len(m.Run))), m.Run[:]...)
	b = appendAddress(append(b, 2), m.From)
	b = appendAddress(append(b, 3), m.To)
	switch m.Kind() {
	case steal.KindRequest:
		return appendRequest(append(b, 4), m.Request)
	case steal.KindReply:
		return appendReply(append(b, 5), m.Reply)
	case steal.KindResult:
		return appendResult(append(b, 7), m.Result), true
	case steal.KindAck:
		b = append(b, 8, cborMap|1, 1)
		return appendHead(b, cborUint, uint64(m.Ack.Handle)), true
	}
	return b, false
}

func appendAddress(b []byte, a steal.Address) []byte {
	fields := uint64(1)
	if a.Inc > 0 {
		fields++
	}
	b = append(appendHead(b, cborMap, fields), 1)
	b = append(appendHead(b, cborText, uint64(len(a.Peer))), a.Peer...)
	return appendOptional(b, 2, uint64(a.Inc))
}

// appendOptional appends a field unless its value is zero.
func appendOptional(b []byte, key byte, v uint64) []byte {
	if v == 0 {
		return b
	}
	return appendHead(append(b, key), cborUint, v)
}

// set counts those that are not zero.
func set(values ...uint64) (n uint64) {
	for _, v := range values {
		if v != 0 {
			n++
		}
	}
	return n
}

func appendRequest(b []byte, r *steal.StealRequest) ([]byte, bool) {
	b = appendHead(b, cborMap, 2+set(uint64(r.Patience)))
	b = appendHead(append(b, 1), cborUint, uint64(r.ID))
	b = appendHead(append(b, 2), cborUint, uint64(r.Max))
	return appendOptional(b, 3, uint64(r.Patience)), r.Max >= 0 && r.Patience >= 0
}

func appendReply(b []byte, r *steal.StealReply) ([]byte, bool) {
	b = appendHead(b, cborMap, set(uint64(r.ID), uint64(len(r.Jobs)), uint64(r.Waited), uint64(r.Queued)))
	b = appendOptional(b, 1, uint64(r.ID))
	if len(r.Jobs) > 0 {
		b = appendHead(append(b, 2), cborArray, uint64(len(r.Jobs)))
		for i := range r.Jobs {
			b = append(b, cborMap|2, 1)
			b = appendHead(b, cborUint, uint64(r.Jobs[i].Handle))
			b = appendJob(append(b, 2), &r.Jobs[i].Job)
		}
	}
	b = appendOptional(b, 3, uint64(r.Waited))
	return appendOptional(b, 4, uint64(r.Queued)), r.Waited >= 0 && r.Queued >= 0
}

func appendJob(b []byte, j *steal.Job) []byte {
	fields := 2 + set(uint64(len(j.Path)), uint64(len(j.Arg)))
	if j.Restarted {
		fields++
	}
	b = appendPath(appendHead(b, cborMap, fields), 1, j.Path)
	b = append(appendHead(append(b, 2), cborBytes, uint64(len(j.Identity))), j.Identity[:]...)
	b = append(appendHead(append(b, 3), cborText, uint64(len(j.Function))), j.Function...)
	b = appendBytes(b, 4, j.Arg)
	if j.Restarted {
		b = append(b, 5, cborTrue)
	}
	return b
}

func appendResult(b []byte, r *steal.Result) []byte {
	b = appendHead(b, cborMap, 2+set(uint64(len(r.Path)), uint64(len(r.Outcome))))
	b = appendHead(append(b, 1), cborUint, uint64(r.Handle))
	b = appendPath(b, 2, r.Path)
	b = append(appendHead(append(b, 3), cborBytes, uint64(len(r.Identity))), r.Identity[:]...)
	return appendBytes(b, 4, r.Outcome)
}

// appendPath appends a path as a field, unless it is empty.
func appendPath(b []byte, key byte, p job.Path) []byte {
	if len(p) == 0 {
		return b
	}
	b = appendHead(append(b, key), cborArray, uint64(len(p)))
	for _, c := range p {
		b = appendHead(b, cborUint, uint64(c))
	}
	return b
}

// appendBytes appends bytes as a field, unless there are none.
func appendBytes(b []byte, key byte, v []byte) []byte {
	if len(v) == 0 {
		return b
	}
	return append(appendHead(append(b, key), cborBytes, uint64(len(v))), v...)
}
