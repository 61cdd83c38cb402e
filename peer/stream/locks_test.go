package stream

import (
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/test"

	"github.com/satin-peer/satin/steal"
)

// lonely is a transport that has room for one partner.
func lonely(t *testing.T) *Transport {
	t.Helper()
	h, err := libp2p.New(libp2p.NoListenAddrs, libp2p.DisableRelay(), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	tr := New(h, Config{MaxPartners: 1}, Handler{Received: func(*steal.Message) {},
		Failed: func(*steal.Message, error) {}})
	t.Cleanup(func() { _, _ = tr.Close(), h.Close() })
	return tr
}

// Guards that how long a partner has been silent, and what it sends under way, does not hang on the clock on the wall:
// one that is set back keeps all partners from making room for others, and one that is set forward cuts all off.
func TestSilenceIsNotByTheWall(t *testing.T) {
	p, err := lonely(t).admit(test.RandPeerIDFatal(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, ns := range []int64{p.used.Load(), (&bulkReader{p: p}).clock()} {
		if d := time.Duration(ns); d < 0 || d > time.Hour {
			t.Errorf("a moment after the start it is %v", d)
		}
	}
}

// Guards that a peer to which there is something to say for the first time in a while, and one that is forgotten in
// the same moment, do not wait for each other, and with them all that this peer sends.
func TestSendWhileAPartnerIsForgotten(t *testing.T) {
	tr := lonely(t)
	id, other := test.RandPeerIDFatal(t), test.RandPeerIDFatal(t)
	p, err := tr.admit(id, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.way.mu.Lock() // which holds the Send up in the middle
	done := make(chan struct{}, 2)
	go func() {
		tr.Send(&steal.Message{From: steal.Address{Peer: tr.self, Inc: 1}, To: steal.Address{Peer: p.name, Inc: 1},
			Heartbeat: &steal.Heartbeat{Seq: 1}})
		done <- struct{}{}
	}()
	until(func() bool { return !p.control.mu.TryLock() }, p.control.mu.Unlock)
	go func() {
		_, _ = tr.admit(other, 0) // there is room for one: the first is to be forgotten
		done <- struct{}{}
	}()
	until(func() bool { return !tr.mu.TryLock() }, tr.mu.Unlock)
	p.way.mu.Unlock()
	<-done
	<-done
}

// until waits for something, and takes back what looking for it has done.
func until(is func() bool, back func()) {
	for !is() {
		back()
		time.Sleep(time.Millisecond)
	}
}
