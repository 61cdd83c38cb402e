package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

// An Opening is the first thing on a stream of ours: which stream of its sender it is.
type Opening struct {
	// Life is a random number that the sender keeps as long as it runs. Streams of different lives cannot be
	// compared.
	Life uint64
	// Serial grows with every stream that the sender opens. It is at least 1.
	Serial uint64
}

// OpeningSize is the length of an encoded Opening, in bytes.
const OpeningSize = 20

// openingMark makes it unlikely that something else is taken for an opening.
const openingMark = "SATN"

// Append appends the encoding to b.
func (o Opening) Append(b []byte) []byte {
	b = append(b, openingMark...)
	b = binary.BigEndian.AppendUint64(b, o.Life)
	return binary.BigEndian.AppendUint64(b, o.Serial)
}

// ReadOpening reads one. Something else gives an error that wraps ErrFrame; otherwise errors are those of r.
func ReadOpening(r io.Reader) (Opening, error) {
	var b [OpeningSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return Opening{}, err
	}
	o := Opening{binary.BigEndian.Uint64(b[4:]), binary.BigEndian.Uint64(b[12:])}
	if string(b[:4]) != openingMark || o.Serial == 0 {
		return Opening{}, fmt.Errorf("%w: the stream begins with %x", ErrFrame, b)
	}
	return o, nil
}
