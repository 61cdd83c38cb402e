package stream

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/satin-peer/satin/steal"
)

// decode reads a message as correct peers write them; nil if it is written otherwise, and the general codec is to read
// it. The peers are those that it is probably from and to: their names need no memory then.
func decode(b []byte, from, to steal.PeerID) *steal.Message {
	m, r := new(steal.Message), &cursor{b: b, names: [2]steal.PeerID{from, to}}
	if r.readMessage(m); r.failed || len(r.b) > 0 {
		return nil
	}
	return m
}

// A cursor reads what appendMessage writes and nothing else: no other order of fields, no number longer than
// it has to be, no message in a message. Where it meets anything else it has failed and the general codec
// decides: it is no error. Memory is set aside for what is there, not for what is announced.
type cursor struct {
	b      []byte
	failed bool
	names  [2]steal.PeerID
}

// head reads a type's argument. The least that an argument may be follows from its length.
func (r *cursor) head(major byte) uint64 {
	v, length := argument(r.b, major)
	if length == 0 {
		return r.fail()
	}
	r.b = r.b[length:]
	return v
}

// argument is what head reads, and how many bytes that takes; 0 if it is something else.
func argument(b []byte, major byte) (v uint64, length int) {
	if len(b) == 0 || b[0]&0xe0 != major {
		return 0, 0
	}
	short := b[0] & 0x1f
	var least uint64
	switch {
	case short < 24:
		return uint64(short), 1
	case short == 24 && len(b) >= 2:
		v, least, length = uint64(b[1]), 24, 2
	case short == 25 && len(b) >= 3:
		v, least, length = uint64(binary.BigEndian.Uint16(b[1:])), 1<<8, 3
	case short == 26 && len(b) >= 5:
		v, least, length = uint64(binary.BigEndian.Uint32(b[1:])), 1<<16, 5
	case short == 27 && len(b) >= 9:
		v, least, length = binary.BigEndian.Uint64(b[1:]), 1<<32, 9
	}
	if v < least {
		return 0, 0
	}
	return v, length
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

// option reads a field's number if it is this one, and takes it off those announced, of which so many have to be there.
func (r *cursor) option(fields *uint64, required uint64, want byte) bool {
	if *fields <= required || !r.key(want) {
		return false
	}
	*fields--
	return true
}

// some says that a value may not be zero.
func some[T comparable](r *cursor, v T) T {
	var zero T
	if v == zero {
		r.fail()
	}
	return v
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

func (r *cursor) array(v []byte) {
	if c := r.chunk(cborBytes); len(c) == len(v) {
		copy(v, c)
	} else {
		r.fail()
	}
}

// number reads a number of so many bits.
func (r *cursor) number(bits int) uint64 {
	v := r.head(cborUint)
	if bits < 64 && v>>bits > 0 {
		return r.fail()
	}
	return v
}

// signed reads a number that is not negative into one that might be: no message has others.
func (r *cursor) signed() int64 {
	v := r.head(cborUint)
	if v > math.MaxInt64 {
		return int64(r.fail())
	}
	return int64(v)
}

// all says that only so many fields may be left of those announced.
func (r *cursor) all(fields, left uint64) {
	if fields != left {
		r.fail()
	}
}

func (r *cursor) text() string {
	c := r.chunk(cborText)
	if !utf8.Valid(c) {
		r.fail()
	}
	return string(c)
}

// name reads a peer's name, which is probably one of the known ones.
func (r *cursor) name() steal.PeerID {
	c := r.chunk(cborText)
	for _, known := range r.names {
		if string(c) == string(known) {
			return known
		}
	}
	if !utf8.Valid(c) {
		r.fail()
	}
	return steal.PeerID(c)
}

// maxElements is how long an array may be before the general codec, which has the limit, is to decide.
const maxElements = 16 << 10

// count reads how many elements an array has, which are at least so many bytes each. One without elements is left to
// the general codec.
func (r *cursor) count(least int) uint64 {
	n := r.head(cborArray)
	if n == 0 || n > uint64(len(r.b)/least) || n > maxElements {
		return r.fail()
	}
	return n
}

// readUints reads an array of numbers. It moves on in a slice of its own: that of the cursor is in the heap, where each
// step is told to the garbage collector while that is at work, and a path may have thousands of steps.
func readUints[S ~[]T, T ~uint8 | ~uint16 | ~uint32 | ~uint64](r *cursor, bits int) S {
	list := make(S, r.count(1))
	b := r.b
	for i := range list {
		if len(b) > 0 && b[0] < 24 {
			list[i], b = T(b[0]), b[1:]
			continue
		}
		v, length := argument(b, cborUint)
		if length == 0 || bits < 64 && v>>bits > 0 {
			r.fail()
			return list
		}
		list[i], b = T(v), b[length:]
	}
	r.b = b
	return list
}

// bytes reads bytes. They are copied: the frame's memory is used again. None are left to the general codec.
func (r *cursor) bytes() []byte {
	c := r.chunk(cborBytes)
	if len(c) == 0 {
		r.fail()
	}
	return append([]byte(nil), c...)
}
