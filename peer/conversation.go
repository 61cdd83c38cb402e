package peer

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/wire"
)

// Members ask each other by one question and one answer on a stream of its own, bounded in length and in time.

// answer serves one question. What goes wrong ends the stream: the other side will see.
func (p *Peer) answer(s network.Stream, limit int, within time.Duration, f func(question []byte) (any, error)) {
	p.serve(s, within, func() error {
		q, err := wire.ReadFrame(s, nil, limit)
		if err != nil {
			return err
		}
		a, err := f(q)
		if err != nil {
			return err
		}
		return writeValue(s, a)
	})
}

// serve lets a member speak on a stream that it opened, for so long at most.
func (p *Peer) serve(s network.Stream, within time.Duration, f func() error) {
	if !p.host.Admitted(s.Conn().RemotePeer()) {
		_ = s.Reset()
		return
	}
	err := s.SetDeadline(p.now().Add(within))
	if err == nil {
		err = f()
	}
	if err != nil {
		p.log.Debug("question not answered", "peer", s.Conn().RemotePeer(), "protocol", s.Protocol(), "error", err)
		_ = s.Reset()
		return
	}
	_ = s.Close()
}

// ask asks one question.
func (p *Peer) ask(ctx context.Context, to peer.ID, id protocol.ID, question, answer any, limit int,
	within time.Duration) error {
	return p.converse(ctx, to, id, within, func(s network.Stream) error {
		if err := writeValue(s, question); err != nil {
			return err
		}
		return readValue(s, limit, answer)
	})
}

// converse speaks with a member on a stream of its own, for so long at most.
func (p *Peer) converse(ctx context.Context, to peer.ID, id protocol.ID, within time.Duration,
	f func(network.Stream) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	// Questions may go through a relay; jobs wait for a direct connection.
	s, err := p.net.NewStream(network.WithAllowLimitedConn(ctx, string(id)), to, id)
	if err != nil {
		return fmt.Errorf("%s cannot be asked: %w", to, err)
	}
	defer func() { _ = s.Reset() }() // after a Close it does nothing
	deadline, _ := ctx.Deadline()
	if err := s.SetDeadline(deadline); err != nil {
		return err
	}
	if err := f(s); err != nil {
		return fmt.Errorf("%s does not answer: %w", to, err)
	}
	_ = s.Close()
	return nil
}

// writeValue writes one message as a frame.
func writeValue(w io.Writer, v any) error {
	b, err := wire.Value().Encode(v)
	if err != nil {
		return err
	}
	return wire.WriteFrame(w, b, wire.MaxValue)
}

// readValue reads one message of at most limit bytes.
func readValue(r io.Reader, limit int, v any) error {
	b, err := wire.ReadFrame(r, nil, limit)
	if err != nil {
		return err
	}
	return wire.Value().Decode(b, v)
}

// clip cuts a stranger's text for a log.
func clip(s string) string { return s[:min(len(s), 64)] }
