package stream_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/steal"
)

// Several results take turns: a shorter one that was sent later is there first.
func TestResultsTakeTurns(t *testing.T) {
	inVirtualTime(t, 2, func(w *world) {
		box := newInbox()
		a := w.start(0, stream.Config{}, newInbox().handler())
		w.start(1, stream.Config{}, box.handler())
		for i, size := range []int{4 << 20, 1 << 20, 20_000} {
			a.Send(result(w.hosts[0], w.hosts[1], steal.Handle(i+1), make([]byte, size)))
		}
		var order []steal.Handle
		for _, m := range box.messages(3) {
			order = append(order, m.Result.Handle)
		}
		if !slices.Equal(order, []steal.Handle{3, 2, 1}) {
			t.Errorf("they came as %v", order)
		}
	})
}

// A hand-over of one long outcome, which would not fit a control frame, arrives whole, and beside a result
// with the same number.
func TestLongHandOver(t *testing.T) {
	inVirtualTime(t, 2, func(w *world) {
		box := newInbox()
		a := w.start(0, stream.Config{}, newInbox().handler())
		w.start(1, stream.Config{}, box.handler())
		r := result(w.hosts[0], w.hosts[1], 1, make([]byte, 1<<20))
		part := steal.Partial{Path: job.Path{1, 2}, Outcome: bytes.Repeat([]byte("picture"), 400_000)}
		m := &steal.Message{Run: r.Run, From: r.From, To: r.To,
			HandOver: &steal.HandOver{ID: 1, Parts: []steal.Partial{part}}}
		a.Send(r)
		a.Send(m)
		a.Send(m) // on its way already
		for _, got := range box.messages(2) {
			if got.HandOver == nil {
				continue
			}
			if parts := got.HandOver.Parts; got.HandOver.ID != 1 || len(parts) != 1 ||
				!slices.Equal(parts[0].Path, part.Path) || !bytes.Equal(parts[0].Outcome, part.Outcome) {
				t.Errorf("hand-over %d of %d parts arrived", got.HandOver.ID, len(parts))
			}
			return
		}
		t.Error("no hand-over arrived")
	})
}

// What one peer hands over comes at a rate, short and long, and what others send does not wait for it.
func TestHandOversComeAtARate(t *testing.T) {
	handOver := func(m *steal.Message, id, size int) {
		m.HandOver = &steal.HandOver{ID: uint64(id),
			Parts: []steal.Partial{{Path: job.Path{1}, Outcome: make([]byte, size)}}}
	}
	relayed := func(m *steal.Message, id, size int) {
		m.Relayed = &steal.Message{From: m.From, To: m.To, Result: &steal.Result{Handle: steal.Handle(id),
			Path: job.Path{1}, Outcome: make([]byte, size)}}
	}
	given := func(m *steal.Message, id, size int) {
		m.Reply = &steal.StealReply{Jobs: []steal.Grant{{Handle: steal.Handle(id), Job: steal.Job{Path: job.Path{1},
			Function: "f", Arg: make([]byte, size)}}}}
	}
	for name, c := range map[string]struct {
		body      func(m *steal.Message, id, size int)
		size, all int
		counts    float64 // as so many bytes each
	}{
		"short":               {handOver, 8 << 10, 4 << 20, 1},
		"long":                {handOver, 1 << 20, 5 << 20, 1},
		"message in messages": {relayed, 8 << 10, 1 << 20, 4}, // the general codec reads them
		"jobs":                {given, 128 << 10, 16 << 20, 1. / 8},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, 3, func(w *world) {
				box := newInbox()
				roomy := stream.Config{QueueMessages: 4000, QueueBytes: 2 * c.all, BulkMemory: 2 * c.all}
				a, b := w.start(0, roomy, newInbox().handler()), w.start(2, roomy, newInbox().handler())
				w.start(1, roomy, box.handler())
				began, n := time.Now(), c.all/c.size
				for i := range n {
					m := heartbeat(w.hosts[0], w.hosts[1], 1)
					m.Heartbeat = nil
					c.body(m, i+1, c.size)
					a.Send(m)
				}
				b.Send(heartbeat(w.hosts[2], w.hosts[1], 1))
				for i := range n + 1 {
					if m := box.messages(i + 1)[i]; m.Heartbeat != nil && time.Since(began) > time.Second {
						t.Errorf("another's message came after %v", time.Since(began))
					}
				}
				const rate, atOnce = 2 << 20, 1 << 20
				work := float64(c.all) * c.counts
				if took := time.Since(began).Seconds(); took < (work-atOnce)/rate || took > 2*work/rate {
					t.Errorf("%d bytes came in %v s", c.all, took)
				}
			})
		})
	}
}

