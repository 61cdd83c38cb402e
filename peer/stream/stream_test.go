package stream_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/satin-peer/satin/peer/stream"
	"github.com/satin-peer/satin/steal"
)

// Both sides begin at once, many times over, and all messages come, in order.
func TestMessagesComeInOrder(t *testing.T) {
	for _, listen := range []string{overTCP, overQUIC} {
		t.Run(listen, func(t *testing.T) {
			const count = 2000
			hosts := loopback(t, 2, listen)
			boxes := []*inbox{newInbox(), newInbox()}
			cfg := stream.Config{QueueMessages: count}
			transports := []*stream.Transport{start(t, hosts[0], cfg, boxes[0].handler()),
				start(t, hosts[1], cfg, boxes[1].handler())}
			for side := range 2 {
				go func() {
					for seq := range uint64(count) {
						transports[side].Send(heartbeat(hosts[side], hosts[1-side], seq+1))
					}
				}()
			}
			for side := range 2 {
				for i, m := range boxes[side].messages(count) {
					if m.Heartbeat == nil || m.Heartbeat.Seq != uint64(i+1) || m.From.Peer != name(hosts[1-side]) {
						t.Fatalf("message %d is %+v", i+1, m)
					}
				}
			}
		})
	}
}

// Long results arrive whole, also relayed, beside short messages.
func TestLongResults(t *testing.T) {
	for _, listen := range []string{overTCP, overQUIC} {
		t.Run(listen, func(t *testing.T) {
			hosts := loopback(t, 2, listen)
			box := newInbox()
			a := start(t, hosts[0], stream.Config{}, newInbox().handler())
			start(t, hosts[1], stream.Config{}, box.handler())
			sizes := []int{0, 1, 8 << 10, 8<<10 + 1, 100_000, 1 << 20, 16 << 20}
			for i, size := range sizes {
				a.Send(result(hosts[0], hosts[1], steal.Handle(i+1), bytes.Repeat([]byte{byte(i + 1)}, size)))
			}
			a.Send(&steal.Message{From: result(hosts[0], hosts[1], 1, nil).From,
				To: result(hosts[0], hosts[1], 1, nil).To,
				Relayed: result(hosts[1], hosts[0], steal.Handle(len(sizes)+1),
					bytes.Repeat([]byte{byte(len(sizes) + 1)}, 1<<20))})
			sizes = append(sizes, 1<<20)
			seen := map[steal.Handle]bool{}
			for _, m := range box.messages(len(sizes)) {
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
