package stream_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/steal"
)

// frame is a payload with its length before it.
func frame(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

func opening(serial uint64) []byte { return wire.Opening{Life: 7, Serial: serial}.Append(nil) }

func encoded(t testing.TB, m *steal.Message) []byte {
	b, err := wire.Control().Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// An attack is what a peer writes to a stream of ours.
type attack struct {
	name     string
	protocol protocol.ID
	bytes    []byte // after the opening
	raw      bool   // there is no opening
	end      bool   // the stream is closed then; else it is left open
}

func attacks(w *world) []attack {
	from, to := w.hosts[1], w.hosts[0]
	good := heartbeat(from, to, 1)
	begin := func(m *steal.Message, size int) []byte {
		return wire.BulkFrame{Kind: wire.BulkBegin, Transfer: 1, Size: size, Data: encoded(w.t, m)}.Append(nil)
	}
	chunk := func(transfer uint32, size int) []byte {
		return wire.BulkFrame{Kind: wire.BulkChunk, Transfer: transfer, Data: make([]byte, size)}.Append(nil)
	}
	relayedTwice := &steal.Message{From: good.From, To: good.To, Relayed: &steal.Message{Relayed: good}}
	bulk := []attack{
		{name: "no bulk frame", bytes: frame([]byte{9, 0, 0, 0, 1})},
		{name: "an empty bulk frame", bytes: frame(nil)},
		{name: "a bulk frame beyond the limit", bytes: []byte{0, 0xff, 0, 0}},
		{name: "a transfer of nothing", bytes: frame([]byte{1, 0, 0, 0, 1, 0, 0, 0, 0, 1})},
		{name: "a transfer beyond the limit", bytes: frame([]byte{1, 0, 0, 0, 1, 0xff, 0, 0, 0, 1})},
		{name: "a transfer of a heartbeat", bytes: begin(good, 10)},
		{name: "a transfer of a result that has its outcome", bytes: begin(result(from, to, 1, []byte{1}), 10)},
		{name: "a transfer from somebody else", bytes: begin(result(to, to, 1, nil), 10)},
		{name: "a transfer of garbage", bytes: wire.BulkFrame{Kind: wire.BulkBegin, Transfer: 1, Size: 10,
			Data: []byte("garbage")}.Append(nil)},
		{name: "a chunk of no transfer", bytes: chunk(1, 10)},
		{name: "a chunk beyond the limit", bytes: frame(append([]byte{2, 0, 0, 0, 1},
			make([]byte, wire.MaxChunk+1)...))},
		{name: "more chunks than there was to come",
			bytes: append(begin(result(from, to, 1, nil), 10), chunk(1, 11)...)},
		{name: "a chunk that dribbles", bytes: append(begin(result(from, to, 1, nil), 1000), chunk(1, 11)...)},
		{name: "an acknowledgement of nothing", bytes: wire.BulkFrame{Kind: wire.BulkAck, Transfer: 1,
			Size: 1}.Append(nil)},
		{name: "a transfer that begins twice", bytes: append(begin(result(from, to, 1, nil), 10),
			begin(result(from, to, 1, nil), 10)...)},
		{name: "a transfer that does not go on", bytes: begin(result(from, to, 1, nil), 10)},
	}
	for i := range bulk {
		bulk[i].protocol = wire.BulkProtocol
	}
	return append(append(bulk, sharedAttacks(w)...), []attack{
		{name: "another protocol's beginning", raw: true, bytes: []byte("GET / HTTP/1.1\r\nHost: satin\r\n\r\n")},
		{name: "half an opening and then nothing", raw: true, bytes: opening(1)[:10]},
		{name: "half an opening and the end", raw: true, bytes: opening(1)[:10], end: true},
		{name: "an opening without a number", raw: true, bytes: opening(0)},
		{name: "an oversized frame", bytes: []byte{0, 4, 0, 1}},
		{name: "an enormous frame", bytes: []byte{0xff, 0xff, 0xff, 0xff}},
		{name: "half a frame and then nothing", bytes: frame(encoded(w.t, good))[:20]},
		{name: "half a frame and the end", bytes: frame(encoded(w.t, good))[:20], end: true},
		{name: "half a frame's head and then nothing", bytes: []byte{0, 0}},
		{name: "an empty frame", bytes: frame(nil)},
		{name: "garbage", bytes: frame([]byte("garbage"))},
		{name: "deep nesting", bytes: frame(bytes.Repeat([]byte{0xa1, 0x0d}, 100_000))},
		{name: "an endless array", bytes: frame([]byte{0xa1, 0x06, 0xa1, 0x01, 0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff,
			0xff, 0xff, 0xff})},
		{name: "bytes after the message", bytes: frame(append(encoded(w.t, good), 0))},
		{name: "a message without a body", bytes: frame(encoded(w.t, &steal.Message{From: good.From, To: good.To}))},
		{name: "a relayed relayed message", bytes: frame(encoded(w.t, relayedTwice))},
		{name: "a message from somebody else", bytes: frame(encoded(w.t, heartbeat(to, to, 1)))},
		{name: "a message for somebody else", bytes: frame(encoded(w.t, heartbeat(from, from, 1)))},
	}...)
}

// Each of them gets its stream reset and is counted, and nothing of it is delivered. The clock of the test
// says how long the slow ones may take.
func TestHostileStreams(t *testing.T) {
	inVirtualTime(t, 3, func(w *world) {
		box := newInbox()
		w.start(0, stream.Config{Offences: 1000}, box.handler())
		honest := w.start(2, stream.Config{}, newInbox().handler())
		for i, a := range attacks(w) {
			if a.protocol == "" {
				a.protocol = wire.StealProtocol
			}
			before := w.transports[0].Stats()
			began := time.Now()
			s := w.attack(a, uint64(i+1))
			// A stream that is reset, and not closed, ends with an error that is not io.EOF.
			for err := error(nil); err == nil; {
				_, err = s.Read(make([]byte, 100))
				if errors.Is(err, io.EOF) && a.protocol == wire.StealProtocol {
					err = w.writeUntilReset(s, a)
				}
			}
			s.Reset()
			time.Sleep(time.Second)
			after := w.transports[0].Stats()
			if after.Offences != before.Offences+1 {
				t.Errorf("%s: %d offences", a.name, after.Offences-before.Offences)
			}
			if took := time.Since(began); took > 3*time.Minute+2*time.Second {
				t.Errorf("%s: it took %v", a.name, took)
			}
			honest.Send(heartbeat(w.hosts[2], w.hosts[0], uint64(i+1)))
			box.messages(i + 1)
		}
		for _, m := range box.snapshot() {
			if m.From.Peer != name(w.hosts[2]) {
				t.Errorf("a hostile message was delivered: %+v", m)
			}
		}
	})
}

func (w *world) attack(a attack, serial uint64) network.Stream {
	w.t.Helper()
	s, err := w.hosts[1].NewStream(context.Background(), w.hosts[0].ID(), a.protocol)
	if err != nil {
		w.t.Fatal(a.name, err)
	}
	b := a.bytes
	if !a.raw {
		b = append(opening(serial), b...)
	}
	if _, err := s.Write(b); err != nil && !errors.Is(err, network.ErrReset) {
		w.t.Fatal(a.name, err)
	}
	if a.end {
		s.CloseWrite()
	}
	return s
}

// writeUntilReset finds out when the other side has reset a control stream, on which nothing comes back:
// bytes that would belong to no frame are sent now and then. A stream that was closed is done already.
func (w *world) writeUntilReset(s network.Stream, a attack) error {
	time.Sleep(11 * time.Second) // a frame's timeout, and some
	if a.end {
		return io.EOF
	}
	for range 10 {
		if _, err := s.Write([]byte{0}); err != nil {
			return err
		}
		time.Sleep(time.Second)
	}
	w.t.Errorf("%s: the stream was not reset", a.name)
	return io.EOF
}

// A peer that goes on misbehaving is refused, both ways, for a while; then it gets another chance.
func TestRepeatedOffences(t *testing.T) {
	inVirtualTime(t, 2, func(w *world) {
		box := newInbox()
		a := w.start(0, stream.Config{Offences: 3, OffenceWindow: time.Minute, RefuseFor: time.Minute}, box.handler())
		garbage := attack{name: "garbage", protocol: wire.StealProtocol, bytes: frame([]byte("garbage"))}
		for i := range 3 {
			w.attack(garbage, uint64(i+1))
			time.Sleep(time.Second)
		}
		good := attack{name: "good", protocol: wire.StealProtocol,
			bytes: frame(encoded(t, heartbeat(w.hosts[1], w.hosts[0], 1)))}
		w.attack(good, 10)
		time.Sleep(time.Second)
		a.Send(heartbeat(w.hosts[0], w.hosts[1], 1))
		if err := box.failures(1)[0]; !errors.Is(err, stream.ErrRefused) {
			t.Error(err)
		}
		if s := a.Stats(); s.Offences != 3 || s.Refused != 1 || s.Received != 0 {
			t.Errorf("while it is refused: %+v", s)
		}
		time.Sleep(time.Minute)
		w.attack(good, 11)
		box.messages(1)
	})
}

// Whoever has not passed the swarm's handshake is not listened to.
func TestOnlyTheAdmittedAreHeard(t *testing.T) {
	inVirtualTime(t, 3, func(w *world) {
		box := newInbox()
		w.start(0, stream.Config{Admitted: func(id peer.ID) bool { return id == w.hosts[2].ID() }}, box.handler())
		b, c := w.start(1, stream.Config{}, newInbox().handler()), w.start(2, stream.Config{}, newInbox().handler())
		b.Send(heartbeat(w.hosts[1], w.hosts[0], 1))
		c.Send(heartbeat(w.hosts[2], w.hosts[0], 2))
		time.Sleep(time.Second)
		if s := seqs(box.messages(1)); len(s) != 1 || s[0] != 2 {
			t.Errorf("heard %v", s)
		}
	})
}

// When a few have taken all room for long results, others still get some for what is shorter, each a little less.
func TestRoomForTheOthers(t *testing.T) {
	inVirtualTime(t, 6, func(w *world) {
		release, failed := make(chan struct{}), make(chan int, 5)
		held := make(chan steal.Handle, 5)
		w.start(0, stream.Config{BulkMemory: 16 << 20, BulkMemoryTotal: 24 << 20}, stream.Handler{
			Received: func(m *steal.Message) { held <- m.Result.Handle; <-release },
			Failed:   func(*steal.Message, error) {},
		})
		defer close(release)
		for i, c := range []struct {
			size int
			room bool
		}{{16 << 20, true}, {8 << 20, true}, {3 << 19, true}, {3 << 19, false}, {1 << 20, true}} {
			from := w.start(i+1, stream.Config{}, stream.Handler{Received: func(*steal.Message) {},
				Failed: func(*steal.Message, error) { failed <- i }})
			from.Send(result(w.hosts[i+1], w.hosts[0], steal.Handle(i+1), make([]byte, c.size)))
			select {
			case <-held:
				if !c.room {
					t.Errorf("result %d came", i)
				}
			case <-failed:
				if c.room {
					t.Errorf("there was no room for result %d", i)
				}
			}
		}
	})
}

// What a transfer is about takes room, too, before anything of it has come: one peer may not have that without bounds.
func TestHeadsOfTransfersAreBounded(t *testing.T) {
	inVirtualTime(t, 2, func(w *world) {
		w.start(0, stream.Config{}, newInbox().handler())
		s, err := w.hosts[1].NewStream(context.Background(), w.hosts[0].ID(), wire.BulkProtocol)
		if err != nil {
			t.Fatal(err)
		}
		m := result(w.hosts[1], w.hosts[0], 1, nil)
		m.Result.Voucher = make([]byte, 100_000)
		b := opening(1)
		for i := range uint32(8) {
			b = wire.BulkFrame{Kind: wire.BulkBegin, Transfer: i + 1, Size: 1, Data: encoded(t, m)}.Append(b)
		}
		if _, err := s.Write(b); err != nil {
			t.Fatal(err)
		}
		for i := range uint32(6) { // two of 100 KB fit
			b, err := wire.ReadFrame(s, nil, wire.MaxBulkFrame)
			if err != nil {
				t.Fatal(err)
			}
			if f, err := wire.DecodeBulk(b); err != nil || f.Kind != wire.BulkRefuse || f.Transfer != i+3 {
				t.Errorf("%+v was answered: %v", f, err)
			}
		}
	})
}

// Whoever begins long results and brings next to nothing of them has the room until somebody lacks it, and for some
// minutes at most; then it is cut off, and to begin again at once does not bring the room back.
func TestSlowTransfersMakeRoom(t *testing.T) {
	inVirtualTime(t, 4, func(w *world) {
		came, refused := make(chan bool, 1), make(chan bool, 1)
		w.start(0, stream.Config{BulkMemory: 16 << 20, BulkMemoryTotal: 24 << 20}, stream.Handler{
			Received: func(*steal.Message) { came <- true }, Failed: func(*steal.Message, error) {}})
		honest := w.start(3, stream.Config{}, stream.Handler{Received: func(*steal.Message) {},
			Failed: func(*steal.Message, error) { refused <- true }})
		arrives := func() bool {
			honest.Send(result(w.hosts[3], w.hosts[0], 1, make([]byte, 6<<20)))
			select {
			case <-came:
				return true
			case <-refused:
				return false
			}
		}
		serial := uint64(0)
		begin := func() (streams []network.Stream) {
			for i, size := range []int{16 << 20, 8 << 20} {
				serial++
				s, err := w.hosts[i+1].NewStream(context.Background(), w.hosts[0].ID(), wire.BulkProtocol)
				if err != nil {
					t.Fatal(err)
				}
				m := encoded(t, result(w.hosts[i+1], w.hosts[0], steal.Handle(serial), nil))
				b := wire.BulkFrame{Kind: wire.BulkBegin, Transfer: 1, Size: size, Data: m}.Append(opening(serial))
				if _, err := s.Write(b); err != nil {
					t.Fatal(err)
				}
				streams = append(streams, s)
			}
			time.Sleep(3 * time.Second) // the stream before has settled
			return streams
		}
		streams := begin()
		if arrives() {
			t.Error("there was room")
		}
		chunk := wire.BulkFrame{Kind: wire.BulkChunk, Transfer: 1, Data: make([]byte, wire.MaxChunk)}.Append(nil)
		for range 3 {
			time.Sleep(2 * time.Minute)
			for _, s := range streams {
				if _, err := s.Write(chunk); err != nil {
					t.Fatal("who is slow and in nobody's way is cut off:", err)
				}
			}
		}
		arrives()
		begin()
		if !arrives() {
			t.Error("two that are slow have all of the room")
		}
		time.Sleep(2 * time.Minute) // nobody lacks room any more
		if begin(); arrives() {
			t.Error("who was slow has no room that nobody wants")
		}
		if time.Sleep(time.Second); !arrives() {
			t.Error("who was slow is not cut off at once")
		}
	})
}