// A result that is repeated while it is on its way goes once; afterwards it goes again.
func TestRepeatedResultGoesOnce(t *testing.T) {
	inVirtualTime(t, 2, func(w *world) {
		box := newInbox()
		a := w.start(0, stream.Config{}, newInbox().handler())
		w.start(1, stream.Config{}, box.handler())
		m := result(w.hosts[0], w.hosts[1], 1, make([]byte, 1<<20))
		other := result(w.hosts[0], w.hosts[1], 2, make([]byte, 1<<20))
		for range 3 {
			a.Send(m)
		}
		a.Send(other)
		box.messages(2)
		time.Sleep(time.Second)
		a.Send(m)
		box.messages(3)
		if s := a.Stats(); s.BulkRepeated != 2 || s.BulkSent < 2 {
			t.Errorf("%+v", s)
		}
	})
}

// A receiver that has no room says so, and has it again when the handler has taken what was there.
func TestMemoryIsBounded(t *testing.T) {
	inVirtualTime(t, 3, func(w *world) {
		release := make(chan struct{})
		received := make(chan steal.Handle, 10)
		w.start(0, stream.Config{BulkMemory: 16 << 20, BulkMemoryTotal: 24 << 20}, stream.Handler{
			Received: func(m *steal.Message) { <-release; received <- m.Result.Handle },
			Failed:   func(*steal.Message, error) {},
		})
		boxes := []*inbox{newInbox(), newInbox()}
		b, c := w.start(1, stream.Config{}, boxes[0].handler()), w.start(2, stream.Config{}, boxes[1].handler())
		b.Send(result(w.hosts[1], w.hosts[0], 1, make([]byte, 10<<20)))
		b.Send(result(w.hosts[1], w.hosts[0], 2, make([]byte, 10<<20))) // too much from one
		if err := boxes[0].failures(1)[0]; !errors.Is(err, stream.ErrNoRoom) {
			t.Error(err)
		}
		c.Send(result(w.hosts[2], w.hosts[0], 3, make([]byte, 15<<20))) // too much from all
		if err := boxes[1].failures(1)[0]; !errors.Is(err, stream.ErrNoRoom) {
			t.Error(err)
		}
		close(release)
		if h := <-received; h != 1 {
			t.Errorf("result %d came", h)
		}
		time.Sleep(time.Second)
		c.Send(result(w.hosts[2], w.hosts[0], 3, make([]byte, 15<<20)))
		if h := <-received; h != 3 {
			t.Errorf("result %d came", h)
		}
	})
}

// Of what one peer hands over so much may be half there; what is longer comes alone, and the rest is refused.
func TestHandOversHalfThere(t *testing.T) {
	inVirtualTime(t, 2, func(w *world) {
		sender, receiver := newInbox(), newInbox()
		w.start(0, stream.Config{}, receiver.handler())
		b := w.start(1, stream.Config{}, sender.handler())
		for i, size := range []int{10 << 20, 3 << 20, 3 << 20} {
			m := heartbeat(w.hosts[1], w.hosts[0], 1)
			m.Heartbeat, m.HandOver = nil, &steal.HandOver{ID: uint64(i + 1),
				Parts: []steal.Partial{{Path: job.Path{1}, Outcome: make([]byte, size)}}}
			b.Send(m)
		}
		for _, err := range sender.failures(2) {
			if !errors.Is(err, stream.ErrNoRoom) {
				t.Error(err)
			}
		}
		if m := receiver.messages(1)[0]; m.HandOver.ID != 1 {
			t.Errorf("%d came", m.HandOver.ID)
		}
	})
}

