package stream_test

import (
	"errors"
	"testing"

	"github.com/libp2p/go-libp2p/core/host"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/sharedobj"
)

// ask is a small message with a number, and piece one that goes apart from it.
func ask(from, to host.Host, n byte) *stream.Shared {
	return &stream.Shared{Run: job.RunID{1}, Message: &sharedobj.Message{From: sharedobj.PeerID(name(from)),
		To: sharedobj.PeerID(name(to)), Ask: &sharedobj.Ask{Digest: sharedobj.Digest{n}}}}
}

func piece(from, to host.Host, n byte) *stream.Shared {
	m := ask(from, to, n)
	m.Message.Ask, m.Message.Piece = nil, &sharedobj.Piece{Top: sharedobj.Hash{n}, Data: make([]byte, 16<<10)}
	return m
}

// What jobs share goes both ways, each kind in its order; a piece does not hold up what goes beside it; what does not
// fit into the queue, or goes nowhere, fails.
func TestShared(t *testing.T) {
	hosts := loopback(t, 3, overQUIC)
	boxes := []*inbox{newInbox(), newInbox()}
	a := start(t, hosts[0], stream.Config{}, boxes[0].handler())
	b := start(t, hosts[1], stream.Config{}, boxes[1].handler())
	const n = 100
	for i := range n {
		a.SendShared(piece(hosts[0], hosts[1], byte(i)))
		a.SendShared(ask(hosts[0], hosts[1], byte(i)))
		b.SendShared(ask(hosts[1], hosts[0], byte(i)))
	}
	a.Send(heartbeat(hosts[0], hosts[1], 7))
	boxes[1].messages(1)
	asks, pieces := byte(0), byte(0)
	for _, m := range boxes[1].sharedMessages(2 * n) {
		switch {
		case m.Run != (job.RunID{1}):
			t.Fatalf("a message of run %v", m.Run)
		case m.Message.Ask != nil && m.Message.Ask.Digest[0] == asks:
			asks++
		case m.Message.Piece != nil && m.Message.Piece.Top[0] == pieces && len(m.Message.Piece.Data) == 16<<10:
			pieces++
		default:
			t.Fatalf("after %d questions and %d pieces comes %+v", asks, pieces, m.Message)
		}
	}
	boxes[0].sharedMessages(n)

	a.SendShared(ask(hosts[0], hosts[2], 1)) // nobody listens there for it
	boxes[0].failures(1)
	full, box := 0, newInbox()
	small := start(t, hosts[2], stream.Config{PiecesBytes: 20 << 10}, box.handler())
	for range 20 {
		small.SendShared(piece(hosts[2], hosts[0], 1))
	}
	for _, err := range box.failures(1) {
		if errors.Is(err, stream.ErrQueueFull) {
			full++
		}
	}
	if full == 0 {
		t.Error("there is no bound on the pieces that wait")
	}
}

// sharedAttacks are those on the streams for what jobs share.
func sharedAttacks(w *world) (all []attack) {
	from, to := w.hosts[1], w.hosts[0]
	bytes := func(m *stream.Shared) []byte {
		b, err := wire.Control().Encode(m)
		if err != nil {
			w.t.Fatal(err)
		}
		return frame(b)
	}
	long := piece(from, to, 1)
	long.Message.Piece.Data = make([]byte, 16<<10+1)
	for _, a := range []attack{
		{name: "garbage shared", bytes: frame([]byte("garbage"))},
		{name: "an empty shared frame", bytes: frame(nil)},
		{name: "nothing shared", bytes: bytes(&stream.Shared{})},
		{name: "a shared message without a body",
			bytes: bytes(&stream.Shared{Message: &sharedobj.Message{From: "a", To: "b"}})},
		{name: "a shared message of somebody else", bytes: bytes(ask(to, to, 1))},
		{name: "a shared message for somebody else", bytes: bytes(ask(from, from, 1))},
		{name: "a piece among the questions", bytes: bytes(piece(from, to, 1))},
		{name: "half a shared message and the end", bytes: bytes(ask(from, to, 1))[:20], end: true},
	} {
		a.protocol = wire.SharedProtocol
		all = append(all, a)
	}
	return append(all, attack{name: "a question among the pieces", protocol: wire.PiecesProtocol,
		bytes: bytes(ask(from, to, 1))}, attack{name: "a piece that is too long", protocol: wire.PiecesProtocol,
		bytes: bytes(long)})
}
