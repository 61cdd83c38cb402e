package wire_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// drawTuples makes tuples of the steal protocol.
func drawTuples(t *rapid.T) []steal.Tuple {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) (u steal.Tuple) {
		u.Path = rapid.SliceOfN(rapid.Uint32(), 0, 30).Draw(t, "path")
		copy(u.Identity[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "identity"))
		u.Holder = steal.Address{Peer: steal.PeerID(rapid.StringN(0, 60, -1).Draw(t, "peer")),
			Inc: steal.Incarnation(rapid.Uint64().Draw(t, "inc"))}
		u.Done = rapid.Bool().Draw(t, "done")
		return u
	}), 0, 30).Draw(t, "tuples")
}

// drawMessage makes any message that the steal protocol knows.
func drawMessage(t *rapid.T) *steal.Message {
	num := rapid.OneOf(rapid.Uint64Range(0, 30), rapid.Uint64Range(0, 70000), rapid.Uint64Range(0, math.MaxInt64))
	small := rapid.IntRange(0, 70000)
	blob := rapid.SliceOfN(rapid.Byte(), 0, 300)
	handles := rapid.SliceOfN(rapid.Map(num, func(n uint64) steal.Handle { return steal.Handle(n) }), 0, 40)
	path := rapid.Custom(func(t *rapid.T) job.Path { return rapid.SliceOfN(rapid.Uint32(), 0, 30).Draw(t, "path") })
	identity := func() (id job.Identity) {
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "identity"))
		return id
	}
	address := func() steal.Address {
		return steal.Address{Peer: steal.PeerID(rapid.StringN(0, 60, -1).Draw(t, "peer")),
			Inc: steal.Incarnation(num.Draw(t, "inc"))}
	}
	m := &steal.Message{From: address(), To: address()}
	copy(m.Run[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "run"))
	handle := steal.Handle(num.Draw(t, "handle"))
	switch rapid.IntRange(0, 13).Draw(t, "kind") {
	case 0:
		m.Request = &steal.StealRequest{ID: steal.RequestID(num.Draw(t, "id")), Max: small.Draw(t, "max"),
			Patience: time.Duration(num.Draw(t, "patience"))}
	case 1:
		m.Reply = &steal.StealReply{ID: steal.RequestID(num.Draw(t, "id")),
			Waited: time.Duration(num.Draw(t, "waited")), Queued: small.Draw(t, "queued")}
		for range rapid.IntRange(0, 30).Draw(t, "jobs") {
			m.Reply.Jobs = append(m.Reply.Jobs, steal.Grant{Handle: handle, Job: steal.Job{
				Path: path.Draw(t, "path"), Identity: identity(),
				Function: rapid.StringN(0, 40, -1).Draw(t, "function"),
				Arg:      blob.Draw(t, "arg"), Restarted: rapid.Bool().Draw(t, "restarted")}, Orphans: drawTuples(t)})
		}
	case 2:
		m.Return = &steal.Return{Handles: handles.Draw(t, "handles")}
	case 3:
		m.Result = &steal.Result{Handle: handle, Path: path.Draw(t, "path"), Identity: identity(),
			Outcome: blob.Draw(t, "outcome")}
	case 4:
		m.Ack = &steal.ResultAck{Handle: handle}
	case 5:
		m.Abort = &steal.Abort{Handles: handles.Draw(t, "handles")}
	case 6:
		m.Heartbeat = &steal.Heartbeat{Seq: num.Draw(t, "seq"), Held: handles.Draw(t, "held"),
			Leases: small.Draw(t, "leases"),
			Seen:   num.Draw(t, "seen"), Queued: small.Draw(t, "queued"), Every: time.Duration(num.Draw(t, "every"))}
	case 7:
		m.Hunger = &steal.Hunger{Seq: num.Draw(t, "seq"), Queued: small.Draw(t, "queued"), Idle: small.Draw(t, "idle")}
	case 8:
		m.Goodbye = &steal.Goodbye{}
	case 9:
		m.Relayed = &steal.Message{From: address(), To: address(), Ack: &steal.ResultAck{Handle: handle}}
	case 10:
		m.Adopt = &steal.Adopt{}
		for range rapid.IntRange(0, 30).Draw(t, "jobs") {
			m.Adopt.Jobs = append(m.Adopt.Jobs, steal.Adoption{Handle: handle, Path: path.Draw(t, "path"),
				Identity: identity()})
		}
	case 11:
		m.Disown = &steal.Disown{Handles: handles.Draw(t, "handles")}
	case 12:
		m.HandOver = &steal.HandOver{ID: num.Draw(t, "id")}
		for range rapid.IntRange(0, 30).Draw(t, "parts") {
			m.HandOver.Parts = append(m.HandOver.Parts,
				steal.Partial{Path: path.Draw(t, "path"), Identity: identity(), Outcome: blob.Draw(t, "outcome")})
		}
	case 13:
		m.HandOverAck = &steal.HandOverAck{ID: num.Draw(t, "id"), Leaving: rapid.Bool().Draw(t, "leaving")}
	}
	return m
}