// So many transfers take turns on a stream, whatever their sender is content with; the others are refused.
func TestTransfersAreBounded(t *testing.T) {
	inVirtualTime(t, 2, func(w *world) {
		const most, sent = 64, 70
		sender, receiver := newInbox(), newInbox()
		w.start(0, stream.Config{}, receiver.handler())
		b := w.start(1, stream.Config{BulkActive: sent}, sender.handler())
		for i := range sent {
			b.Send(result(w.hosts[1], w.hosts[0], steal.Handle(i+1), make([]byte, 256<<10)))
		}
		for _, err := range sender.failures(sent - most) {
			if !errors.Is(err, stream.ErrNoRoom) {
				t.Error(err)
			}
		}
		receiver.messages(most)
	})
}

// A receiver whose stream breaks in the middle of a transfer, again and again, makes the transfer fail after
// the second try. One that acknowledges what was not sent is not believed.
func TestBrokenTransfers(t *testing.T) {
	for name, answer := range map[string]func(network.Stream){
		"reset":         func(s network.Stream) { s.Read(make([]byte, 1000)); s.Reset() },
		"closed":        func(s network.Stream) { s.Read(make([]byte, 1000)); s.Close() },
		"too many acks": func(s network.Stream) { ack(s, 1, 1<<20) },
		"ack of none":   func(s network.Stream) { ack(s, 9, 1) },
		"no ack":        func(s network.Stream) { s.Write(frame([]byte{9, 9})) },
		"silence":       func(s network.Stream) { s.Read(make([]byte, 1000)); time.Sleep(time.Hour); s.Reset() },
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, 2, func(w *world) {
				box := newInbox()
				// With streams that idle soon the writer is woken again and again, which must not put the end off.
				a := w.start(0, stream.Config{IdleAfter: 20 * time.Second}, box.handler())
				w.hosts[1].SetStreamHandler(wire.BulkProtocol, answer)
				a.Send(result(w.hosts[0], w.hosts[1], 1, make([]byte, 1<<20)))
				began := time.Now()
				box.failures(1)
				if took := time.Since(began); took > 6*time.Minute+time.Second {
					t.Errorf("it took %v", took)
				}
				if s := a.Stats(); s.Opened != 2 {
					t.Errorf("%d streams were opened", s.Opened)
				}
				w.hosts[1].RemoveStreamHandler(wire.BulkProtocol)
				late := newInbox()
				w.start(1, stream.Config{}, late.handler())
				a.Send(result(w.hosts[0], w.hosts[1], 2, bytes.Repeat([]byte{2}, 1<<20)))
				late.messages(1)
				time.Sleep(time.Hour) // the silent one ends
			})
		})
	}
}

func ack(s network.Stream, transfer uint32, n int) {
	s.Write(wire.BulkFrame{Kind: wire.BulkAck, Transfer: transfer, Size: n}.Append(nil))
	s.Read(make([]byte, 1000))
	time.Sleep(time.Minute)
	s.Reset()
}

// A link is a wide-area link in the test's virtual time: 100 ms and 100 KB/s each way.
type link struct {
	mu       sync.Mutex
	model    *wan.Model
	began    time.Time
	from, to int
	lose     func(bytes int) bool
}

