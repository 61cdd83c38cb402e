package stream

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

// Messages are encoded and decoded by code that is generated from package steal's types (codec_gen.go), with the help
// of what is here and in decode.go: 15 us of a round trip of 31 went into the general codec, which looks at types at
// run time. The bytes are those of wire.Control. What is read in any other form is left to it. Tests compare the two.

func (l letter) append(b *bytes.Buffer) error {
	if l.shared != nil {
		return l.shared.append(b)
	}
	return appendFrame(b, l.m)
}

// appendFrame writes m as a frame to the end of b. On an error b is as it was.
func appendFrame(b *bytes.Buffer, m *steal.Message) error {
	size := m.Size()
	if size > wire.MaxControlFrame {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
	}
	b.Grow(wire.FrameHead + size)
	frame := binary.BigEndian.AppendUint32(b.AvailableBuffer(), uint32(size))
	frame = appendMessage(frame, m)
	if len(frame) != wire.FrameHead+size {
		return fmt.Errorf("a message of %d bytes was encoded in %d", size, len(frame)-wire.FrameHead)
	}
	b.Write(frame)
	return nil
}

// The major types of CBOR (RFC 8949, 3.1) that messages use, in their place in a head's first byte, and its
// simple values.
const (
	cborUint     = 0 << 5
	cborNegative = 1 << 5
	cborBytes    = 2 << 5
	cborText     = 3 << 5
	cborArray    = 4 << 5
	cborMap      = 5 << 5
	cborTrue     = 0xf5
	cborNull     = 0xf6
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

// appendInt appends a number that may be negative.
func appendInt(b []byte, v int64) []byte {
	if v < 0 {
		return appendHead(b, cborNegative, uint64(^v))
	}
	return appendHead(b, cborUint, uint64(v))
}

// one counts a field that may not be there.
func one(there bool) byte {
	if there {
		return 1
	}
	return 0
}

// appendStart begins an array; one that is nil is encoded as such.
func appendStart(b []byte, n int, none bool) []byte {
	if none {
		return append(b, cborNull)
	}
	return appendHead(b, cborArray, uint64(n))
}

func appendUints[T ~uint8 | ~uint16 | ~uint32 | ~uint64](b []byte, list []T) []byte {
	b = appendStart(b, len(list), list == nil)
	for _, v := range list {
		b = appendHead(b, cborUint, uint64(v))
	}
	return b
}

func appendBytes(b, v []byte) []byte {
	if v == nil {
		return append(b, cborNull)
	}
	return append(appendHead(b, cborBytes, uint64(len(v))), v...)
}
