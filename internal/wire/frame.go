package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// FrameHead is the length of what precedes a frame's bytes.
const FrameHead = 4

// ErrFrame is what errors about the framing itself wrap: after one, the stream cannot be trusted and must be closed.
var ErrFrame = errors.New("bad frame")

// WriteFrame writes one frame in a single Write, so that frames of one writer are never torn by an error in
// between. It refuses frames over the limit with an error that wraps ErrFrame before anything is written.
func WriteFrame(w io.Writer, payload []byte, limit int) error {
	b, err := Frame(payload, limit)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// Frame is the frame of a payload, which must be within the limit, as in WriteFrame.
func Frame(payload []byte, limit int) ([]byte, error) {
	if len(payload) > limit {
		return nil, fmt.Errorf("%w: %d bytes to send, at most %d", ErrFrame, len(payload), limit)
	}
	b := make([]byte, FrameHead+len(payload))
	binary.BigEndian.PutUint32(b, uint32(len(payload)))
	copy(b[FrameHead:], payload)
	return b, nil
}

// ReadFrame reads one frame into buf if it is large enough, else into fresh memory, and returns the payload.
// A frame whose head announces more than limit bytes is refused, with an error that wraps ErrFrame, before
// any memory is set aside for it, and memory grows with what has arrived, not with what was announced. At the
// end of the stream between two frames the error is io.EOF, inside one io.ErrUnexpectedEOF.
func ReadFrame(r io.Reader, buf []byte, limit int) ([]byte, error) {
	var head [FrameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	announced := binary.BigEndian.Uint32(head[:])
	if uint64(announced) > uint64(limit) {
		return nil, fmt.Errorf("%w: %d bytes announced, at most %d are accepted", ErrFrame, announced, limit)
	}
	n := int(announced)
	for have := 0; have < n; {
		step := min(n-have, readStep)
		if cap(buf) < have+step {
			buf = append(buf[:have], make([]byte, step)...)
		}
		buf = buf[:have+step]
		if _, err := io.ReadFull(r, buf[have:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		have += step
	}
	return buf[:n], nil
}

// readStep is how much memory a frame's head can claim at once.
const readStep = 64 << 10