func (l *link) Arrive(_ steal.PeerID, n int) time.Duration {
	if l.lose != nil && l.lose(n) {
		return -1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Since(l.began)
	at, err := l.model.Deliver(now, l.from, l.to, n)
	if err != nil {
		return -1
	}
	return at - now
}

// slow is a link over which 2 MB take 20 s.
func slow() wan.Conditions {
	return wan.Conditions{Bandwidth: 100e3, Latency: 100 * time.Millisecond}
}

func links(c wan.Conditions) (there, back *link) {
	began := time.Now()
	return &link{model: wan.Uniform([]int{1, 1}, c, c), began: began, from: 0, to: 1},
		&link{model: wan.Uniform([]int{1, 1}, c, c), began: began, from: 1, to: 0}
}

// A steal takes 212 ms on such a link when it is idle, 5,234 behind a result of 2 MB on the same stream, 839
// with the result on another stream, and 322 when no more than 32 KB of that are unacknowledged. With an
// unbounded window, the broken twin, it waits for all of it.
func TestStealBehindALongResult(t *testing.T) {
	idle, _ := stealRoundTrip(t, slow(), 0, 32<<10)
	behind, _ := stealRoundTrip(t, slow(), 2<<20, 32<<10)
	// all of it is on the link before the first steal, and gone after it
	_, unbounded := stealRoundTrip(t, slow(), 2<<20, 4<<20)
	t.Logf("a steal takes %v, behind a long result %v; if that has no window %v", idle, behind, unbounded)
	if behind > idle*16/10 {
		t.Errorf("a steal takes %v, and %v behind a long result", idle, behind)
	}
	if unbounded < 10*idle {
		t.Errorf("without a window a steal takes %v: the test does not fill the link", unbounded)
	}
}

// Whatever the link, a steal takes at most 1.6 times as long, or waits for two chunks where these take longer.
func TestStealBehindALongResultOnOtherLinks(t *testing.T) {
	list := []wan.Conditions{
		{Bandwidth: 3e3, Latency: 100 * time.Millisecond},
		{Bandwidth: 30e3, Latency: 10 * time.Millisecond},
		{Bandwidth: 300e3, Latency: 100 * time.Millisecond},
		{Bandwidth: 1e6, Latency: 20 * time.Millisecond},
		{Bandwidth: 1e6, Latency: 300 * time.Millisecond},
		{Bandwidth: 10e6, Latency: 100 * time.Millisecond},
	}
	if testing.Short() {
		list = list[:3] // the race detector takes half a minute for the others
	}
	for _, c := range list {
		idle, _ := stealRoundTrip(t, c, 0, 32<<10)
		behind, _ := stealRoundTrip(t, c, min(4<<20, int(c.Bandwidth)*60), 32<<10)
		chunk := c.Transmission(wire.MaxChunk)
		t.Logf("%v: a steal takes %v, behind a long result %v, which is %.1f chunks more", c, idle, behind,
			float64(behind-idle)/float64(chunk))
		if behind > max(idle*16/10, idle+2*chunk) {
			t.Errorf("%v: a steal takes %v, and %v behind a long result", c, idle, behind)
		}
	}
}

// stealRoundTrip is the median and the longest time from request to reply while the victim sends a long
// result the same way as the reply.
func stealRoundTrip(t *testing.T, c wan.Conditions, size, window int) (median, longest time.Duration) {
	inVirtualTime(t, 2, func(w *world) {
		there, back := links(c)
		replies := make(chan struct{}, 1)
		got := make(chan struct{}, 1)
		thief := w.start(0, stream.Config{Delay: back}, stream.Handler{Received: func(m *steal.Message) {
			if m.Reply != nil {
				replies <- struct{}{}
			} else {
				got <- struct{}{}
			}
		}, Failed: func(m *steal.Message, err error) { t.Error(m.Kind(), err) }})
		var victim *stream.Transport
		victim = w.start(1, stream.Config{Delay: there, BulkWindow: window},
			stream.Handler{Received: func(m *steal.Message) {
				victim.Send(&steal.Message{From: m.To, To: m.From, Reply: &steal.StealReply{ID: m.Request.ID,
					Jobs: []steal.Grant{{Handle: 1, Job: steal.Job{Function: "f", Arg: make([]byte, 800)}}}}})
			}, Failed: func(m *steal.Message, err error) { t.Error(m.Kind(), err) }})
		ask := func() time.Duration {
			sent := time.Now()
			thief.Send(&steal.Message{From: steal.Address{Peer: name(w.hosts[0]), Inc: 1},
				To:      steal.Address{Peer: name(w.hosts[1]), Inc: 1},
				Request: &steal.StealRequest{ID: 1, Max: 4}})
			<-replies
			return time.Since(sent)
		}
		ask()
		if size > 0 {
			victim.Send(result(w.hosts[1], w.hosts[0], 1, make([]byte, size)))
			time.Sleep(500 * time.Millisecond)
		}
		var trips []time.Duration
		for came := false; !came && (size > 0 || len(trips) < 40); {
			trips = append(trips, ask())
			time.Sleep(time.Duration(37*(len(trips)%7)) * time.Millisecond)
			select {
			case <-got:
				came = true
			default:
			}
		}
		slices.Sort(trips)
		median, longest = trips[len(trips)/2], trips[len(trips)-1]
	})
	return median, longest
}

// What is delayed is delayed once: frames that come together leave together, in order.
func TestDelayDoesNotAddUp(t *testing.T) {
	inVirtualTime(t, 2, func(w *world) {
		box := newInbox()
		_, back := links(slow())
		a := w.start(1, stream.Config{}, newInbox().handler())
		w.start(0, stream.Config{Delay: back}, box.handler())
		began := time.Now()
		for seq := range uint64(100) {
			a.Send(heartbeat(w.hosts[1], w.hosts[0], seq+1))
		}
		ascending(t, seqs(box.messages(100)))
		if took := time.Since(began); took < 200*time.Millisecond || took > 400*time.Millisecond {
			t.Errorf("100 messages of some 150 bytes took %v over 100 ms and 100 KB/s", took)
		}
	})
}

// A chunk that the imitated network loses breaks the transfer; a message that it loses is gone.
func TestDelayThatLoses(t *testing.T) {
	inVirtualTime(t, 2, func(w *world) {
		box, sender := newInbox(), newInbox()
		_, back := links(slow())
		back.lose = func(n int) bool { return n > 10_000 || n%2 == 0 }
		a := w.start(1, stream.Config{}, sender.handler())
		w.start(0, stream.Config{Delay: back}, box.handler())
		a.Send(result(w.hosts[1], w.hosts[0], 1, make([]byte, 100_000)))
		a.Send(heartbeat(w.hosts[1], w.hosts[0], 1))
		a.Send(heartbeat(w.hosts[1], w.hosts[0], 100)) // a byte longer
		if s := seqs(box.messages(1)); len(s) != 1 {
			t.Errorf("heard %v", s)
		}
		sender.failures(1)
		if err := a.Flush(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// On a fast link with a long way the window grows to what the link holds; a fixed one, the broken twin, wastes it.
func TestWindowFillsAFastLink(t *testing.T) {
	adaptive, fixed := transferTime(t, stream.Config{}), transferTime(t, stream.Config{BulkWindowMax: 1})
	t.Logf("8 MiB over 100 ms and 10 MB/s take %v; with a fixed window %v", adaptive, fixed)
	if adaptive > 4*time.Second {
		t.Errorf("8 MiB over 100 ms and 10 MB/s take %v", adaptive)
	}
	if fixed < 10*adaptive {
		t.Errorf("with a fixed window it takes %v: the test does not need a large one", fixed)
	}
}

func transferTime(t *testing.T, cfg stream.Config) (took time.Duration) {
	inVirtualTime(t, 2, func(w *world) {
		c := wan.Conditions{Bandwidth: 10e6, Latency: 100 * time.Millisecond}
		began := time.Now()
		there, back := links(c)
		box := newInbox()
		cfg.Delay = back
		a := w.start(0, cfg, newInbox().handler())
		w.start(1, stream.Config{Delay: there}, box.handler())
		a.Send(result(w.hosts[0], w.hosts[1], 1, make([]byte, 8<<20)))
		box.messages(1)
		took = time.Since(began)
	})
	return took
}

// Whoever takes long results in is told how fast they came: what the link does, not what a queue does, and nothing of
// short ones. Results that come at once count together.
func TestResultsAreTimed(t *testing.T) {
	inVirtualTime(t, 2, func(w *world) {
		there, back := links(wan.Conditions{Bandwidth: 100e3, Latency: time.Millisecond})
		var rates []float64
		box := newInbox()
		a := w.start(0, stream.Config{Delay: back}, newInbox().handler())
		w.start(1, stream.Config{Delay: there, Timed: func(from steal.PeerID, bytes int, took time.Duration) {
			if from != name(w.hosts[0]) || bytes < 64<<10 {
				t.Errorf("%d bytes of %s in %v", bytes, from, took)
			}
			rates = append(rates, float64(bytes)/took.Seconds())
		}}, box.handler())
		a.Send(result(w.hosts[0], w.hosts[1], 1, make([]byte, 40<<10)))
		box.messages(1)
		if len(rates) > 0 {
			t.Errorf("a short result was timed: %v", rates)
		}
		a.Send(result(w.hosts[0], w.hosts[1], 2, make([]byte, 160<<10)))
		a.Send(result(w.hosts[0], w.hosts[1], 3, make([]byte, 160<<10)))
		box.messages(3)
		if len(rates) != 2 {
			t.Fatalf("two results came, and were timed %d times", len(rates))
		}
		for _, rate := range rates {
			if rate < 90e3 || rate > 101e3 {
				t.Errorf("over 100 KB/s results come at %.0f bytes a second", rate)
			}
		}
	})
}
