package stream

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/steal"
)

// An outbox is what waits for one of a partner's streams, and its one writer's account. The writer runs from
// the first message until the stream is retired. Messages are encoded as they are queued: the bound is on
// bytes, and the writer has nothing to do but to write. The control stream has one, and what jobs share has two
// (shared.go).
type outbox struct {
	protocol protocol.ID
	messages int // most that may wait,
	bytes    int // and bytes of them

	mu      sync.Mutex
	waiting batch
	running bool // there is a writer
	lost    bool // it could not open a stream the last time
	retire  bool // it is to end when it has nothing to write
	gone    bool // the partner's record is not the right one any more
	writing bool // it has taken a batch and is not done with it
	empty   []chan struct{}
	wake    chan struct{}
}

// A batch is some messages and their frames, one after the other.
type batch struct {
	frames   bytes.Buffer
	messages []queued
}

type queued struct {
	letter
	end int // of its frame in the batch
}

// A letter is a message of one of the protocols.
type letter struct {
	m      *steal.Message
	shared *Shared
}

func newOutbox(id protocol.ID, messages, bytes int) outbox {
	return outbox{protocol: id, messages: messages, bytes: bytes, wake: make(chan struct{}, 1)}
}

func (b *batch) reset() {
	if b.frames.Cap() > 64<<10 {
		b.frames = bytes.Buffer{} // a burst has gone; its memory goes too
	}
	b.frames.Reset()
	clear(b.messages)
	b.messages = b.messages[:0]
}

// add queues a message, and starts a writer if there is none.
func (o *outbox) add(p *partner, l letter) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.gone {
		return errGone
	}
	if !o.running || o.lost {
		if err := p.closedTo(); err != nil {
			return err
		}
	}
	b := &o.waiting
	if len(b.messages) >= o.messages || b.frames.Len() >= o.bytes {
		return ErrQueueFull
	}
	if err := l.append(&b.frames); err != nil {
		return err
	}
	end := b.frames.Len()
	b.messages = append(b.messages, queued{l, end})
	o.retire = false
	if !o.running {
		if !p.t.enter() {
			return ErrClosed
		}
		o.running = true
		go p.write(o)
	} else if len(b.messages) == 1 {
		poke(o.wake)
	}
	return nil
}

// next waits for messages and takes all that there are. False when the writer is to end.
func (o *outbox) next(p *partner, spare batch) (batch, bool) {
	for {
		o.mu.Lock()
		if len(o.waiting.messages) > 0 && p.t.ctx.Err() == nil {
			taken := o.waiting
			o.waiting, o.writing = spare, true
			o.mu.Unlock()
			return taken, true
		}
		o.writing = false
		for _, c := range o.empty {
			close(c)
		}
		o.empty = nil
		if o.retire || p.t.ctx.Err() != nil {
			o.running = false
			o.mu.Unlock()
			return spare, false
		}
		o.mu.Unlock()
		<-o.wake // Close pokes it too: a receive costs half of a select
	}
}

// lose empties the queue, because no stream could be opened: its messages have the fate of those before them.
func (o *outbox) lose() []queued {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.waiting.messages
	o.waiting, o.lost = batch{}, true
	return all
}

// whenEmpty gives a channel that is closed when nothing waits and nothing is being written.
func (o *outbox) whenEmpty() <-chan struct{} {
	c := make(chan struct{})
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.running || !o.writing && len(o.waiting.messages) == 0 {
		close(c)
	} else {
		o.empty = append(o.empty, c)
	}
	return c
}

func (o *outbox) retireWhenEmpty() {
	o.mu.Lock()
	o.retire = true
	o.mu.Unlock()
	poke(o.wake)
}

// poke wakes the goroutine that waits on c, or the next one that will.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// write is the writer of a stream.
func (p *partner) write(o *outbox) {
	defer p.t.running.Done()
	w := streamWriter{p: p, o: o}
	defer w.close()
	var b batch
	for {
		var more bool
		if b, more = o.next(p, b); !more {
			return
		}
		p.use()
		w.write(&b)
		b.reset()
	}
}

// A streamWriter has the stream.
type streamWriter struct {
	p      *partner
	o      *outbox
	stream network.Stream
	until  time.Time // the stream's write deadline
	// relayed says that the stream goes through a relay
	relayed bool
}

// write writes the frames of a batch to the stream, opened if need be. If the stream breaks, what it had not
// taken in whole goes to a new one, once; what it had is not repeated, since it may have arrived.
func (w *streamWriter) write(b *batch) {
	data, list, from := b.frames.Bytes(), b.messages, 0
	if w.relayed && w.stream != nil && w.p.connected(false) {
		w.close() // a hole has been punched: the next stream goes through it, and is read after this one
		w.stream = nil
	}
	for attempt := range 2 {
		if w.stream == nil {
			if err := w.open(); err != nil {
				w.p.unreachable(w.o, list, err)
				return
			}
		}
		n, err := w.writeSome(data[from:])
		if err == nil {
			w.p.t.count.bytesSent.Add(uint64(n))
			return
		}
		_ = w.stream.Reset()
		w.stream = nil
		taken := from + n
		for len(list) > 0 && list[0].end <= taken {
			from, list = list[0].end, list[1:]
		}
		if len(list) == 0 || w.p.t.ctx.Err() != nil {
			return
		}
		if stalled := errors.Is(err, os.ErrDeadlineExceeded); attempt > 0 || stalled {
			if stalled {
				err = ErrStalled
			}
			for _, q := range list {
				w.p.t.lose(q.letter, err)
			}
			return
		}
	}
}

// writeSome writes with a deadline, which is not set anew each time: that would cost a timer. A deadline that
// passes while the stream takes in something, be it slowly, is put off.
func (w *streamWriter) writeSome(data []byte) (written int, err error) {
	timeout := w.p.t.cfg.WriteTimeout
	for {
		if now := time.Now(); w.until.Sub(now) < timeout/2 {
			w.until = now.Add(timeout)
			_ = w.stream.SetWriteDeadline(w.until)
		}
		n, err := w.stream.Write(data[written:])
		written += n
		if err == nil || n == 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return written, err
		}
	}
}

func (w *streamWriter) open() error {
	s, err := w.p.open(w.o.protocol)
	if err != nil {
		return err
	}
	w.stream, w.until, w.relayed = s, time.Time{}, s.Conn().Stat().Limited
	o := w.o
	o.mu.Lock()
	o.lost = false
	o.mu.Unlock()
	return nil
}

func (w *streamWriter) close() {
	if w.stream != nil {
		_ = w.stream.Close()
	}
}
