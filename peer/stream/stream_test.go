package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"

	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/steal"
)

// Both sides begin at once, and all messages come, in order.
//
// On a real network a dial may fail, and with it all that waits for it: on a busy machine by a deadline of
// libp2p's, and over TCP also because libp2p dials from the port it listens on, so two dials that cross may
// become one connection of which each end believes that it began it (RFC 793, 3.4). Such messages are failed,
// not lost: each one comes or fails, and never both. What is sent then, once there is a connection, is to
// come. In virtual time none of this happens, and everything comes the first time.
func TestMessagesComeInOrder(t *testing.T) {
	for _, listen := range []string{overTCP, overQUIC} {
		t.Run(listen, func(t *testing.T) {
			c := &crossing{hosts: loopback(t, 2, listen), box: newInbox()}
			cfg := noDeadlines()
			cfg.QueueMessages = atOnce
			for _, h := range c.hosts {
				c.transports = append(c.transports, start(t, h, cfg, c.box.handler()))
			}
			ctx := untilDeadline(t)
			for round := 1; c.send(ctx, t) > 0; round++ {
				t.Logf("round %d: %s", round, c)
				if round == 20 {
					t.Fatal("there was no round in which nothing failed")
				}
				connect(ctx, t, c.hosts)
			}
		})
	}
	t.Run("virtual", func(t *testing.T) {
		inVirtualTime(t, 2, func(w *world) {
			c := &crossing{hosts: w.hosts, box: newInbox()}
			for side := range w.hosts {
				c.transports = append(c.transports,
					w.start(side, stream.Config{QueueMessages: atOnce}, c.box.handler()))
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			for range 2 { // the second time the writers have nothing to do and wait
				if c.send(ctx, w.t) > 0 {
					w.t.Errorf("messages failed: %s", c)
				}
			}
		})
	})
}

// A crossing is two hosts that send to each other at the same moment. One inbox takes what comes to either, and
// what fails.
type crossing struct {
	hosts      []host.Host
	transports []*stream.Transport
	box        *inbox
	sent       int // by each
}

const atOnce = 2000 // messages

// send sends many messages each way and waits until each has come or failed. It says how many failed, and
// fails the test for any that did neither, or both, or came out of order.
func (c *crossing) send(ctx context.Context, t *testing.T) (failed int) {
	t.Helper()
	first, before := uint64(c.sent+1), len(c.box.lost)
	c.sent += atOnce
	for side, tr := range c.transports {
		go func() {
			for i := range uint64(atOnce) {
				tr.Send(heartbeat(c.hosts[side], c.hosts[1-side], first+i))
			}
		}()
	}
	c.box.settle(ctx, len(c.hosts)*c.sent)
	c.box.mu.Lock()
	came, lost, reasons := c.box.received, c.box.lost, c.box.failed
	c.box.mu.Unlock()
	for side, h := range c.hosts {
		known := map[uint64]bool{} // of those from h, what became of them
		for i, m := range lost {
			if !errors.Is(reasons[i], stream.ErrUnreachable) {
				t.Fatalf("message %d failed: %v", m.Heartbeat.Seq, reasons[i])
			}
			if m.From.Peer == name(h) {
				known[m.Heartbeat.Seq] = true
			}
		}
		var list []uint64
		for _, m := range came {
			if m.Heartbeat == nil || m.From.Peer == name(h) && known[m.Heartbeat.Seq] {
				t.Fatalf("this came and failed, came twice or was not sent: %+v", m)
			}
			if m.From.Peer == name(h) {
				known[m.Heartbeat.Seq] = true
				list = append(list, m.Heartbeat.Seq)
			}
		}
		if ascending(t, list); len(known) != c.sent {
			t.Fatalf("of %d messages from side %d, %d neither came nor failed: %s", c.sent, side,
				c.sent-len(known), c)
		}
	}
	return len(lost) - before
}

// String says what became of the messages, and how the transports are.
func (c *crossing) String() string {
	c.box.mu.Lock()
	defer c.box.mu.Unlock()
	came, failed := len(c.box.received), len(c.box.lost)
	var b strings.Builder
	fmt.Fprintf(&b, "each side sent %d; %d came in all, %d failed, %d pending", c.sent, came, failed,
		len(c.hosts)*c.sent-came-failed)
	for side, tr := range c.transports {
		fmt.Fprintf(&b, "\nside %d: %+v", side, tr.Stats())
	}
	if failed > 0 {
		fmt.Fprintf(&b, "\nthe last failed for: %v", c.box.failed[failed-1])
	}
	return b.String()
}

// noDeadlines is for tests in real time in which deadlines are not what is tried. What a deadline cuts off may be
// lost in silence.
func noDeadlines() stream.Config {
	return stream.Config{DialTimeout: time.Hour, WriteTimeout: time.Hour, FrameTimeout: time.Hour,
		StallTimeout: time.Hour}
}

// connect connects two hosts. libp2p gives a dial a few seconds, which may be too few on a busy machine.
func connect(ctx context.Context, t *testing.T, hosts []host.Host) {
	t.Helper()
	other := hosts[1].ID()
	var err error
	for range 20 {
		hosts[0].Network().(*swarm.Swarm).Backoff().Clear(other)
		if err = hosts[0].Connect(ctx, peer.AddrInfo{ID: other}); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// untilDeadline ends soon enough before the test's deadline to say what is missing.
func untilDeadline(t *testing.T) context.Context {
	deadline, ok := t.Deadline()
	if !ok {
		return t.Context()
	}
	ctx, cancel := context.WithDeadline(t.Context(), deadline.Add(-time.Until(deadline)/10))
	t.Cleanup(cancel)
	return ctx
}

// Long results arrive whole, also relayed, beside short messages.
func TestLongResults(t *testing.T) {
	for _, listen := range []string{overTCP, overQUIC} {
		t.Run(listen, func(t *testing.T) {
			hosts := loopback(t, 2, listen)
			ctx := untilDeadline(t)
			connect(ctx, t, hosts)
			box := newInbox() // also for what fails
			a := start(t, hosts[0], noDeadlines(), box.handler())
			start(t, hosts[1], noDeadlines(), box.handler())
			sizes := []int{0, 1, 8 << 10, 8<<10 + 1, 100_000, 1 << 20, 16 << 20}
			for i, size := range sizes {
				a.Send(result(hosts[0], hosts[1], steal.Handle(i+1), bytes.Repeat([]byte{byte(i + 1)}, size)))
			}
			a.Send(&steal.Message{From: result(hosts[0], hosts[1], 1, nil).From,
				To: result(hosts[0], hosts[1], 1, nil).To,
				Relayed: result(hosts[1], hosts[0], steal.Handle(len(sizes)+1),
					bytes.Repeat([]byte{byte(len(sizes) + 1)}, 1<<20))})
			sizes = append(sizes, 1<<20)
			box.settle(ctx, len(sizes))
			came := box.snapshot()
			if len(came) != len(sizes) {
				t.Fatalf("%d of %d results came, and these failed: %v; %+v", len(came), len(sizes), box.failures(0),
					a.Stats())
			}
			seen := map[steal.Handle]bool{}
			for _, m := range came {
				if m.Relayed != nil {
					m = m.Relayed
				}
				h := m.Result.Handle
				if seen[h] || !bytes.Equal(m.Result.Outcome, bytes.Repeat([]byte{byte(h)}, sizes[h-1])) {
					t.Errorf("result %d came with %d bytes, before: %v", h, len(m.Result.Outcome), seen[h])
				}
				seen[h] = true
			}
		})
	}
}

// Messages to a peer that is not there, short and long, fail with an error that says so.
func TestUnreachable(t *testing.T) {
	hosts := loopback(t, 2, overTCP)
	hosts[1].Close()
	box := newInbox()
	a := start(t, hosts[0], stream.Config{}, box.handler())
	for seq := range uint64(3) {
		a.Send(heartbeat(hosts[0], hosts[1], seq+1))
	}
	a.Send(result(hosts[0], hosts[1], 1, make([]byte, 100_000)))
	for _, err := range box.failures(4) {
		if !errors.Is(err, stream.ErrUnreachable) {
			t.Error(err)
		}
	}
}
