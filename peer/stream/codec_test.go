package stream

import (
	"bytes"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// drawMessage makes a message of a kind that is encoded by hand, and now and then another.
func drawMessage(t *rapid.T) *steal.Message {
	num := rapid.OneOf(rapid.Uint64Range(0, 30), rapid.Uint64Range(0, 70000), rapid.Uint64Range(0, math.MaxInt64))
	small := rapid.IntRange(-1, 70000)
	blob := rapid.SliceOfN(rapid.Byte(), 0, 300)
	path := rapid.SliceOfN(rapid.Uint32(), 0, 30)
	span := rapid.Map(num, func(n uint64) time.Duration { return time.Duration(n) - 3 })
	id := func() (id [16]byte) {
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		return id
	}
	address := func() steal.Address {
		return steal.Address{Peer: steal.PeerID(rapid.String().Draw(t, "peer")),
			Inc: steal.Incarnation(num.Draw(t, "inc"))}
	}
	m := &steal.Message{Run: id(), From: address(), To: address()}
	handle := steal.Handle(num.Draw(t, "handle"))
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		m.Request = &steal.StealRequest{ID: steal.RequestID(num.Draw(t, "id")), Max: small.Draw(t, "max"),
			Patience: span.Draw(t, "patience")}
	case 1:
		m.Reply = &steal.StealReply{ID: steal.RequestID(num.Draw(t, "id")), Waited: span.Draw(t, "waited"),
			Queued: small.Draw(t, "queued")}
		for range rapid.IntRange(0, 30).Draw(t, "jobs") {
			m.Reply.Jobs = append(m.Reply.Jobs, steal.Grant{Handle: handle,
				Job: steal.Job{Path: path.Draw(t, "path"), Identity: id(),
					Function: rapid.String().Draw(t, "function"), Arg: blob.Draw(t, "arg"),
					Restarted: rapid.Bool().Draw(t, "restarted")}})
		}
	case 2:
		m.Result = &steal.Result{Handle: handle, Path: path.Draw(t, "path"), Identity: id(),
			Outcome: blob.Draw(t, "outcome")}
	case 3:
		m.Ack = &steal.ResultAck{Handle: handle}
	case 4:
		m.Heartbeat = &steal.Heartbeat{Seq: num.Draw(t, "seq")}
	case 5:
		m.Relayed = &steal.Message{From: address(), Result: &steal.Result{Handle: handle}}
	}
	return m
}

// What is written by hand is, to the byte, what the general codec writes, and comes back as it does.
func TestByHandAsByTheGeneralCodec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMessage(t)
		want, err := wire.Control().Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		b.WriteString("before")
		if err := appendFrame(&b, m); err != nil {
			t.Fatal(err)
		}
		got, err := wire.ReadFrame(bytes.NewReader(b.Bytes()[len("before"):]), nil, wire.MaxControlFrame)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%+v\nwas written as %x\nand should be    %x (%v)", m, got, want, err)
		}
		sameDecoding(t, want, m.From.Peer, m.To.Peer)
		sameDecoding(t, want, "somebody", "else")
	})
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func sameDecoding(t failer, b []byte, from, to steal.PeerID) {
	t.Helper()
	got, err := decode(b, from, to)
	want := new(steal.Message)
	wantErr := wire.Control().Decode(b, want)
	if (err == nil) != (wantErr == nil) || err == nil && !reflect.DeepEqual(got, want) {
		t.Fatalf("%x\nwas read as %+v (%v)\nand should be %+v (%v)", b, got, err, want, wantErr)
	}
}

// The usual messages of a steal do not need the general codec at all, or all this would be for nothing.
func TestUsualMessagesAreReadByHand(t *testing.T) {
	a, b := steal.Address{Peer: "a", Inc: 3}, steal.Address{Peer: "b", Inc: 70000}
	for _, m := range []*steal.Message{
		{From: a, To: b, Request: &steal.StealRequest{ID: 1, Max: 4, Patience: time.Second}},
		{From: a, To: b, Reply: &steal.StealReply{ID: 1, Queued: 3}},
		{From: a, To: b, Reply: &steal.StealReply{ID: 1,
			Jobs: []steal.Grant{{Handle: 1, Job: steal.Job{Path: job.Path{1, 300, 70000}, Function: "f",
				Arg: []byte{1}, Restarted: true}}}}},
		{From: a, To: b, Result: &steal.Result{Handle: 1, Path: job.Path{1}, Outcome: []byte{1}}},
		{From: a, To: b, Ack: &steal.ResultAck{Handle: 500}},
	} {
		encoded, err := wire.Control().Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		r := &cursor{b: encoded, names: [2]steal.PeerID{"a", "b"}}
		if got := r.message(); r.failed || len(r.b) > 0 || !reflect.DeepEqual(got, m) {
			t.Errorf("%v was not read by hand: %+v", m.Kind(), got)
		}
		if _, ok := appendMessage(nil, m); !ok {
			t.Errorf("%v was not written by hand", m.Kind())
		}
	}
}

