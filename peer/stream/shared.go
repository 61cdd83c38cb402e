package stream

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// Shared is a message of package sharedobj for a run, or, if Run is zero, about modules. It goes over streams of its
// own: one for questions and answers, one for pieces. Whoever wants pieces bounds how many are on their way
// (sharedobj's window), so these need no acknowledgements; what does not fit into the queue is dropped and asked for
// again.
type Shared struct {
	Run     job.RunID          `cbor:"1,keyasint"`
	Message *sharedobj.Message `cbor:"2,keyasint"`
}

// SendShared sends a message to m.Message.To, as Send does. Neither may be changed any more.
func (t *Transport) SendShared(m *Shared) {
	if err := t.sendShared(m); err != nil {
		t.lose(letter{shared: m}, err)
	}
}

func (t *Transport) sendShared(m *Shared) error {
	for {
		p, err := t.partner(steal.PeerID(m.Message.To))
		if err != nil {
			return err
		}
		o := &p.shared
		if m.Message.Bulk() {
			o = &p.pieces
		}
		if err = o.add(p, letter{shared: m}); err != errGone {
			return err
		}
	}
}

// append writes m as a frame to the end of b. On an error b is as it was.
func (m *Shared) append(b *bytes.Buffer) error {
	before := b.Len()
	b.Write(make([]byte, wire.FrameHead))
	if err := wire.Control().Append(b, m); err != nil {
		b.Truncate(before)
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	binary.BigEndian.PutUint32(b.Bytes()[before:], uint32(b.Len()-before-wire.FrameHead))
	return nil
}

// readShared reads a stream of what is shared to its end: of pieces, or of all else.
func (p *partner) readShared(s network.Stream, q *turns, pieces bool) {
	p.readMessages(s, q, func(b []byte) (func(), error) {
		m, err := decodeShared(b)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w: %w", errOffence, err)
		case m.Message.From != sharedobj.PeerID(p.name), m.Message.To != sharedobj.PeerID(p.t.self),
			m.Message.Bulk() != pieces:
			return nil, fmt.Errorf("%w: a message from %.60s to %.60s came from %s, or on another's stream", errOffence,
				m.Message.From, m.Message.To, p.name)
		}
		return func() { p.t.handler.Shared(m) }, nil
	})
}

// decodeShared reads a message that may be anything.
func decodeShared(b []byte) (*Shared, error) {
	m := new(Shared)
	if err := wire.Control().Decode(b, m); err != nil {
		return nil, err
	}
	if m.Message == nil {
		return nil, fmt.Errorf("%w: no message", sharedobj.ErrMalformed)
	}
	return m, m.Message.Validate()
}
