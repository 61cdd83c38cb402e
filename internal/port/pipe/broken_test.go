package pipe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"unsafe"

	"github.com/satin-peer/satin/internal/port"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/sharedobj"
	"github.com/satin-peer/satin/steal"
)

// sink takes all that is written.
type sink struct{ io.Writer }

func (sink) Close() error { return nil }

// stuck takes nothing until it is closed.
type stuck struct{ closed chan struct{} }

func (s stuck) Write([]byte) (int, error) {
	<-s.closed
	return 0, io.ErrClosedPipe
}

func (s stuck) Close() error {
	close(s.closed)
	return nil
}

// all polls until the engine has died.
func all(t *testing.T, e *Engine) (list []port.Event) {
	t.Helper()
	for {
		events, _ := e.Poll()
		if list = append(list, events...); len(list) > 0 && list[len(list)-1].Kind == port.Died {
			return list
		}
		<-e.Bell()
	}
}

func written(t *testing.T, messages ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, m := range messages {
		one, err := frames(m, 0)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(one)
	}
	return b.Bytes()
}

// What an engine told before its pipe broke is told, and then, once, that it died. Nothing that no correct
// engine would tell gets through.
func TestEndOfPipe(t *testing.T) {
	good := &port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 2, Idle: 1}}
	idle := &port.Event{Kind: port.LoadChanged, Load: steal.Load{Workers: 1, Idle: 2}}
	done := func(share float64) *port.Event {
		return &port.Event{Kind: port.Counted, Figures: &port.Figures{Progress: share}}
	}
	most := bounds{unwritten: 1 << 20, unread: 1 << 20, message: 3 << 20}
	whole := written(t, good)[wire.FrameHead+1:]
	long := written(t, &port.Event{Kind: port.Finished, Outcome: make([]byte, 2*partSize)})
	var short bytes.Buffer
	for i, part := range [][]byte{whole[:1], whole[1:]} {
		if err := wire.WriteFrame(&short, append([]byte{[]byte{more, last}[i]}, part...), partSize); err != nil {
			t.Fatal(err)
		}
	}
	for name, rest := range map[string][]byte{
		"nothing more":           nil,
		"half a frame":           written(t, good)[:7],
		"a frame of nonsense":    written(t, "nonsense"),
		"a head of nonsense":     {0xff, 0xff, 0xff, 0xff},
		"an unknown event":       written(t, &port.Event{Kind: 99}),
		"no event":               written(t, &port.Event{}),
		"its own death":          written(t, &port.Event{Kind: port.Died}),
		"too many idle":          written(t, idle),
		"a part of no message":   {0, 0, 0, 1, 7},
		"an empty frame":         {0, 0, 0, 0},
		"half a message":         long[:wire.FrameHead+partSize],
		"parts of a few bytes":   short.Bytes(),
		"parts of nothing":       {0, 0, 0, 1, more},
		"a message too long":     written(t, &port.Event{Kind: port.Finished, Outcome: make([]byte, most.message)}),
		"nothing that is shared": written(t, &port.Event{Kind: port.Made}),
		"a judgement of nothing": written(t, &port.Event{Kind: port.Judged}),
		"figures without any":    written(t, &port.Event{Kind: port.Counted}),
		"a progress of nothing":  written(t, done(math.NaN())),
		"more than done":         written(t, done(1.01)),
		"a field of nonsense":    written(t, map[int]int{1: 1, 77: 1}),
	} {
		e := newEngine(io.NopCloser(bytes.NewReader(append(written(t, good), rest...))), sink{io.Discard}, nil, most)
		list := all(t, e)
		if len(list) != 2 || list[0].Kind != port.LoadChanged || list[0].Load != good.Load {
			t.Errorf("%s: %+v is told", name, list)
		}
		e.Do(&port.Order{Kind: port.Count})
		if more, _ := e.Poll(); len(more) != 0 {
			t.Errorf("%s: after the death comes %+v", name, more)
		}
		e.Close()
	}
}

// An engine that takes no orders is given up; whoever gives them is never held up.
func TestOrdersAreNotTaken(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	e := newEngine(in, stuck{make(chan struct{})}, nil, bounds{unwritten: 1000, unread: 1000, message: 10_000})
	for range 20 {
		e.Do(&port.Order{Kind: port.Deliver, Ref: 1, Outcome: make([]byte, 200)})
	}
	if list := all(t, e); len(list) != 1 || !strings.Contains(list[0].Text, "does not take its orders") {
		t.Errorf("%+v is told", list)
	}
	e.Close()
}

