package wire

import (
	"encoding/binary"
	"fmt"
)

// BulkKind says what a frame on a bulk stream is.
type BulkKind uint8

// The frames of a bulk stream. The sender of a transfer says BulkBegin and BulkChunk, its receiver BulkAck
// and BulkRefuse.
const (
	BulkBegin  BulkKind = 1 + iota // a transfer of Size bytes begins; Data is the message it belongs to, without them
	BulkChunk                      // Data is the next part
	BulkAck                        // Size bytes have been taken in
	BulkRefuse                     // the receiver has no room for this transfer and forgets it
	bulkKinds
)

// A BulkFrame is the payload of a frame on a bulk stream, in fixed binary: kind (1 byte), transfer (4), and
// size (4) or data.
type BulkFrame struct {
	Kind     BulkKind
	Transfer uint32 // numbers the transfers of a stream; chosen by their sender, never used twice
	Size     int    // BulkBegin, BulkAck: bytes, at most MaxValue
	Data     []byte // BulkBegin, BulkChunk; chunks have 1 to MaxChunk bytes
}

// bulkHead is the length of a bulk frame without size and data.
const bulkHead = 5

// Append appends the frame with its length before it, as ReadFrame and FrameReader want it.
func (f BulkFrame) Append(b []byte) []byte {
	length := bulkHead + len(f.Data)
	if f.hasSize() {
		length += 4
	}
	b = binary.BigEndian.AppendUint32(b, uint32(length))
	b = append(b, byte(f.Kind))
	b = binary.BigEndian.AppendUint32(b, f.Transfer)
	if f.hasSize() {
		b = binary.BigEndian.AppendUint32(b, uint32(f.Size))
	}
	return append(b, f.Data...)
}

func (f BulkFrame) hasSize() bool { return f.Kind == BulkBegin || f.Kind == BulkAck }

// DecodeBulk reads a payload. Data stays a part of b. What no correct sender says gives an error that wraps ErrFrame.
func DecodeBulk(b []byte) (BulkFrame, error) {
	if len(b) < bulkHead || b[0] == 0 || b[0] >= byte(bulkKinds) {
		return BulkFrame{}, fmt.Errorf("%w: not a bulk frame: %.20x", ErrFrame, b)
	}
	f := BulkFrame{Kind: BulkKind(b[0]), Transfer: binary.BigEndian.Uint32(b[1:])}
	b = b[bulkHead:]
	if f.hasSize() {
		if len(b) < 4 {
			return BulkFrame{}, fmt.Errorf("%w: a bulk frame without its size", ErrFrame)
		}
		size := binary.BigEndian.Uint32(b)
		if size == 0 || size > MaxValue {
			return BulkFrame{}, fmt.Errorf("%w: a transfer or acknowledgement of %d bytes, 1 to %d are possible",
				ErrFrame, size, MaxValue)
		}
		f.Size, b = int(size), b[4:]
	}
	f.Data = b
	least, most := 0, 0
	switch f.Kind {
	case BulkBegin:
		least, most = 1, MaxControlFrame
	case BulkChunk:
		least, most = 1, MaxChunk
	}
	if len(b) < least || len(b) > most {
		return BulkFrame{}, fmt.Errorf("%w: a bulk frame of kind %d with %d bytes, %d to %d are possible", ErrFrame,
			f.Kind, len(b), least, most)
	}
	return f, nil
}
