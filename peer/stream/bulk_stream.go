package stream

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/satin-peer/satin/internal/wire"
)

// A bulkWriter sends transfers over one bulk stream. The chunks of the active ones take turns, so a short
// result does not wait for the end of a long one. The window is the stream's, not the transfer's: it bounds
// what a slow link holds in front of a steal. A transfer begins with its first chunk and counts as active
// until its last one is acknowledged.
type bulkWriter struct {
	p        *partner
	stream   network.Stream
	active   []*transfer // whose turn it is, first
	lastID   uint32
	unacked  int
	window   window
	progress time.Time // when the last acknowledgement came, or the first chunk left that waits for one
	acks     chan wire.BulkFrame
	broken   chan error
	quit     chan struct{} // closed when nobody takes acks any more
	frame    []byte
}

func newBulkWriter(p *partner, s network.Stream, first []*transfer) *bulkWriter {
	w := &bulkWriter{p: p, stream: s, acks: make(chan wire.BulkFrame, 16), broken: make(chan error, 1),
		quit: make(chan struct{})}
	w.window.least = p.t.cfg.BulkWindow
	w.window.most = p.t.cfg.BulkWindowMax
	w.admit(first)
	return w
}

func (w *bulkWriter) admit(list []*transfer) {
	for _, t := range list {
		w.lastID++
		t.id, t.sent, t.acked = w.lastID, 0, 0
		w.active = append(w.active, t)
	}
}

// run returns nil when the stream is to be closed because nothing has gone over it for long.
func (w *bulkWriter) run() error {
	stall := time.NewTimer(w.p.t.cfg.StallTimeout)
	defer stall.Stop()
	for {
		w.admit(w.p.bulk.take(w.p.t.cfg.BulkActive - len(w.active)))
		if sent, err := w.writeChunk(); err != nil {
			return err
		} else if sent {
			w.p.use()
			continue
		}
		var stalled <-chan time.Time // while nothing is under way there is no hurry
		if w.unacked > 0 {
			stall.Reset(time.Until(w.progress.Add(w.p.t.cfg.StallTimeout)))
			stalled = stall.C
		} else if w.p.bulk.retired() {
			return nil
		}
		select {
		case f := <-w.acks:
			if err := w.acknowledged(f); err != nil {
				return err
			}
		case <-w.p.bulk.wake:
		case err := <-w.broken:
			return err
		case <-stalled:
			return ErrStalled
		case <-w.p.t.ctx.Done():
			return ErrClosed
		}
	}
}

// writeChunk writes the next chunk of the transfer whose turn it is, if the window allows it.
func (w *bulkWriter) writeChunk() (bool, error) {
	i := slices.IndexFunc(w.active, func(t *transfer) bool { return t.sent < len(t.body) })
	if i < 0 {
		return false, nil
	}
	t := w.active[i]
	n := min(wire.MaxChunk, len(t.body)-t.sent)
	if w.unacked > 0 && w.unacked+n > w.window.size() {
		return false, nil
	}
	w.frame = w.frame[:0]
	if t.sent == 0 {
		w.frame = wire.BulkFrame{Kind: wire.BulkBegin, Transfer: t.id, Size: len(t.body), Data: t.head}.Append(w.frame)
	}
	w.frame = wire.BulkFrame{Kind: wire.BulkChunk, Transfer: t.id, Data: t.body[t.sent : t.sent+n]}.Append(w.frame)
	now := time.Now()
	_ = w.stream.SetWriteDeadline(now.Add(w.p.t.cfg.StallTimeout))
	if _, err := w.stream.Write(w.frame); err != nil {
		return false, err
	}
	if w.unacked == 0 {
		w.progress = now
	}
	t.sent += n
	w.unacked += n
	w.window.chunkSent(t.id, w.unacked, now)
	w.active = append(slices.Delete(w.active, i, i+1), t)
	return true, nil
}

var errAck = errors.New("the peer acknowledged what was not sent")

// acknowledged takes in what the receiver says about a transfer.
func (w *bulkWriter) acknowledged(f wire.BulkFrame) error {
	i := slices.IndexFunc(w.active, func(t *transfer) bool { return t.id == f.Transfer })
	if i < 0 || w.active[i].sent == 0 {
		return fmt.Errorf("%w: transfer %d", errAck, f.Transfer)
	}
	t := w.active[i]
	switch f.Kind {
	case wire.BulkAck:
		if f.Size > t.sent-t.acked {
			return fmt.Errorf("%w: %d bytes of %d", errAck, f.Size, t.sent-t.acked)
		}
		w.progress = time.Now()
		w.window.chunkAcked(t.id, w.progress)
		t.acked += f.Size
		w.unacked -= f.Size
		if t.acked < len(t.body) {
			return nil
		}
		w.p.t.count.bulkSent.Add(1)
		w.p.bulk.forget(t)
	case wire.BulkRefuse:
		w.window.forget(t.id)
		w.unacked -= t.sent - t.acked
		w.p.failTransfer(t, ErrNoRoom)
	default:
		return fmt.Errorf("%w: a frame of kind %d", errAck, f.Kind)
	}
	w.active = slices.Delete(w.active, i, i+1)
	return nil
}

// readAcks reads what comes back until the stream ends. It may come late, as if over a slow network.
func (w *bulkWriter) readAcks() {
	p := w.p
	var l *lane
	if p.t.cfg.Delay != nil {
		l = newLane(p.t.ctx, p.t.cfg.Delay, p.name)
		defer l.close()
	}
	give := func(f wire.BulkFrame) {
		select {
		case w.acks <- f:
		case <-w.quit:
		}
	}
	frames := wire.NewFrameReader(w.stream, wire.MaxBulkFrame, nil)
	for {
		b, err := frames.Next()
		var f wire.BulkFrame
		if err == nil {
			f, err = wire.DecodeBulk(b)
			f.Data = nil // nothing that is acknowledged has any, and b is used again
		}
		if err == nil && l != nil {
			_, err = l.hold(len(b)+wire.FrameHead, func() { give(f) })
		} else if err == nil {
			give(f)
		}
		if err != nil {
			w.broken <- err
			return
		}
	}
}