// While nobody polls, no more is read than is allowed to wait; then all of it comes.
func TestEventsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 200
		in, out := io.Pipe()
		e := newEngine(in, sink{io.Discard}, nil, bounds{unwritten: 1000, unread: 1000, message: 10_000})
		one := written(t, &port.Event{Kind: port.Troubled, Text: strings.Repeat("x", 5000)})
		go func() {
			for range n {
				if _, err := out.Write(one); err != nil {
					break
				}
			}
			_ = out.Close()
		}()
		synctest.Wait()
		if e.unread == 0 || e.unread > 1000+memory(&port.Event{}, len(one)) {
			t.Errorf("%d bytes wait", e.unread)
		}
		if got := len(all(t, e)); got != n+1 {
			t.Errorf("%d events came", got)
		}
		e.Close()
	})
}

// What waits is counted by the memory that it takes: an event may take a hundred times as much as its encoding. Of one
// that would take a thousand times as much nothing is set aside.
func TestEventsCountByTheirMemory(t *testing.T) {
	for what, size := range map[string]uintptr{"an event": unsafe.Sizeof(port.Event{}),
		"a job": unsafe.Sizeof(steal.Taken{}), "what is kept": unsafe.Sizeof(port.KeptJob{}),
		"figures": unsafe.Sizeof(port.Figures{}), "a segment": unsafe.Sizeof(port.SegmentTally{})} {
		if least := memory(&port.Event{}, 0); int(size) > least {
			t.Errorf("%s takes %d bytes, which count as %d", what, size, least)
		}
	}
	for n, good := range map[int]bool{wire.MaxElements: true, wire.MaxElements + 1: false} {
		for kind, list := range map[port.EventKind]byte{port.Taken: 4, port.Kept: 9} {
			b := binary.BigEndian.AppendUint32([]byte{0xa2, 1, byte(kind), list, 0x9a}, uint32(n))
			e, err := decodeEvent(append(b, bytes.Repeat([]byte{0xa0}, n)...)) // empty maps
			if (err == nil) != good || good && memory(&e, 0) < n*int(unsafe.Sizeof(steal.Taken{})) {
				t.Errorf("%v with %d jobs counts as %d bytes: %v", kind, n, memory(&e, 0), err)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		const most = 20_000
		in, out := io.Pipe()
		e := newEngine(in, sink{io.Discard}, nil, bounds{unwritten: 1000, unread: most, message: 1000})
		one := written(t, map[int]int{1: int(port.Dropped)})
		go func() {
			for err := error(nil); err == nil; {
				_, err = out.Write(one)
			}
		}()
		synctest.Wait()
		if n := len(e.events); n == 0 || n > 1+most/int(unsafe.Sizeof(port.Event{})) {
			t.Errorf("%d events wait", n)
		}
		e.Close()
	})
}

// Much that waits is heard in pieces, and the bell rings for the next; the death comes last.
func TestEventsAreHeardInPieces(t *testing.T) {
	const n = 3*maxHeard + 1
	var all bytes.Buffer
	for i := range n {
		all.Write(written(t, &port.Event{Kind: port.Delivered, Ref: steal.Ref(i)}))
	}
	e := newEngine(io.NopCloser(&all), sink{io.Discard}, nil, bounds{unwritten: 1000, unread: maxUnread, message: 1000})
	e.wg.Wait() // both ends have
	for i := 0; i <= n; {
		<-e.Bell()
		events, _ := e.Poll()
		if len(events) > maxHeard+1 {
			t.Fatalf("%d events are heard at once", len(events))
		}
		for _, ev := range events {
			if died := ev.Kind == port.Died; died != (i == n) || !died && ev.Ref != steal.Ref(i) {
				t.Fatalf("event %d is %+v", i, ev)
			}
			i++
		}
	}
	e.Close()
}

// What is served ends at the end of the orders, and at the first that makes no sense.
func TestServeEnds(t *testing.T) {
	for name, c := range map[string]struct {
		orders []byte
		good   bool
	}{
		"nothing": {nil, true},
		"orders": {written(t, &port.Order{Kind: port.Count}, &port.Order{Kind: port.Cores, Max: 1}),
			true},
		"half an order":         {written(t, &port.Order{Kind: port.Count})[:5], false},
		"a job that is not one": {written(t, &port.Order{Kind: port.Run}), false},
		"nonsense":              {written(t, "nonsense"), false},
		"paths out of order": {written(t, map[int]any{1: uint8(port.LostWork), 10: [][]uint32{{2}, {1}}}),
			false},
	} {
		if err := Serve(idle{}, bytes.NewReader(c.orders), io.Discard); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An engine has not more workers than any may have: policies ask for work for each that is idle.
func TestLoadsAreBounded(t *testing.T) {
	for workers, good := range map[int]bool{-1: false, 0: true, maxWorkers: true, maxWorkers + 1: false,
		1 << 60: false} {
		b, err := wire.Shared().Encode(&port.Event{Kind: port.LoadChanged,
			Load: steal.Load{Workers: workers, Idle: workers}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = decodeEvent(b); (err == nil) != good {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}

// Whatever another process sends for an event, what is read from it is of a known kind, and of no more workers than
// there may be.
func FuzzDecodeEvent(f *testing.F) {
	b, err := wire.Local().Encode(&port.Event{Kind: port.Taken, Ticket: 3, Jobs: []steal.Taken{{Ref: 1}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := decodeEvent(b); err == nil && (e.Kind == 0 || e.Kind >= port.Died ||
			e.Load.Idle > e.Load.Workers || e.Load.Workers > maxWorkers) {
			t.Errorf("%+v", e)
		}
	})
}

// A pipe that is full takes a part of an order; the rest, and what comes after it, follows in order.
func TestFullPipe(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	events, _ := io.Pipe()
	e := New(events, out, 0, nil)
	defer e.Close()
	const n = 40
	for i := range n { // more than a pipe holds, whose end is in a long one: it has 16 pages, and these take 7
		e.Do(&port.Order{Kind: port.Deliver, Ref: steal.Ref(i), Outcome: make([]byte, 25_000*(i%2))})
	}
	r := newReader(in, 1<<20)
	for i := range n {
		b, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		if o, err := decodeOrder(b); err != nil || o.Ref != steal.Ref(i) || len(o.Outcome) != 25_000*(i%2) {
			t.Fatalf("order %d is %+v, %v", i, o, err)
		}
	}
}

// named is the recipe of a value, of which here is the order that brings it, and forget the one that drops it.
func named(name string) *sharedobj.Recipe {
	return &sharedobj.Recipe{Kind: sharedobj.Constant, Name: name}
}

func here(name string, awaited bool) *port.Order {
	return &port.Order{Kind: port.Here, Shared: &port.Shared{Digest: named(name).Digest(), Name: name,
		Data: make([]byte, 10_000), Awaited: awaited}}
}

func forget(name string) *port.Order {
	return &port.Order{Kind: port.Forget, Shared: &port.Shared{Digest: named(name).Digest(), Name: name}}
}

// What is forgotten while it waits to be written is not written, and neither is that it is forgotten; but what has been
// begun is, and what a job waits for, and what the engine may have made itself.
func TestForgottenIsNotWritten(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	tell, told := io.Pipe()
	e := New(tell, out, 0, nil)
	defer e.Close()
	// The writer takes no more with it than this.
	block := &port.Order{Kind: port.Deliver, Ref: 1, Outcome: make([]byte, 2*partSize)}
	e.Do(block)
	e.Do(&port.Order{Kind: port.Deliver, Ref: 2})
	for i := range 200 {
		name := fmt.Sprint(i % 2)
		e.Do(here(name, false))
		e.Do(forget(name))
	}
	if n := e.unwritten.bytes; n > 3*partSize {
		t.Errorf("%d bytes wait", n)
	}
	e.Do(here("kept", false))
	e.Do(here("read", true))
	e.Do(forget("read"))
	e.Do(here("twice", false))
	e.Do(here("twice", true))
	e.Do(forget("twice"))
	e.Do(here("made", false))
	made := written(t, &port.Event{Kind: port.Made, Shared: &port.Shared{Recipe: named("made")}})
	go func() { _, _ = told.Write(made) }()
	for events := []port.Event(nil); len(events) == 0; events, _ = e.Poll() {
		<-e.Bell()
	}
	e.Do(forget("made"))
	want := []string{"deliver", "deliver", "here kept", "here read", "forget read", "here twice", "here twice",
		"forget twice", "here made", "forget made"}
	r := newReader(in, 4<<20)
	for i, w := range want {
		b, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		o, err := decodeOrder(b)
		if err != nil {
			t.Fatal(err)
		}
		got := o.Kind.String()
		if o.Shared != nil {
			got += " " + o.Shared.Name
		}
		if got != w {
			t.Fatalf("order %d is %s, not %s", i, got, w)
		}
	}
}