// Every message comes back as it was, and steal.Message.Size, which policies and the simulator rely on, is
// its true length.
func TestMessagesSurviveAndHaveTheirSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMessage(t)
		b, err := wire.Control().Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if m.Size() != len(b) {
			t.Fatalf("Size says %d, the encoding of %+v has %d bytes", m.Size(), m, len(b))
		}
		var got steal.Message
		if err := wire.Control().Decode(b, &got); err != nil {
			t.Fatal(err)
		}
		again, err := wire.Control().Encode(&got)
		if err != nil || !bytes.Equal(b, again) {
			t.Fatalf("%+v came back as %+v (%v)", m, got, err)
		}
	})
}

// The same for news.
func TestNewsSurviveAndHaveTheirSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := &steal.News{From: steal.Address{Peer: "p", Inc: 3}, Tuples: drawTuples(t)}
		if rapid.Bool().Draw(t, "master") {
			n.Master = &steal.Beacon{Rank: rapid.Uint32().Draw(t, "rank"), Seq: rapid.Uint64().Draw(t, "seq"),
				Waiting: rapid.Bool().Draw(t, "waiting")}
			if rapid.Bool().Draw(t, "answered") {
				n.Master.Answered = &[16]byte{1, 2}
			}
		}
		b, err := wire.Control().Encode(n)
		if err != nil {
			t.Fatal(err)
		}
		if n.Size() != len(b) {
			t.Fatalf("Size says %d, the encoding of %+v has %d bytes", n.Size(), n, len(b))
		}
		var got steal.News
		if err := wire.Control().Decode(b, &got); err != nil {
			t.Fatal(err)
		}
		again, err := wire.Control().Encode(&got)
		if err != nil || !bytes.Equal(b, again) {
			t.Fatalf("%+v came back as %+v (%v)", n, got, err)
		}
	})
}

// Bytes that write a message in another way than ours, hold what no message has, or announce more than there is are
// refused.
func TestDecodingIsStrict(t *testing.T) {
	good, err := wire.Control().Encode(&steal.Message{Goodbye: &steal.Goodbye{}})
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"empty":             {},
		"truncated":         good[:len(good)-1],
		"trailing bytes":    append(bytes.Clone(good), 0),
		"not a map":         {0x01},
		"repeated key":      {0xa2, 0x01, 0x50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0x40},
		"unknown field":     {0xa1, 0x18, 0x63, 0x01},
		"indefinite length": {0xbf, 0xff},
		"tag":               {0xc1, 0xa0},
		"deep nesting":      bytes.Repeat([]byte{0xa1, 0x05}, 40),
		"endless array":     {0xa1, 0x06, 0xa1, 0x01, 0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		"too long":          make([]byte, wire.MaxControlFrame+1),
		"wrong type":        {0xa1, 0x01, 0x61, 'x'},
	} {
		var m steal.Message
		if err := wire.Control().Decode(b, &m); !errors.Is(err, wire.ErrEncoding) {
			t.Errorf("%s: decoded without the error it deserves: %v", name, err)
		}
	}
}

// Values of applications may be large, and equal maps have equal encodings, since jobs are identified by them.
func TestValues(t *testing.T) {
	type point struct{ X, Y float64 }
	large := make([]point, 100_000)
	large[7] = point{1.5, math.Inf(1)}
	b, err := wire.Value().Encode(large)
	if err != nil {
		t.Fatal(err)
	}
	var got []point
	if err := wire.Value().Decode(b, &got); err != nil || !reflect.DeepEqual(large, got) {
		t.Errorf("a large slice did not survive: %v", err)
	}
	m := map[string]int{}
	for _, k := range strings.Fields("one two three four five six seven eight nine ten") {
		m[k] = len(k)
	}
	first, _ := wire.Value().Encode(m)
	for range 20 {
		if b, _ := wire.Value().Encode(m); !bytes.Equal(b, first) {
			t.Fatal("one map has two encodings")
		}
	}
	if _, err := wire.Value().Encode(make([]byte, wire.MaxValue)); !errors.Is(err, wire.ErrEncoding) {
		t.Errorf("a value beyond the limit was encoded: %v", err)
	}
	if _, err := wire.Value().Encode(func() {}); !errors.Is(err, wire.ErrEncoding) {
		t.Errorf("a function was encoded: %v", err)
	}
}

