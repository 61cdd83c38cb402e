package stream

import (
	"encoding/binary"
	"math"
	"time"
	"unicode/utf8"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// decode reads a message. The peers are those that it is probably from and to: their names need no memory then.
func decode(b []byte, from, to steal.PeerID) (*steal.Message, error) {
	r := &cursor{b: b, names: [2]steal.PeerID{from, to}}
	if m := r.message(); !r.failed && len(r.b) == 0 {
		return m, nil
	}
	m := new(steal.Message)
	return m, wire.Control().Decode(b, m)
}

// A cursor reads what appendMessage writes and nothing else: no other kind, no other order of fields, no
// number longer than it has to be. Where it meets anything else it has failed and the general codec decides:
// it is no error. Memory is set aside for what is there, not for what is announced.
type cursor struct {
	b      []byte
	failed bool
	names  [2]steal.PeerID
}

// head reads a type's argument. The least that an argument may be follows from its length.
func (r *cursor) head(major byte) uint64 {
	if len(r.b) == 0 || r.b[0]&0xe0 != major {
		return r.fail()
	}
	short := r.b[0] & 0x1f
	var v, least uint64
	length := 1
	switch {
	case short < 24:
		v = uint64(short)
	case short == 24 && len(r.b) >= 2:
		v, least, length = uint64(r.b[1]), 24, 2
	case short == 25 && len(r.b) >= 3:
		v, least, length = uint64(binary.BigEndian.Uint16(r.b[1:])), 1<<8, 3
	case short == 26 && len(r.b) >= 5:
		v, least, length = uint64(binary.BigEndian.Uint32(r.b[1:])), 1<<16, 5
	case short == 27 && len(r.b) >= 9:
		v, least, length = binary.BigEndian.Uint64(r.b[1:]), 1<<32, 9
	default:
		return r.fail()
	}
	if v < least {
		return r.fail()
	}
	r.b = r.b[length:]
	return v
}

func (r *cursor) fail() uint64 {
	r.failed, r.b = true, nil
	return 0
}

// key reads a field's number if it is this one.
func (r *cursor) key(want byte) bool {
	if len(r.b) == 0 || r.b[0] != want {
		return false
	}
	r.b = r.b[1:]
	return true
}

// must reads a field's number that has to be there.
func (r *cursor) must(want byte) {
	if !r.key(want) {
		r.fail()
	}
}

// chunk reads a byte or text string; the result is a part of the input.
func (r *cursor) chunk(major byte) []byte {
	n := r.head(major)
	if n > uint64(len(r.b)) {
		r.fail()
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *cursor) array16(v *[16]byte) {
	if c := r.chunk(cborBytes); len(c) == len(v) {
		copy(v[:], c)
	} else {
		r.fail()
	}
}

// optional reads a number that is there only if it is not zero.
func (r *cursor) optional(key byte, fields *uint64) uint64 {
	if !r.key(key) {
		return 0
	}
	*fields--
	v := r.head(cborUint)
	if v == 0 {
		r.fail()
	}
	return v
}

// signed makes an int64 of what was read.
func (r *cursor) signed(v uint64) int64 {
	if v > math.MaxInt64 {
		return int64(r.fail())
	}
	return int64(v)
}

func (r *cursor) message() *steal.Message {
	m := new(steal.Message)
	if r.head(cborMap) != 4 {
		r.fail()
	}
	r.must(1)
	r.array16((*[16]byte)(&m.Run))
	r.must(2)
	m.From = r.address(r.names[0])
	r.must(3)
	m.To = r.address(r.names[1])
	switch {
	case r.key(4):
		m.Request = r.request()
	case r.key(5):
		m.Reply = r.reply()
	case r.key(7):
		m.Result = r.result()
	case r.key(8):
		r.must(cborMap | 1)
		r.must(1)
		m.Ack = &steal.ResultAck{Handle: steal.Handle(r.head(cborUint))}
	default:
		r.fail()
	}
	return m
}

func (r *cursor) address(probably steal.PeerID) (a steal.Address) {
	fields := r.head(cborMap)
	r.must(1)
	if c := r.chunk(cborText); string(c) == string(probably) {
		a.Peer = probably
	} else {
		a.Peer = steal.PeerID(r.text(c))
	}
	a.Inc = steal.Incarnation(r.optional(2, &fields))
	r.all(fields, 1)
	return a
}

// all says that only so many fields may be left of those announced.
func (r *cursor) all(fields, left uint64) {
	if fields != left {
		r.fail()
	}
}

func (r *cursor) text(c []byte) string {
	if !utf8.Valid(c) {
		r.fail()
	}
	return string(c)
}

func (r *cursor) request() *steal.StealRequest {
	fields := r.head(cborMap)
	q := new(steal.StealRequest)
	r.must(1)
	q.ID = steal.RequestID(r.head(cborUint))
	r.must(2)
	q.Max = int(r.signed(r.head(cborUint)))
	q.Patience = time.Duration(r.signed(r.optional(3, &fields)))
	r.all(fields, 2)
	return q
}

func (r *cursor) reply() *steal.StealReply {
	fields := r.head(cborMap)
	p := new(steal.StealReply)
	p.ID = steal.RequestID(r.optional(1, &fields))
	if r.key(2) {
		fields--
		n := r.head(cborArray)
		if n == 0 || n > uint64(len(r.b))/minGrant {
			r.fail()
			return p
		}
		p.Jobs = make([]steal.Grant, n)
		for i := range p.Jobs {
			r.grant(&p.Jobs[i])
		}
	}
	p.Waited = time.Duration(r.signed(r.optional(3, &fields)))
	p.Queued = int(r.signed(r.optional(4, &fields)))
	r.all(fields, 0)
	return p
}

// minGrant is the length of the shortest grant: an array cannot claim more than what is there.
const minGrant = 24

func (r *cursor) grant(g *steal.Grant) {
	r.must(cborMap | 2)
	r.must(1)
	g.Handle = steal.Handle(r.head(cborUint))
	r.must(2)
	fields := r.head(cborMap)
	j := &g.Job
	j.Path = r.path(1, &fields)
	r.must(2)
	r.array16((*[16]byte)(&j.Identity))
	r.must(3)
	j.Function = r.text(r.chunk(cborText))
	j.Arg = r.bytes(4, &fields)
	if r.key(5) {
		fields--
		r.must(cborTrue)
		j.Restarted = true
	}
	r.all(fields, 2)
}

func (r *cursor) result() *steal.Result {
	fields := r.head(cborMap)
	t := new(steal.Result)
	r.must(1)
	t.Handle = steal.Handle(r.head(cborUint))
	t.Path = r.path(2, &fields)
	r.must(3)
	r.array16((*[16]byte)(&t.Identity))
	t.Outcome = r.bytes(4, &fields)
	r.all(fields, 2)
	return t
}

// path reads a path that is there only if it is not empty.
func (r *cursor) path(key byte, fields *uint64) job.Path {
	if !r.key(key) {
		return nil
	}
	*fields--
	n := r.head(cborArray)
	if n == 0 || n > uint64(len(r.b)) || n > maxPath {
		r.fail()
		return nil
	}
	p := make(job.Path, n)
	for i := range p {
		v := r.head(cborUint)
		if v > math.MaxUint32 {
			r.fail()
		}
		p[i] = uint32(v)
	}
	return p
}

// maxPath is how long a path may be before the general codec, which has the limit, is to decide.
const maxPath = 16 << 10

// bytes reads bytes that are there only if there are any. They are copied: the frame's memory is used again.
func (r *cursor) bytes(key byte, fields *uint64) []byte {
	if !r.key(key) {
		return nil
	}
	*fields--
	c := r.chunk(cborBytes)
	if len(c) == 0 {
		r.fail()
		return nil
	}
	return append([]byte(nil), c...)
}
