package peer

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

// A switchboard lets members ask each other: as a rule by one question and one answer, on a stream of its own, bounded
// in length and in time.
type switchboard struct {
	*base.Base
	net      lp2p.Host
	admitted func(peer.ID) bool
	road     transit
}

// answer answers the questions of a protocol. What goes wrong ends the stream: the other side will see.
func (x *switchboard) answer(id protocol.ID, limit int, within time.Duration,
	f func(from peer.ID, question []byte) (any, error)) {
	x.serve(id, within, func(s network.Stream) error {
		q, err := wire.ReadFrame(s, nil, limit)
		if err != nil {
			return err
		}
		a, err := f(s.Conn().RemotePeer(), q)
		if err != nil {
			return err
		}
		return x.tell(s, a)
	})
}

// errBusy ends a stream for whose answer there is no room: it will be asked for again, or somebody else is.
var errBusy = errors.New("too much is on its way")

// A lengthy answer says how long it is at most: it is not encoded where there is no room for it.
type lengthy interface{ length() int }

// tell writes an answer, however slowly it is read.
func (x *switchboard) tell(s network.Stream, v any) error {
	who, most := s.Conn().RemotePeer(), 0
	if l, ok := v.(lengthy); ok {
		most = l.length()
	}
	leave, ok := x.road.enter(who, most)
	if !ok {
		return errBusy
	}
	defer leave()
	b, err := wire.Value().Encode(v)
	if err != nil {
		return err
	}
	if leave, ok = x.road.enter(who, len(b)-most); !ok {
		return errBusy
	}
	defer leave()
	return wire.WriteFrame(s, b, wire.MaxValue)
}

// serve lets members speak a protocol on streams that they open, each for so long at most.
func (x *switchboard) serve(id protocol.ID, within time.Duration, f func(network.Stream) error) {
	x.net.SetStreamHandler(id, func(s network.Stream) {
		if !x.admitted(s.Conn().RemotePeer()) {
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

// ask asks one question.
func (x *switchboard) ask(ctx context.Context, to peer.ID, id protocol.ID, question, answer any, limit int,
	within time.Duration) error {
	return x.converse(ctx, to, id, within, func(s network.Stream) error {
		if err := writeValue(s, question); err != nil {
			return err
		}
		return readValue(s, limit, answer)
	})
}

// converse speaks with a member on a stream of its own, for so long at most.
func (x *switchboard) converse(ctx context.Context, to peer.ID, id protocol.ID, within time.Duration,
	f func(network.Stream) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	// Questions may go through a relay.
	s, err := x.net.NewStream(network.WithAllowLimitedConn(ctx, string(id)), to, versions(id)...)
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
func versions(id protocol.ID) []protocol.ID {
	if id == runProtocol {
		return []protocol.ID{id, runProtocolBefore}
	}
	return []protocol.ID{id}
}

// connected says whether there is a connection to a peer, be it through a relay.
func (x *switchboard) connected(id peer.ID) bool {
	c := x.net.Network().Connectedness(id)
	return c == network.Connected || c == network.Limited
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