// A moody value does what it likes when it is encoded, or decoded.
type moody struct{ does func() }

func (m moody) MarshalBinary() ([]byte, error) {
	m.does()
	return nil, nil
}

func (m *moody) UnmarshalBinary([]byte) error {
	m.does()
	return nil
}

type unwinding struct{ from int }

func (unwinding) Unwinding() {}

// A panic of a value's own code is an error that says so. What unwinds the goroutine passes, and so does its end.
func TestMoodyValues(t *testing.T) {
	c := wire.Value()
	var b bytes.Buffer
	b.WriteString("before")
	for what, code := range map[string]func(m *moody) error{
		"Encode": func(m *moody) error { _, err := c.Encode(m); return err },
		"Append": func(m *moody) error { return c.Append(&b, []any{1, m}) },
		"Decode": func(m *moody) error { return c.Decode([]byte{0x40}, m) },
	} {
		err := code(&moody{func() { panic("in a mood") }})
		if !errors.Is(err, wire.ErrEncoding) || !strings.Contains(err.Error(), "it panicked: in a mood") ||
			b.String() != "before" {
			t.Errorf("%s: %v; %q is written", what, err, b.String())
		}
		ended := make(chan any)
		for does, want := range map[*moody]any{
			{func() { panic(unwinding{7}) }}: unwinding{7}, {runtime.Goexit}: nil} {
			go func() {
				var passed any = "nothing"
				defer func() { ended <- passed }()
				defer func() { passed = recover() }()
				if err := code(does); err != nil {
					panic(err)
				}
				panic("it goes on")
			}()
			if got := <-ended; got != want {
				t.Errorf("%s: %v passes, want %v", what, got, want)
			}
		}
		b.Truncate(len("before"))
	}
}

