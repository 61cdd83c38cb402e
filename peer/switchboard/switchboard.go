// Package switchboard lets the members of a swarm ask each other: as a rule by one question and one answer, on a stream
// of its own, bounded in length and in time. What is in memory here because it is on its way to them, or from them, has
// a bound of its own, for each of them and for all.
package switchboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	lp2p "github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/base"
)

// A Board is one peer's.
type Board struct {
	*base.Base
	Net      lp2p.Host
	Admitted func(peer.ID) bool          // whether it is a member: nobody else is answered
	Before   map[protocol.ID]protocol.ID // what a protocol is asked by where its newer version is not spoken
	Road     Transit                     // of all answers
}

// Answer answers the questions of a protocol. What goes wrong ends the stream: the other side will see.
func (x *Board) Answer(id protocol.ID, limit int, within time.Duration,
	f func(from peer.ID, question []byte) (any, error)) {
	x.Serve(id, within, func(s network.Stream) error {
		q, err := wire.ReadFrame(s, nil, limit)
		if err != nil {
			return err
		}
		a, err := f(s.Conn().RemotePeer(), q)
		if err != nil {
			return err
		}
		return x.Tell(s, a)
	})
}

// ErrBusy ends a stream for whose answer there is no room: it will be asked for again, or somebody else is.
var ErrBusy = errors.New("too much is on its way")

// A Lengthy answer says how long it is at most: it is not encoded where there is no room for it.
type Lengthy interface{ Length() int }

// Tell writes an answer, however slowly it is read.
func (x *Board) Tell(s network.Stream, v any) error {
	who, most := s.Conn().RemotePeer(), 0
	if l, ok := v.(Lengthy); ok {
		most = l.Length()
	}
	leave, ok := x.Road.Enter(who, most)
	if !ok {
		return ErrBusy
	}
	defer leave()
	b, err := wire.Value().Encode(v)
	if err != nil {
		return err
	}
	if leave, ok = x.Road.Enter(who, len(b)-most); !ok {
		return ErrBusy
	}
	defer leave()
	return wire.WriteFrame(s, b, wire.MaxValue)
}

// Serve lets members speak a protocol on streams that they open, each for so long at most.
func (x *Board) Serve(id protocol.ID, within time.Duration, f func(network.Stream) error) {
	x.Net.SetStreamHandler(id, func(s network.Stream) {
		if !x.Admitted(s.Conn().RemotePeer()) {
			_ = s.Reset()
			return
		}
		err := s.SetDeadline(x.Now().Add(within))
		if err == nil {
			err = f(s)
		}
		if err != nil {
			x.Log.Debug("question not answered", "peer", s.Conn().RemotePeer(), "protocol", id, "error", err)
			_ = s.Reset()
			return
		}
		_ = s.Close()
	})
}

// Ask asks one question.
func (x *Board) Ask(ctx context.Context, to peer.ID, id protocol.ID, question, answer any, limit int,
	within time.Duration) error {
	return x.Converse(ctx, to, id, within, func(s network.Stream) error {
		if err := WriteValue(s, question); err != nil {
			return err
		}
		return ReadValue(s, limit, answer)
	})
}

// Converse speaks with a member on a stream of its own, for so long at most.
func (x *Board) Converse(ctx context.Context, to peer.ID, id protocol.ID, within time.Duration,
	f func(network.Stream) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	// Questions may go through a relay.
	s, err := x.Net.NewStream(network.WithAllowLimitedConn(ctx, string(id)), to, x.versions(id)...)
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

// versions are those of a protocol that are spoken side by side, the newest first.
func (x *Board) versions(id protocol.ID) []protocol.ID {
	if before, ok := x.Before[id]; ok {
		return []protocol.ID{id, before}
	}
	return []protocol.ID{id}
}

// Connected says whether there is a connection to a peer, be it through a relay.
func (x *Board) Connected(id peer.ID) bool {
	c := x.Net.Network().Connectedness(id)
	return c == network.Connected || c == network.Limited
}

// WriteValue writes one message as a frame.
func WriteValue(w io.Writer, v any) error {
	b, err := wire.Value().Encode(v)
	if err != nil {
		return err
	}
	return wire.WriteFrame(w, b, wire.MaxValue)
}

// ReadValue reads one message of at most limit bytes.
func ReadValue(r io.Reader, limit int, v any) error {
	b, err := wire.ReadFrame(r, nil, limit)
	if err != nil {
		return err
	}
	return wire.Value().Decode(b, v)
}
