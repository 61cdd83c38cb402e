package host

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/multiformats/go-multistream"

	"github.com/satin-peer/satin/internal/wire"
)

const (
	helloFamily   = "/satin/hello/"
	helloProtocol = protocol.ID(helloFamily + "1")

	maxHelloFrame = 8 << 10          // bytes
	helloTimeout  = 10 * time.Second // for the whole handshake, and for a stranger to begin one
	lingerTimeout = 5 * time.Second  // for the other to have read a refusal
	maxAgent      = 128              // bytes
	maxReason     = 400              // bytes
)

// A hello is what each says to the other. The identity needs no proof here: the connection has proven it.
type hello struct {
	Protocol    uint32        `cbor:"1,keyasint"`           // version of the swarm's protocols that the sender speaks
	Oldest      uint32        `cbor:"2,keyasint"`           // the oldest that it can still speak
	Swarm       string        `cbor:"3,keyasint"`           // name; empty from a newcomer that does not know it
	Key         []byte        `cbor:"4,keyasint,omitempty"` // the swarm's public key
	Chain       []certificate `cbor:"5,keyasint,omitempty"` // proof of membership
	Ticket      []byte        `cbor:"6,keyasint,omitempty"` // the secret of an invitation; only its maker ever gets it
	Joins       bool          `cbor:"7,keyasint,omitempty"` // the sender would become a member
	Incarnation uint64        `cbor:"8,keyasint"`
	Agent       string        `cbor:"9,keyasint,omitempty"` // what program, which version; for people
}

// A welcome answers a hello.
type welcome struct {
	Code    uint8         `cbor:"1,keyasint"` // 0: come in; else an index in refusals
	Reason  string        `cbor:"2,keyasint,omitempty"`
	Hello   *hello        `cbor:"3,keyasint,omitempty"` // the answerer's own
	Granted []certificate `cbor:"4,keyasint,omitempty"` // the new member's proof
}

// refusals are the errors that cross the network as numbers. New ones go to the end.
var refusals = []error{nil, ErrHello, ErrVersion, ErrWrongSwarm, ErrNotInvited, ErrInvitation, ErrBusy}

func encodeRefusal(err error) welcome {
	code := 1
	for i, sentinel := range refusals {
		if sentinel != nil && errors.Is(err, sentinel) {
			code = i
		}
	}
	reason := strings.TrimPrefix(err.Error(), refusals[code].Error()+": ")
	return welcome{Code: uint8(code), Reason: clip(reason, maxReason)}
}

func (w welcome) refusal() error {
	sentinel := ErrHello
	if int(w.Code) < len(refusals) {
		sentinel = refusals[w.Code]
	}
	return fmt.Errorf("%w: it says: %s", sentinel, printable(w.Reason))
}

// clip shortens a text without tearing a letter.
func clip(s string, n int) string {
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	return s
}

// printable makes a text from another peer fit for a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return '?'
	}, s)
}

func decodeHello(b []byte) (*hello, error) {
	var m hello
	if err := wire.Control().Decode(b, &m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHello, err)
	}
	return &m, m.check()
}

func decodeWelcome(b []byte) (*welcome, error) {
	var m welcome
	if err := wire.Control().Decode(b, &m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHello, err)
	}
	if m.Code != 0 {
		return &m, nil
	}
	if m.Hello == nil {
		return nil, fmt.Errorf("%w: a welcome without a hello", ErrHello)
	}
	if len(m.Reason) > maxReason || len(m.Granted) > maxChain {
		return nil, fmt.Errorf("%w: overlong", ErrHello)
	}
	return &m, m.Hello.check()
}

func (m *hello) check() error {
	if len(m.Agent) > maxAgent || len(m.Chain) > maxChain || len(m.Ticket) > secretBytes ||
		len(m.Key) != 0 && len(m.Key) != ed25519.PublicKeySize {
		return fmt.Errorf("%w: overlong", ErrHello)
	}
	if m.Swarm != "" || !m.Joins {
		if err := checkSwarmName(m.Swarm); err != nil {
			return fmt.Errorf("%w: %w", ErrHello, err)
		}
	}
	m.Agent = printable(m.Agent)
	return nil
}

// introduce makes this peer's hello. join is how it would become a member of the other's swarm, nil if it would not.
func (h *admission) introduce(join *intent) *hello {
	s := h.swarm.standing()
	m := &hello{Protocol: h.cfg.Protocol, Oldest: h.cfg.OldestProtocol, Swarm: s.name, Key: s.public,
		Chain: s.chain, Incarnation: h.incarnation, Agent: clip(h.cfg.Agent, maxAgent)}
	if join == nil {
		return m
	}
	if v := join.invitation; v != nil {
		if !bytes.Equal(v.Key, s.public) {
			m.Chain = nil
		}
		m.Swarm, m.Key, m.Ticket, m.Joins = v.Swarm, v.Key, v.secret, true
	} else if !s.settled {
		m.Joins = true
		if !s.named {
			m.Swarm = ""
		}
	}
	return m
}

