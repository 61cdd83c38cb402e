package pipe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/satin-peer/satin/internal/wire"
)

// A message is one frame or, if it is long, several: the first byte of each says whether more follow. So a shared value
// of any size gets through, and nobody sets memory aside for what is only announced.
const (
	partSize = 1 << 20 // bytes of a frame
	last     = 0
	more     = 1
)

// frames encodes a message, in its frames.
func frames(v any) ([]byte, error) {
	var b bytes.Buffer
	b.Write(make([]byte, wire.FrameHead+1))
	if err := wire.Shared().Append(&b, v); err != nil {
		return nil, err
	}
	all := b.Bytes()
	const head = wire.FrameHead + 1
	size := len(all) - head
	if size < partSize {
		binary.BigEndian.PutUint32(all, uint32(1+size))
		all[wire.FrameHead] = last
		return all, nil
	}
	out := make([]byte, 0, len(all)+head*(size/(partSize-1)+1))
	for rest := all[head:]; len(rest) > 0; {
		part := rest[:min(len(rest), partSize-1)]
		rest = rest[len(part):]
		out = binary.BigEndian.AppendUint32(out, uint32(1+len(part)))
		mark := byte(last)
		if len(rest) > 0 {
			mark = more
		}
		out = append(append(out, mark), part...)
	}
	return out, nil
}

// A reader reads messages of at most so many bytes.
type reader struct {
	frames *wire.FrameReader
	most   int
	parts  []byte
}

func newReader(r io.Reader, most int) *reader {
	return &reader{frames: wire.NewFrameReader(r, partSize, nil), most: most}
}

// next gives the next message; it is valid until the next call.
func (r *reader) next() ([]byte, error) {
	r.parts = nil
	for {
		b, err := r.frames.Next()
		switch {
		case err == io.EOF && r.parts != nil:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case len(b) == 0 || b[0] > more:
			return nil, fmt.Errorf("%w: it does not begin as a message does", wire.ErrFrame)
		case len(r.parts)+len(b)-1 > r.most:
			return nil, fmt.Errorf("%w: a message of more than %d bytes", wire.ErrFrame, r.most)
		case b[0] == last && r.parts == nil:
			return b[1:], nil
		}
		end := b[0] == last
		if r.parts = append(r.parts, b[1:]...); end {
			return r.parts, nil
		}
	}
}
