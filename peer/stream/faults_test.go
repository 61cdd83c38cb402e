package stream_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/steal"
)

// seqs are the numbers of the heartbeats among messages.
func seqs(list []*steal.Message) (all []uint64) {
	for _, m := range list {
		if m.Heartbeat != nil {
			all = append(all, m.Heartbeat.Seq)
		}
	}
	return all
}

func ascending(t *testing.T, list []uint64) {
	t.Helper()
	for i := 1; i < len(list); i++ {
		if list[i] <= list[i-1] {
			t.Fatalf("message %d came after message %d", list[i], list[i-1])
		}
	}
}

// In the original Satin a survivor froze for 60 s in a blocking connect to a dead peer. Here a message waits for the
// dial deadline, one message knows that another has just failed, and whoever is alive does not notice.
func TestDeadPeerFailsInTimeAndAlone(t *testing.T) {
	inVirtualTime(t, 3, func(w *world) {
		box, living, late := newInbox(), newInbox(), newInbox()
		a := w.start(0, stream.Config{}, box.handler())
		w.start(1, stream.Config{}, late.handler())
		w.start(2, stream.Config{}, living.handler())
		w.dead[1].Store(true)
		began := time.Now()
		a.Send(heartbeat(w.hosts[0], w.hosts[1], 1))
		a.Send(result(w.hosts[0], w.hosts[1], 1, make([]byte, 1<<20)))
		a.Send(heartbeat(w.hosts[0], w.hosts[2], 1))
		if time.Since(began) > 0 {
			t.Error("Send took time")
		}
		living.messages(1)
		if waited := time.Since(began); waited > 100*time.Millisecond {
			t.Errorf("a message to a living peer took %v", waited)
		}
		for _, err := range box.failures(2) {
			if !errors.Is(err, stream.ErrUnreachable) {
				t.Error(err)
			}
		}
		if waited := time.Since(began); waited > 3*time.Second {
			t.Errorf("it took %v to give up", waited)
		}
		again := time.Now()
		a.Send(heartbeat(w.hosts[0], w.hosts[1], 2))
		if box.failures(3); time.Since(again) > 0 {
			t.Errorf("the next message failed after %v", time.Since(again))
		}
		w.dead[1].Store(false)
		for seq := uint64(3); len(seqs(late.snapshot())) == 0; seq++ { // libp2p has a backoff of its own
			if time.Since(again) > 30*time.Second {
				t.Fatal("a peer that lives again is not reached within 30 s")
			}
			time.Sleep(time.Second)
			a.Send(heartbeat(w.hosts[0], w.hosts[1], seq))
			synctest.Wait()
		}
	})
}

// A partner that stops in the middle (SIGSTOP, a cable) costs its own messages only, and afterwards all is as before.
func TestPartnerThatStops(t *testing.T) {
	inVirtualTime(t, 3, func(w *world) {
		box, stopped, living := newInbox(), newInbox(), newInbox()
		a := w.start(0, stream.Config{}, box.handler())
		w.start(1, stream.Config{}, stopped.handler())
		w.start(2, stream.Config{}, living.handler())
		a.Send(heartbeat(w.hosts[0], w.hosts[1], 1))
		stopped.messages(1)
		w.dead[1].Store(true)
		long := bytes.Repeat([]byte{1}, 4000)
		const count = 3000 // 12 MB: more than all buffers on the way and the queue
		for seq := range uint64(count) {
			m := result(w.hosts[0], w.hosts[1], steal.Handle(seq+2), long)
			before := time.Now()
			a.Send(m)
			if time.Since(before) > 0 {
				t.Fatal("Send took time")
			}
			if seq%100 == 0 {
				a.Send(heartbeat(w.hosts[0], w.hosts[2], seq+1))
				time.Sleep(time.Millisecond)
			}
		}
		living.messages(count / 100)
		box.failures(count / 2)
		time.Sleep(10 * time.Second)
		w.dead[1].Store(false)
		for seq := uint64(count + 2); ; seq++ {
			a.Send(heartbeat(w.hosts[0], w.hosts[1], seq))
			time.Sleep(time.Second)
			if s := seqs(stopped.snapshot()); len(s) > 1 {
				ascending(t, s)
				break
			}
			if seq > count+100 {
				t.Fatal("nothing gets through to a partner that goes on")
			}
		}
	})
}