// What is not written by hand goes whole, by the general codec: rare kinds, and grants of restarted jobs with
// their orphans.
func TestRestAsWhole(t *testing.T) {
	from, to := steal.Address{Peer: "a", Inc: 1}, steal.Address{Peer: "b", Inc: 2}
	part := steal.Partial{Path: job.Path{1, 2}, Outcome: []byte("outcome")}
	orphans := []steal.Tuple{{Path: job.Path{3, 1}, Holder: to, Done: true}}
	for _, m := range []*steal.Message{
		{From: from, To: to, Reply: &steal.StealReply{ID: 1,
			Jobs: []steal.Grant{{Handle: 1, Job: steal.Job{Path: job.Path{3}, Function: "f", Restarted: true},
				Orphans: orphans}}}},
		{From: from, To: to, Adopt: &steal.Adopt{Jobs: []steal.Adoption{{Handle: 7, Path: job.Path{1}}}}},
		{From: from, To: to, Disown: &steal.Disown{Handles: []steal.Handle{3, 4}}},
		{From: from, To: to, HandOver: &steal.HandOver{ID: 9, Parts: []steal.Partial{part}}},
		{From: from, To: to, HandOverAck: &steal.HandOverAck{ID: 9, Leaving: true}},
	} {
		var b bytes.Buffer
		if err := appendFrame(&b, m); err != nil {
			t.Fatal(m.Kind(), err)
		}
		got, err := decode(b.Bytes()[wire.FrameHead:], from.Peer, to.Peer)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%v came as %+v, %v", m.Kind(), got, err)
		}
	}
}

// A field that is added to a message that is encoded by hand must be added there too. This test says where.
// Of a Message four more fields are kinds that are not, of a Grant its orphans.
func TestNoFieldIsForgotten(t *testing.T) {
	for v, fields := range map[any]int{steal.Message{}: 13 + 4, steal.Address{}: 2, steal.StealRequest{}: 3,
		steal.ResultAck{}: 1} {
		if n := reflect.TypeOf(v).NumField(); n != fields {
			t.Errorf("%T has %d fields, encode.go and decode.go know %d", v, n, fields)
		}
	}
	for _, v := range []struct {
		t      reflect.Type
		fields int
	}{{reflect.TypeFor[steal.StealReply](), 4}, {reflect.TypeFor[steal.Grant](), 2 + 1},
		{reflect.TypeFor[steal.Job](), 5}, {reflect.TypeFor[steal.Result](), 4}} {
		if n := v.t.NumField(); n != v.fields {
			t.Errorf("%v has %d fields, encode.go and decode.go know %d", v.t, n, v.fields)
		}
	}
}

func FuzzDecode(f *testing.F) {
	a := steal.Address{Peer: "a", Inc: 1}
	for _, m := range []*steal.Message{
		{From: a, To: a, Request: &steal.StealRequest{ID: 1, Max: 4}},
		{From: a, To: a, Reply: &steal.StealReply{ID: 1,
			Jobs: []steal.Grant{{Handle: 1, Job: steal.Job{Path: job.Path{1, 2}, Function: "f", Arg: []byte{1}}}}}},
		{From: a, To: a, Result: &steal.Result{Handle: 9, Path: job.Path{1 << 20}, Outcome: []byte("outcome")}},
		{From: a, To: a, Ack: &steal.ResultAck{Handle: 1}},
		{From: a, To: a, Heartbeat: &steal.Heartbeat{Seq: 3, Held: []steal.Handle{1, 5}}},
	} {
		b, err := wire.Control().Encode(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { sameDecoding(t, b, "a", "b") })
}
