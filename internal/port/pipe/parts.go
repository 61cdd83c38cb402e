package pipe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/satin-peer/satin/internal/wire"
)

// A message is one frame or, if it is long, several: the first byte of each says whether more follow. So a shared value
// of any size gets through, and nobody sets memory aside for what is only announced.
const (
	partSize = 1 << 20 // bytes of a frame
	last     = 0
	more     = 1
)

// frames encodes a message, in its frames. Of a long one about so many bytes are values: the memory is taken once, and
// the heads of the frames are put between its parts there.
func frames(v any, values int) ([]byte, error) {
	const head, part = wire.FrameHead + 1, partSize - 1
	var b bytes.Buffer
	if values >= part {
		b.Grow(values + head*(values/part) + partSize)
	}
	b.Write(make([]byte, head))
	if err := wire.Shared().Append(&b, v); err != nil {
		return nil, err
	}
	size := b.Len() - head
	parts := max(1, (size+part-1)/part)
	all := slices.Grow(b.Bytes(), head*(parts-1))[:size+head*parts]
	mark := byte(last)
	for i := parts - 1; i >= 0; i-- { // from the end: each moves to where the next ones have been
		from, n := i*part, min(part, size-i*part)
		frame := all[i*(head+part):]
		copy(frame[head:], all[head+from:][:n])
		binary.BigEndian.PutUint32(frame, uint32(1+n))
		frame[wire.FrameHead] = mark
		mark = more
	}
	return all, nil
}

// A reader reads messages of at most so many bytes.
type reader struct {
	frames *wire.FrameReader
	most   int
}

func newReader(r io.Reader, most int) *reader {
	return &reader{frames: wire.NewFrameReader(r, partSize, nil), most: most}
}

// next gives the next message; it is valid until the next call. Only the last frame may be shorter than the others: so
// what waits for it is bounded by what it holds. A long message is put together once, when all of it is there: while it
// grew it would be copied again and again, and be longer than it is.
func (r *reader) next() ([]byte, error) {
	var parts [][]byte
	for {
		b, err := r.frames.Next()
		switch {
		case err == io.EOF && parts != nil:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case len(b) == 0 || b[0] != last && (b[0] != more || len(b) < partSize):
			return nil, fmt.Errorf("%w: it does not begin as a message does", wire.ErrFrame)
		case len(parts)*(partSize-1)+len(b)-1 > r.most:
			return nil, fmt.Errorf("%w: a message of more than %d bytes", wire.ErrFrame, r.most)
		case b[0] == last && parts == nil:
			return b[1:], nil
		case b[0] == last:
			return slices.Concat(append(parts, b[1:])...), nil
		}
		parts = append(parts, bytes.Clone(b[1:]))
	}
}