// A handler that blocks holds up its partner, whose Sends fail in the end; another partner's messages pass.
// Every message either failed or comes, in order.
func TestSlowHandler(t *testing.T) {
	inVirtualTime(t, 3, func(w *world) {
		var mu sync.Mutex
		var slow, quick []uint64
		release := make(chan struct{})
		w.start(0, stream.Config{}, stream.Handler{
			Received: func(m *steal.Message) {
				if m.From.Peer == name(w.hosts[1]) {
					<-release
					mu.Lock()
					defer mu.Unlock()
					slow = append(slow, uint64(m.Result.Handle))
					return
				}
				mu.Lock()
				defer mu.Unlock()
				quick = append(quick, m.Heartbeat.Seq)
			},
			Failed: func(*steal.Message, error) {},
		})
		box := newInbox()
		b := w.start(1, stream.Config{}, box.handler())
		c := w.start(2, stream.Config{}, newInbox().handler())
		const count = 5000
		body := make([]byte, 4000)
		for i := range count {
			b.Send(result(w.hosts[1], w.hosts[0], steal.Handle(i+1), body))
			if i%50 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		time.Sleep(time.Second)
		c.Send(heartbeat(w.hosts[2], w.hosts[0], 1))
		time.Sleep(time.Second)
		mu.Lock()
		if len(quick) != 1 || len(slow) != 0 {
			t.Errorf("%d messages of the quick partner, %d of the slow one", len(quick), len(slow))
		}
		mu.Unlock()
		if b.Stats().Failed == 0 {
			t.Fatal("nothing failed: the test does not fill the queue")
		}
		close(release)
		time.Sleep(time.Minute)
		failed := box.failures(int(b.Stats().Failed))
		mu.Lock()
		defer mu.Unlock()
		ascending(t, slow)
		if len(slow)+len(failed) != count {
			t.Errorf("%d messages came and %d failed of %d", len(slow), len(failed), count)
		}
	})
}

// Send may be called with a lock held that the handler of failures wants.
func TestFailedIsNotCalledFromSend(t *testing.T) {
	hosts := loopback(t, 1, overTCP)
	var mu sync.Mutex
	failed := make(chan error, 2)
	a := start(t, hosts[0], stream.Config{}, stream.Handler{Received: func(*steal.Message) {},
		Failed: func(m *steal.Message, err error) {
			mu.Lock()
			defer mu.Unlock()
			failed <- err
		}})
	mu.Lock()
	a.Send(heartbeat(hosts[0], hosts[0], 1))
	a.Send(&steal.Message{To: steal.Address{Peer: "nobody"}, Goodbye: &steal.Goodbye{}})
	mu.Unlock()
	for range 2 {
		if err := <-failed; !errors.Is(err, stream.ErrAddress) {
			t.Error(err)
		}
	}
}

// Streams that carry nothing are closed, and opened again when there is something: order is kept across them.
func TestIdleStreamsAreClosed(t *testing.T) {
	inVirtualTime(t, 2, func(w *world) {
		box := newInbox()
		a := w.start(0, stream.Config{IdleAfter: time.Minute}, newInbox().handler())
		b := w.start(1, stream.Config{IdleAfter: time.Minute}, box.handler())
		for seq := uint64(1); seq <= 3; seq++ {
			a.Send(heartbeat(w.hosts[0], w.hosts[1], 2*seq))
			a.Send(heartbeat(w.hosts[0], w.hosts[1], 2*seq+1))
			a.Send(result(w.hosts[0], w.hosts[1], steal.Handle(seq), make([]byte, 100_000)))
			time.Sleep(10 * time.Minute)
			if a.Stats().Opened != 2*seq || a.Stats().Partners+b.Stats().Partners > 0 {
				t.Errorf("after %d bursts: %+v", seq, a.Stats())
			}
		}
		ascending(t, seqs(box.messages(9)))
	})
}

// A receiver that remembers more than the sender does not take a new stream for an old one.
func TestSenderThatForgets(t *testing.T) {
	inVirtualTime(t, 2, func(w *world) {
		box := newInbox()
		a := w.start(0, stream.Config{IdleAfter: time.Minute}, newInbox().handler())
		b := w.start(1, stream.Config{IdleAfter: 24 * time.Hour}, box.handler())
		for seq := uint64(1); seq <= 5; seq++ {
			a.Send(heartbeat(w.hosts[0], w.hosts[1], seq))
			a.Send(result(w.hosts[0], w.hosts[1], steal.Handle(seq), make([]byte, 100_000)))
			time.Sleep(10 * time.Minute)
			if got := len(box.snapshot()); got != 2*int(seq) || a.Stats().Partners != 0 || b.Stats().Partners != 1 {
				t.Fatalf("after %d bursts %d messages have come; %+v", seq, got, a.Stats())
			}
		}
	})
}

// Close does not wait for partners that take nothing in, however much there is for them.
func TestCloseWithAStoppedPartner(t *testing.T) {
	inVirtualTime(t, 2, func(w *world) {
		box := newInbox()
		a := w.start(0, stream.Config{WriteTimeout: time.Hour, StallTimeout: time.Hour, BulkWindow: 16 << 20},
			newInbox().handler())
		w.start(1, stream.Config{}, box.handler())
		a.Send(heartbeat(w.hosts[0], w.hosts[1], 1))
		box.messages(1)
		w.dead[1].Store(true)
		for i := range 20_000 {
			a.Send(result(w.hosts[0], w.hosts[1], steal.Handle(i+1), make([]byte, 4000)))
			if i%100 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		a.Send(result(w.hosts[0], w.hosts[1], 1<<20, make([]byte, 16<<20)))
		time.Sleep(time.Second)
		began := time.Now()
		a.Close()
		if took := time.Since(began); took > 0 {
			t.Errorf("Close took %v", took)
		}
	})
}

// A goodbye that was sent before Flush has left before Close.
func TestFlushBeforeClose(t *testing.T) {
	inVirtualTime(t, 2, func(w *world) {
		box := newInbox()
		a := w.start(0, stream.Config{}, newInbox().handler())
		w.start(1, stream.Config{}, box.handler())
		a.Send(result(w.hosts[0], w.hosts[1], 1, make([]byte, 1<<20)))
		a.Send(&steal.Message{From: steal.Address{Peer: name(w.hosts[0]), Inc: 1},
			To: steal.Address{Peer: name(w.hosts[1])}, Goodbye: &steal.Goodbye{}})
		if err := a.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		a.Close()
		box.messages(2)
	})
}

// The partners behind wide-area links are bounded. One that has been silent makes room.
func TestWidePartnersAreBounded(t *testing.T) {
	inVirtualTime(t, 5, func(w *world) {
		box := newInbox()
		far := func(id steal.PeerID) bool { return id != name(w.hosts[4]) }
		a := w.start(0, stream.Config{MaxWidePartners: 2, Wide: far, RedialAfter: time.Millisecond,
			RedialMax: time.Millisecond}, box.handler())
		var boxes []*inbox
		for i := 1; i < 5; i++ {
			boxes = append(boxes, newInbox())
			w.start(i, stream.Config{}, boxes[i-1].handler())
		}
		a.Send(heartbeat(w.hosts[0], w.hosts[1], 1))
		a.Send(heartbeat(w.hosts[0], w.hosts[2], 1))
		boxes[0].messages(1)
		boxes[1].messages(1)
		a.Send(heartbeat(w.hosts[0], w.hosts[3], 1))
		if err := box.failures(1)[0]; !errors.Is(err, stream.ErrTooMany) {
			t.Error(err)
		}
		a.Send(heartbeat(w.hosts[0], w.hosts[4], 1)) // a near one is not bounded by that
		boxes[3].messages(1)
		time.Sleep(5 * time.Second)
		a.Send(heartbeat(w.hosts[0], w.hosts[2], 2))
		a.Send(heartbeat(w.hosts[0], w.hosts[3], 2))
		boxes[2].messages(1)
		if len(box.failures(1)) != 1 {
			t.Errorf("%v", box.failures(1))
		}
	})
}

// A peer that is not dialed since the dials of others are under way is not one that cannot be reached: whoever hears
// that of a partner takes no work from it and gives it none.
func TestWaitingForADialSaysNothingOfAPeer(t *testing.T) {
	inVirtualTime(t, 3, func(w *world) {
		box := newInbox()
		slow := func(_ context.Context, id peer.ID) error {
			if id == w.hosts[1].ID() {
				time.Sleep(4 * time.Second)
			}
			return errors.New("nobody is there")
		}
		a := w.start(0, stream.Config{MaxDials: 1, Dial: slow}, box.handler())
		a.Send(heartbeat(w.hosts[0], w.hosts[1], 1))
		time.Sleep(time.Millisecond)
		a.Send(heartbeat(w.hosts[0], w.hosts[2], 1))
		if err := box.failures(1)[0]; errors.Is(err, stream.ErrUnreachable) || !errors.Is(err, stream.ErrTooMany) {
			t.Error(err)
		}
	})
}
