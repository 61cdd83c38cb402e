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

// drawMessage makes a message of any kind; a relayed one is not relayed again.
func drawMessage(t *rapid.T) *steal.Message {
	m := new(steal.Message)
	draw(t, reflect.ValueOf(m).Elem(), rapid.IntRange(0, bodies-1).Draw(t, "kind"))
	return m
}

// bodies is how many kinds there are.
var bodies = reflect.TypeFor[steal.Message]().NumField() - 3

// draw gives values to all fields, among them such as no correct core sends; of pointers to one only, if it
// says which.
func draw(t *rapid.T, v reflect.Value, only int) {
	num := rapid.OneOf(rapid.Uint64Range(0, 30), rapid.Uint64Range(0, 70000), rapid.Uint64Range(0, math.MaxInt64))
	switch v.Kind() {
	case reflect.Struct:
		pointers := 0
		for i := range v.NumField() {
			f := v.Field(i)
			if f.Kind() == reflect.Pointer {
				if pointers++; only >= 0 && only != pointers-1 {
					continue
				}
			}
			draw(t, f, -1)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		if m, ok := v.Interface().(*steal.Message); ok {
			m.From.Inc = 3
			m.Ack = &steal.ResultAck{Handle: steal.Handle(num.Draw(t, "relayed"))}
			return
		}
		draw(t, v.Elem(), -1)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "bytes"))
			return
		}
		n := rapid.IntRange(-1, 30).Draw(t, "elements") // -1: nil
		if n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range n {
			draw(t, v.Index(i), -1)
		}
	case reflect.Array:
		reflect.Copy(v, reflect.ValueOf(rapid.SliceOfN(rapid.Byte(), v.Len(), v.Len()).Draw(t, "array")))
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(num.Draw(t, "signed")) - 3)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(num.Draw(t, "number") & (1<<v.Type().Bits() - 1))
	default:
		t.Fatalf("no %v can be drawn", v.Type())
	}
}

// What the generated code writes is, to the byte, what the general codec writes, and comes back as it does.
func TestGeneratedAsGeneral(t *testing.T) {
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
	got, want := decode(b, from, to), new(steal.Message)
	if got == nil {
		return // the general codec is to read it
	}
	if err := wire.Control().Decode(b, want); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%x\nwas read as %+v\nand should be %+v (%v)", b, got, want, err)
	}
}

// What correct cores send does not need the general codec at all, or all this would be for nothing. Only a message in
// a message does.
func TestMessagesAreReadByGeneratedCode(t *testing.T) {
	a, b := steal.Address{Peer: "a", Inc: 3}, steal.Address{Peer: "b", Inc: 70000}
	path, tuples := job.Path{1, 300, 70000}, []steal.Tuple{{Path: job.Path{3, 1}, Holder: a, Done: true}}
	seen := map[steal.Kind]bool{steal.KindRelayed: true}
	for _, m := range []*steal.Message{
		{Request: &steal.StealRequest{ID: 1, Max: 4, Patience: time.Second}},
		{Reply: &steal.StealReply{ID: 1, Queued: 3}},
		{Reply: &steal.StealReply{ID: 1, Jobs: []steal.Grant{{Handle: 1, Job: steal.Job{Path: path, Function: "f",
			Arg: []byte{1}, Restarted: true}, Orphans: tuples}}}},
		{Reply: &steal.StealReply{ID: 1, Jobs: []steal.Grant{{Handle: 1, Job: steal.Job{Path: path, Function: "f",
			Arg: []byte{1}}}}, Waited: time.Microsecond, Queued: 1}}, // its third field is not the grant's
		{Return: &steal.Return{Handles: []steal.Handle{1, 300}}},
		{Return: &steal.Return{Handles: []steal.Handle{1}, Begun: true}},
		{Result: &steal.Result{Handle: 1, Path: job.Path{1}, Outcome: []byte{1}}},
		{Ack: &steal.ResultAck{Handle: 500}},
		{Abort: &steal.Abort{Handles: []steal.Handle{1}}},
		{Heartbeat: &steal.Heartbeat{Seq: 1, Held: []steal.Handle{4, 5}, Leases: 2, Seen: 4, Queued: 2,
			Every: time.Second}},
		{Hunger: &steal.Hunger{Seq: 1, Queued: 2, Idle: 3}},
		{Goodbye: &steal.Goodbye{}},
		{Goodbye: &steal.Goodbye{Parts: tuples}},
		{Adopt: &steal.Adopt{Jobs: []steal.Adoption{{Handle: 7, Path: path}}}},
		{Disown: &steal.Disown{Handles: []steal.Handle{3, 4}}},
		{HandOver: &steal.HandOver{ID: 9, Parts: []steal.Partial{{Path: path, Outcome: []byte("outcome")}}}},
		{HandOverAck: &steal.HandOverAck{ID: 9, Leaving: true}},
	} {
		m.From, m.To = a, b
		seen[m.Kind()] = true
		encoded, err := wire.Control().Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := decode(encoded, "a", "b"); !reflect.DeepEqual(got, m) {
			t.Errorf("%v was left to the general codec: %+v", m.Kind(), got)
		}
	}
	if len(seen) != bodies {
		t.Errorf("%d of %d kinds were tried", len(seen), bodies)
	}
}

// Whatever bytes come, the generated code reads of them what the general codec reads.
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