// What a process of jobs tells may be long if it is of strings. Of the rest there is so much, whatever it is nested in:
// a number of three bytes counts once, and what is in a string does not.
func TestToldIsBounded(t *testing.T) {
	lists := func(arrays, numbers int) [][]uint16 {
		return slices.Repeat([][]uint16{slices.Repeat([]uint16{300}, numbers)}, arrays)
	}
	for name, c := range map[string]struct {
		v    any
		good bool
	}{
		"a long string":       {bytes.Repeat([]byte("x"), 9<<20), true},
		"a long array":        {lists(1, wire.MaxElements), true},
		"too long an array":   {lists(1, wire.MaxElements+1), false},
		"long in all":         {lists(200, wire.MaxElements), true}, // of 9.8 MB
		"too much in all":     {lists(512, wire.MaxElements), false},
		"strings in an array": {slices.Repeat([]string{strings.Repeat("x", 1000)}, 9000), true},
	} {
		b, err := wire.Shared().Encode(c.v)
		if err != nil {
			t.Fatal(err)
		}
		got := reflect.New(reflect.TypeOf(c.v))
		if err := wire.Told().Decode(b, got.Interface()); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Frames come out of a stream as they went in, in whatever pieces they arrive, and its end between two is no error.
func TestFrames(t *testing.T) {
	var stream bytes.Buffer
	payloads := [][]byte{[]byte("one"), {}, bytes.Repeat([]byte("x"), 200_000)}
	for _, p := range payloads {
		if err := wire.WriteFrame(&stream, p, wire.MaxControlFrame); err != nil {
			t.Fatal(err)
		}
	}
	r := iotest.HalfReader(&stream)
	var buf []byte
	for _, p := range payloads {
		got, err := wire.ReadFrame(r, buf, wire.MaxControlFrame)
		if err != nil || !bytes.Equal(got, p) {
			t.Fatalf("%d bytes came back as %d (%v)", len(p), len(got), err)
		}
		buf = got
	}
	if _, err := wire.ReadFrame(r, buf, wire.MaxControlFrame); err != io.EOF {
		t.Errorf("the end between frames is %v", err)
	}
}

// A frame that is too long, or broken off, is told from the end of a stream; and none that is too long is written.
func TestBadFrames(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		want   error
	}{
		"oversized":      {"\xff\xff\xff\xff", wire.ErrFrame},
		"torn head":      {"\x00\x00", io.ErrUnexpectedEOF},
		"torn payload":   {"\x00\x00\x00\x05abc", io.ErrUnexpectedEOF},
		"nothing inside": {"\x00\x00\x00\x05", io.ErrUnexpectedEOF},
	} {
		if _, err := wire.ReadFrame(strings.NewReader(c.stream), nil, wire.MaxControlFrame); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if err := wire.WriteFrame(io.Discard, make([]byte, 11), 10); !errors.Is(err, wire.ErrFrame) {
		t.Errorf("an oversized frame was written: %v", err)
	}
}

// A frame that announces much and brings little must not cost memory.
func TestAnnouncedLengthCostsNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := wire.ReadFrame(strings.NewReader("\x00\xff\xff\xff"+"little"), nil, wire.MaxValue)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; err == nil || got > 1<<20 {
		t.Errorf("%d bytes were allocated for a frame of 16 MiB that never came (%v)", got, err)
	}
}

// Whatever bytes are read as a message, it can be written again, and its size is the one that Size tells.
func FuzzMessage(f *testing.F) {
	for _, m := range []*steal.Message{
		{Goodbye: &steal.Goodbye{}},
		{Request: &steal.StealRequest{ID: 1, Max: 4}},
		{Reply: &steal.StealReply{ID: 1, Jobs: []steal.Grant{{Handle: 1,
			Job: steal.Job{Path: job.Path{1, 2}, Function: "f", Arg: []byte{1}}}}}},
		{Heartbeat: &steal.Heartbeat{Seq: 3, Held: []steal.Handle{1, 5}}},
		{Adopt: &steal.Adopt{Jobs: []steal.Adoption{{Handle: 1, Path: job.Path{2}}}}},
		{Disown: &steal.Disown{Handles: []steal.Handle{2, 3}}},
		{HandOver: &steal.HandOver{ID: 1, Parts: []steal.Partial{{Path: job.Path{1}, Outcome: []byte("x")}}}},
		{HandOverAck: &steal.HandOverAck{ID: 1, Leaving: true}},
	} {
		b, err := wire.Control().Encode(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m steal.Message
		if wire.Control().Decode(b, &m) != nil {
			return
		}
		_ = m.Validate()
		again, err := wire.Control().Encode(&m)
		if err != nil {
			t.Fatalf("decoded %x, cannot encode it: %v", b, err)
		}
		if m.Size() != len(again) && m.Validate() == nil {
			t.Fatalf("Size says %d, the encoding has %d bytes", m.Size(), len(again))
		}
	})
}

// Whatever bytes are read as news, they can be written again, and their size is the one that Size tells.
func FuzzNews(f *testing.F) {
	for _, n := range []*steal.News{
		{From: steal.Address{Peer: "p", Inc: 1}, Tuples: []steal.Tuple{{Path: job.Path{1, 2},
			Holder: steal.Address{Peer: "p", Inc: 1}, Done: true}}},
		{From: steal.Address{Peer: "p", Inc: 1}, Master: &steal.Beacon{Rank: 1, Seq: 2, Answered: new([16]byte)}},
	} {
		b, err := wire.Control().Encode(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var n steal.News
		if wire.Control().Decode(b, &n) != nil {
			return
		}
		_ = n.Validate()
		again, err := wire.Control().Encode(&n)
		if err != nil {
			t.Fatalf("decoded %x, cannot encode it: %v", b, err)
		}
		if n.Size() != len(again) && n.Validate() == nil {
			t.Fatalf("Size says %d, the encoding has %d bytes", n.Size(), len(again))
		}
	})
}

// Whatever bytes come, a frame that is read from them is what is behind its head, and no longer than it may be.
func FuzzFrame(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x03abc"))
	f.Add([]byte("\x7f\x00\x00\x03abc"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := wire.ReadFrame(bytes.NewReader(b), nil, 1<<10)
		if err == nil && (len(p) > 1<<10 || !bytes.Equal(p, b[wire.FrameHead:wire.FrameHead+len(p)])) {
			t.Fatalf("%x gave %x", b, p)
		}
	})
}

// A hash that users and files name has 64 hexadecimal digits, of either case, and nothing else.
func TestParseHash(t *testing.T) {
	const text = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF"
	if h, ok := wire.ParseHash(text); !ok || h[1] != 0x11 || h[31] != 0xff {
		t.Errorf("%s is %x, %t", text, h, ok)
	}
	for _, bad := range []string{"", text[2:], text + "00", text[1:] + "g", "../../../../../../../../../../../../../../../etc/satin-peer/peer.key"} {
		if h, ok := wire.ParseHash(bad); ok || h != [32]byte{} {
			t.Errorf("%q is %x, %t", bad, h, ok)
		}
	}
}
