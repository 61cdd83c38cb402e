package checkpoint

import (
	"io"
)

// window reads a file through a buffer, forward.
type window struct {
	r    io.ReaderAt
	size int64
	at   int64 // place of buf in the file
	buf  []byte
}

// windowStep is how much is read at once, unless a frame is longer.
const windowStep = 1 << 20

// bytes gives the n bytes at place at, or as many as there are. They are valid until the next call.
func (w *window) bytes(at int64, n int) ([]byte, error) {
	n = int(min(int64(n), w.size-at))
	if n <= 0 {
		return nil, nil
	}
	if at < w.at || at+int64(n) > w.at+int64(len(w.buf)) {
		want := int(min(int64(max(n, windowStep)), w.size-at))
		if cap(w.buf) < want {
			w.buf = make([]byte, want)
		}
		w.buf = w.buf[:want]
		got, err := w.r.ReadAt(w.buf, at)
		w.at, w.buf = at, w.buf[:got]
		if got < n {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return w.buf[at-w.at:][:n], nil
}

// A loss is what could not be read of a file.
type loss struct {
	at        int64 // of the first stretch
	stretches int
	total     int64
	torn      bool // only the end of the file is missing: it was being written
}

func (l *loss) add(from, to int64) {
	if l.stretches == 0 {
		l.at = from
	}
	l.stretches++
	l.total += to - from
}

// scan calls visit with every intact record of a file from place at on, and its frame's place. It ends at the
// end of the file or with an error of the reader; a damaged stretch costs what was in it.
func scan(r io.ReaderAt, size, at int64, run [16]byte, visit func(at int64, frame int64, rec Record)) (lost loss,
	err error) {
	w := window{r: r, size: size}
	for at < size {
		head, err := w.bytes(at, headSize)
		if err != nil {
			return lost, err
		}
		n, sum, ok := headOf(head, run, at)
		if !ok {
			next, err := w.search(at+1, run)
			if err != nil {
				return lost, err
			}
			if next == size && lost.stretches == 0 {
				lost.torn, err = w.unwritten(at)
				if err != nil {
					return lost, err
				}
			}
			lost.add(at, next)
			at = next
			continue
		}
		end := at + headSize + int64(n)
		if end > size {
			lost.torn = lost.stretches == 0
			lost.add(at, size)
			break
		}
		payload, err := w.bytes(at+headSize, n)
		if err != nil {
			return lost, err
		}
		if rec, ok := readPayload(payload, sum); ok {
			visit(at, end-at, rec)
		} else {
			lost.add(at, end)
		}
		at = end
	}
	return lost, nil
}

func readPayload(payload []byte, sum uint32) (Record, bool) {
	if !intact(payload, sum) {
		return Record{}, false
	}
	rec, err := decodeRecord(payload)
	return rec, err == nil
}

// search gives the place of the next head, or the end of the file.
func (w *window) search(at int64, run [16]byte) (int64, error) {
	for w.size-at >= headSize {
		b, err := w.bytes(at, windowStep/2)
		if err != nil {
			return 0, err
		}
		skip, found := nextMarker(b)
		if !found && len(b) < windowStep/2 {
			return w.size, nil
		}
		at += int64(skip)
		if !found {
			continue
		}
		head, err := w.bytes(at, headSize)
		if err != nil {
			return 0, err
		}
		if _, _, ok := headOf(head, run, at); ok {
			return at, nil
		}
		at++
	}
	return w.size, nil
}

// unwritten says whether what lies from place at to the end looks like an unfinished write: less than a head,
// or zeros.
func (w *window) unwritten(at int64) (bool, error) {
	if w.size-at < headSize {
		return true, nil
	}
	for at < w.size {
		b, err := w.bytes(at, windowStep/2)
		if err != nil {
			return false, err
		}
		for _, c := range b {
			if c != 0 {
				return false, nil
			}
		}
		at += int64(len(b))
	}
	return true, nil
}
