package stream

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

// errOffence is what errors about a sender's misbehaviour wrap, here and in bulk_in.go.
var errOffence = errors.New("offence")

// inbound reads the opening of a stream that a partner has opened, waits for its turn, lets read have it, and
// judges the error with which that ends.
func (p *partner) inbound(s network.Stream, q *turns, read func(network.Stream) error) {
	p.use()
	_ = s.SetReadDeadline(time.Now().Add(p.t.cfg.FrameTimeout))
	o, err := wire.ReadOpening(s)
	if err == nil {
		_ = s.SetReadDeadline(time.Time{})
		var mine *turn
		if mine, err = q.enter(p.t.ctx, s, o); err == nil {
			p.way.open()
			err = read(s)
			mine.leave()
		}
	}
	switch { // an offence first: what was wrong with a message may wrap anything, io.EOF too
	case errors.Is(err, errOffence), errors.Is(err, wire.ErrFrame), errors.Is(err, os.ErrDeadlineExceeded),
		errors.Is(err, io.ErrUnexpectedEOF):
		p.t.count.offences.Add(1)
		p.t.offences.add(p.id, time.Now(), p.t.cfg)
	case errors.Is(err, io.EOF):
		_ = s.Close()
		return
	}
	_ = s.Reset()
}

// readControl reads a control stream to its end.
func (p *partner) readControl(s network.Stream) {
	p.readMessages(s, &p.inControl, func(b []byte) (func(), error) {
		m, err := p.message(b)
		if err != nil {
			return nil, err
		}
		switch {
		case m.HandOver != nil:
			p.handed(len(b))
		case m.Reply != nil:
			p.handed(len(b) / givenWork)
		}
		return func() { p.t.handler.Received(m) }, nil
	})
}

// readMessages reads a stream on which nothing goes back to its end. Each message is a frame, of which take makes what
// is to be done when the message is due.
func (p *partner) readMessages(s network.Stream, q *turns, take func(b []byte) (func(), error)) {
	p.inbound(s, q, func(s network.Stream) error {
		_ = s.CloseWrite()
		out := p.receiver()
		defer out.close()
		frames := wire.NewFrameReader(s, wire.MaxControlFrame, p.frameDeadline(s, p.t.cfg.FrameTimeout))
		for {
			b, err := frames.Next()
			if err != nil {
				return err
			}
			do, err := take(b)
			if err != nil {
				return err
			}
			p.use()
			p.t.count.received.Add(1)
			p.t.count.bytesReceived.Add(uint64(len(b) + wire.FrameHead))
			if err := out.deliver(len(b)+wire.FrameHead, do); err != nil {
				return err
			}
		}
	})
}

// frameDeadline sets the stream's read deadline while a part of a frame is there.
func (p *partner) frameDeadline(s network.Stream, timeout time.Duration) func(begun bool) {
	return func(begun bool) {
		var until time.Time
		if begun {
			until = time.Now().Add(timeout)
		}
		_ = s.SetReadDeadline(until)
	}
}

// What one peer hands over is read at handedRate: of all that it may send little else makes as much work for each of
// its bytes, and nobody has asked for it. What only the general codec can read, a message within a message and
// whatever else a correct peer does not send, is more work: that takes some fifteen times as long. Jobs are less, and
// asked for, but by whom the core knows alone: they come at 16 MiB a second. It waits in its own streams meanwhile, so
// its other messages wait behind.
const (
	handedRate   = 2 << 20 // bytes a second
	handedAtOnce = 1 << 20
	generalWork  = 4 // bytes that one of these counts as
	givenWork    = 8 // bytes of jobs that count as one
)

// handed waits until so many bytes more may have been handed over, or the transport closes.
func (p *partner) handed(bytes int) {
	for ; bytes > 0; bytes -= handedAtOnce {
		_ = p.handing.WaitN(p.t.ctx, min(bytes, handedAtOnce))
	}
}

// message reads a message, and refuses what no correct peer sends to this one.
func (p *partner) message(b []byte) (*steal.Message, error) {
	m, err := decode(b, p.name, p.t.self), error(nil)
	if m == nil {
		p.handed(generalWork * len(b))
		m = new(steal.Message)
		err = wire.Control().Decode(b, m)
	}
	if err == nil {
		err = m.Validate()
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errOffence, err)
	case m.From.Peer != p.name || m.To.Peer != p.t.self:
		return nil, fmt.Errorf("%w: a message from %.60s to %.60s came from %s", errOffence, m.From.Peer, m.To.Peer,
			p.name)
	}
	return m, nil
}
