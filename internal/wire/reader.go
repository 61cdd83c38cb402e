package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// FrameReader reads the frames of one stream through a buffer of its own, so that several small frames cost one Read.
type FrameReader struct {
	r          io.Reader
	limit      int
	begun      func(bool)
	buf        []byte
	start, end int  // what has been read and not been given out
	partial    bool // begun(true) was called last
	err        error
}

// NewFrameReader reads frames of at most limit bytes from r. A stream on which nothing comes may be waited
// for as long as one likes, but a frame that has begun must end: begun, if it is not nil, is called with true
// when only a part of a frame has arrived and the rest is to be read, and with false when that frame is
// complete. It is the place for a read deadline, and costs nothing where frames arrive whole.
func NewFrameReader(r io.Reader, limit int, begun func(bool)) *FrameReader {
	return &FrameReader{r: r, limit: limit, begun: begun, buf: make([]byte, readerKeeps)}
}

// readerKeeps is how much memory a FrameReader holds between frames.
const readerKeeps = 4 << 10

// Next returns the payload of the next frame, which is valid until the next call. Errors are as those of
// ReadFrame, and memory grows, as there, with what has arrived and not with what was announced.
func (f *FrameReader) Next() ([]byte, error) {
	for {
		have, need := f.end-f.start, FrameHead
		if have >= FrameHead {
			announced := binary.BigEndian.Uint32(f.buf[f.start:])
			if uint64(announced) > uint64(f.limit) {
				return nil, fmt.Errorf("%w: %d bytes announced, at most %d are accepted", ErrFrame, announced, f.limit)
			}
			need += int(announced)
			if have >= need {
				f.tell(false)
				payload := f.buf[f.start+FrameHead : f.start+need : f.start+need]
				f.start += need
				return payload, nil
			}
		}
		if f.err != nil {
			if have > 0 && errors.Is(f.err, io.EOF) {
				return nil, io.ErrUnexpectedEOF
			}
			return nil, f.err
		}
		f.makeRoom(need)
		f.tell(have > 0)
		var n int
		n, f.err = f.r.Read(f.buf[f.end:])
		f.end += n
	}
}

// More says that Next will not have to read: another frame is there, whole.
func (f *FrameReader) More() bool {
	have := f.end - f.start
	return have >= FrameHead && uint64(have-FrameHead) >= uint64(binary.BigEndian.Uint32(f.buf[f.start:]))
}

func (f *FrameReader) tell(partial bool) {
	if f.begun != nil && partial != f.partial {
		f.begun(partial)
	}
	f.partial = partial
}

// makeRoom moves what is there to the front and grows the buffer by at most readStep, or what it holds already.
func (f *FrameReader) makeRoom(need int) {
	have := f.end - f.start
	switch size := min(need, max(readStep, 2*have)); {
	case have == 0 && len(f.buf) > readStep && size <= readerKeeps:
		f.buf = make([]byte, readerKeeps) // a large frame has gone; its memory goes too
	case size > len(f.buf):
		grown := make([]byte, size)
		copy(grown, f.buf[f.start:f.end])
		f.buf = grown
	default:
		copy(f.buf, f.buf[f.start:f.end])
	}
	f.start, f.end = 0, have
}