// A greeter speaks the handshake.
type greeter struct{ host *Host }

// greet is the handshake as the dialer sees it.
func (g *greeter) greet(ctx context.Context, id peer.ID) (*hello, error) {
	h := g.host
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	ctx = network.WithNoDial(network.WithAllowLimitedConn(ctx, "hello"), "hello")
	s, err := h.inner.NewStream(ctx, id, helloProtocol)
	if err != nil {
		return nil, noHello(h.inner.Peerstore().GetProtocols, id, err)
	}
	whole := false
	defer func() { finish(s, whole) }()
	deadline, _ := ctx.Deadline()
	s.SetDeadline(deadline)
	join := h.intents.of(id)
	mine := h.admission.introduce(join)
	if err := writeMessage(s, mine); err != nil {
		return nil, noHello(h.inner.Peerstore().GetProtocols, id, err)
	}
	b, err := wire.ReadFrame(s, nil, maxHelloFrame)
	if err != nil {
		return nil, noHello(h.inner.Peerstore().GetProtocols, id, err)
	}
	w, err := decodeWelcome(b)
	if err != nil {
		return nil, err
	}
	whole = true
	var refusal error
	if w.Code != 0 {
		refusal = w.refusal()
	}
	if join != nil {
		h.intents.heard(id, join, answer{refusal})
	}
	if refusal != nil {
		return nil, refusal
	}
	return w.Hello, h.admission.accept(id, mine, w, join)
}

// finish ends a stream. A reset would overtake what was written.
func finish(s network.Stream, whole bool) {
	if whole {
		s.Close()
	} else {
		s.Reset()
	}
}

// noHello explains why there was no handshake.
func noHello(known func(peer.ID) ([]protocol.ID, error), id peer.ID, err error) error {
	if errors.Is(err, wire.ErrFrame) {
		return fmt.Errorf("%w: %w", ErrHello, err)
	}
	var unsupported multistream.ErrNotSupported[protocol.ID]
	if errors.As(err, &unsupported) {
		protocols, _ := known(id)
		for _, p := range protocols {
			if strings.HasPrefix(string(p), helloFamily) {
				return fmt.Errorf("%w: it speaks %s and this peer %s: update the older of the two", ErrVersion,
					printable(string(p)), helloProtocol)
			}
		}
		return fmt.Errorf("%w: it is no satin peer, or one too old or too new to speak %s", ErrVersion, helloProtocol)
	}
	return fmt.Errorf("%w: %w: %w", ErrUnreachable, errHungUp, err)
}

// answer is the handshake as the one who was dialed sees it.
func (g *greeter) answer(s network.Stream) {
	h := g.host
	whole := false
	defer func() { finish(s, whole) }()
	id := s.Conn().RemotePeer()
	if !h.gate.mayTry(id, time.Now()) {
		return
	}
	v, was := h.visitors.answering(id)
	if v == nil {
		return
	}
	defer h.visitors.answered(v)
	s.SetDeadline(time.Now().Add(helloTimeout))
	m, granted, err := g.hear(s, id)
	if err == nil {
		if granted != nil {
			m.Chain = granted
		}
		if !h.visitors.admit(v, m, s.Conn()) {
			return // gone meanwhile
		}
		h.welcomed(id)
		whole = writeMessage(s, &welcome{Hello: h.admission.introduce(nil), Granted: granted}) == nil
		return
	}
	h.log.Info("refused a peer", "peer", id, "address", s.Conn().RemoteMultiaddr(), "why", err)
	w := encodeRefusal(err)
	if writeMessage(s, &w) == nil {
		s.CloseWrite()
		s.SetReadDeadline(time.Now().Add(lingerTimeout))
		io.Copy(io.Discard, io.LimitReader(s, maxHelloFrame))
	}
	h.visitors.fail(v, was, err)
}

// hear reads a hello and judges it.
func (g *greeter) hear(s network.Stream, id peer.ID) (*hello, []certificate, error) {
	b, err := wire.ReadFrame(s, nil, maxHelloFrame)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrHello, err)
	}
	m, err := decodeHello(b)
	if err != nil {
		return nil, nil, err
	}
	granted, err := g.host.admission.judge(id, m)
	return m, granted, err
}

func writeMessage(s network.Stream, m any) error {
	b, err := wire.Control().Encode(m)
	if err != nil {
		return err
	}
	return wire.WriteFrame(s, b, maxHelloFrame)
}
