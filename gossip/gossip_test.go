package gossip_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/satin-peer/satin/gossip"
)

// What one peer tells the other hears, once.
func TestTwoPeers(t *testing.T) {
	inSwarm(t, []int{2}, func(s *swarm) {
		s.open(gossip.Config{})
		s.connect(0, 1)
		time.Sleep(time.Second)
		s.publish(0, gossip.KindRun, "run")
		s.publish(0, gossip.KindLoad, "load")
		s.publish(1, gossip.KindCard, "card")
		time.Sleep(time.Second)
		if got := s.received(1); !slices.Equal(got, []string{"0:load", "0:run"}) {
			t.Errorf("1 got %q", got)
		}
		if got := s.received(0); !slices.Equal(got, []string{"1:card"}) {
			t.Errorf("0 got %q", got)
		}
		if st := s.peers[0].Stats(); st.Envelopes != 1 || st.Published != 2 || st.Neighbours != 1 || !st.Flat {
			t.Errorf("stats: %+v", st)
		}
	})
}

// TestPublishNeverBlocks publishes more than can be sent or taken, without and with a neighbour whose handler hangs.
func TestPublishNeverBlocks(t *testing.T) {
	inSwarm(t, []int{2}, func(s *swarm) {
		s.open(gossip.Config{Queue: 64, KindRates: map[gossip.Kind]gossip.Rate{gossip.KindLoad: {PerSecond: 1e6,
			Burst: 1e6}}})
		hang := make(chan struct{})
		defer close(hang)
		s.peers[1].Handle(gossip.KindLoad, nil, func(peer.ID, []byte) { <-hang })
		burst := func() (busy int) {
			begin := time.Now()
			for range 1000 {
				switch err := s.peers[0].Publish(gossip.KindLoad, make([]byte, 1000)); {
				case errors.Is(err, gossip.ErrBusy):
					busy++
				case err != nil:
					t.Fatal(err)
				}
			}
			if d := time.Since(begin); d != 0 { // virtual time passes only when somebody waits
				t.Errorf("Publish waited %v", d)
			}
			return busy
		}
		// The queue holds 64, and the author's own rate lets some 27 envelopes of five messages go at once.
		if busy := burst(); busy < 1000-64-28*5-5 {
			t.Errorf("alone: %d of 1000 refused", busy)
		}
		s.connect(0, 1)
		time.Sleep(10 * time.Second)
		for range 20 {
			burst()
			time.Sleep(time.Second)
		}
		sent, got := s.peers[0].Stats(), s.peers[1].Stats()
		if sent.Busy == 0 || got.Undelivered == 0 {
			t.Errorf("nothing was dropped: %+v and %+v", sent, got)
		}
		// The hanging handler keeps nobody from publishing, itself included.
		s.publish(1, gossip.KindRun, "still there")
		time.Sleep(time.Second)
		if got := s.received(0); !slices.Equal(got, []string{"1:still there"}) {
			t.Errorf("0 got %q", got)
		}
	})
}

// TestCombines is about what leaves together.
func TestCombines(t *testing.T) {
	for _, c := range []struct {
		name            string
		messages, bytes int
		gap             time.Duration
		envelopes       uint64
	}{
		{"at once", 20, 10, 0, 1},
		{"within the time", 10, 10, 2 * time.Millisecond, 1},
		{"too far apart", 10, 10, 50 * time.Millisecond, 10},
		{"up to the size", 12, 1100, 0, 3}, // four of them are above 4 KiB
		{"large ones by themselves", 3, 10 << 10, 0, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			inSwarm(t, []int{2}, func(s *swarm) {
				s.open(gossip.Config{CombineFor: 30 * time.Millisecond, CombineBytes: 4 << 10})
				s.connect(0, 1)
				time.Sleep(time.Second)
				for i := range c.messages {
					s.publish(0, gossip.KindRun, fmt.Sprintf("%0*d", c.bytes, i))
					time.Sleep(c.gap)
				}
				time.Sleep(time.Second)
				if got := len(s.received(1)); got != c.messages {
					t.Errorf("%d of %d delivered", got, c.messages)
				}
				if st := s.peers[0].Stats(); st.Envelopes != c.envelopes {
					t.Errorf("%d envelopes, want %d", st.Envelopes, c.envelopes)
				}
			})
		})
	}
}

// What workers wait for leaves at once after a silence, with whatever waits already; what follows closely is combined.
func TestSharedLeavesAtOnce(t *testing.T) {
	inSwarm(t, []int{2}, func(s *swarm) {
		s.open(gossip.Config{CombineFor: 30 * time.Millisecond, KindRates: map[gossip.Kind]gossip.Rate{
			gossip.KindShared: {PerSecond: 1000, Burst: 1000}}})
		s.connect(0, 1)
		time.Sleep(time.Second)
		hears := func(within time.Duration, want ...string) {
			t.Helper()
			time.Sleep(within)
			if got := s.received(1); !slices.Equal(got, want) {
				t.Errorf("within %v: %q, want %q", within, got, want)
			}
		}
		s.publish(0, gossip.KindShared, "first")
		hears(8*time.Millisecond, "0:first")
		s.publish(0, gossip.KindShared, "second")
		hears(8 * time.Millisecond)
		s.publish(0, gossip.KindShared, "third")
		hears(22*time.Millisecond, "0:second", "0:third")
		time.Sleep(time.Second)
		s.publish(0, gossip.KindRun, "a run waits")
		hears(8 * time.Millisecond)
		s.publish(0, gossip.KindShared, "hurried")
		hears(8*time.Millisecond, "0:a run waits", "0:hurried")
		for i := range 300 {
			s.publish(0, gossip.KindShared, fmt.Sprint(i))
			time.Sleep(2 * time.Millisecond)
		}
		time.Sleep(time.Second)
		if n := s.peers[0].Stats().Envelopes; n > 3+600/30+2 {
			t.Errorf("%d envelopes", n)
		}
	})
}

// What is too large, comes too fast, is of a kind that gossip keeps to itself, or comes after the end is refused with
// a reason that tells which.
func TestPublishErrors(t *testing.T) {
	inSwarm(t, []int{1}, func(s *swarm) {
		s.open(gossip.Config{MaxPayload: 1000})
		if err := s.peers[0].Publish(gossip.KindCard, make([]byte, 1001)); !errors.Is(err, gossip.ErrTooLarge) {
			t.Errorf("too large: %v", err)
		}
		if err := s.peers[0].Publish(0, nil); err == nil {
			t.Error("gossip's own kind was published")
		}
		var err error
		for range 7 {
			err = s.peers[0].Publish(gossip.KindCard, make([]byte, 10))
		}
		if !errors.Is(err, gossip.ErrBusy) {
			t.Errorf("over the rate of cards: %v", err)
		}
		s.peers[0].Close()
		if err := s.peers[0].Publish(gossip.KindRun, nil); !errors.Is(err, gossip.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		s.peers[0].SetMembers(gossip.Members{Cluster: "a"}) // must not hang or panic
	})
}

// A configuration without a test of who is admitted, or with numbers that do not fit a message, is refused.
func TestOpenErrors(t *testing.T) {
	inSwarm(t, []int{1}, func(s *swarm) {
		all := func(peer.ID) bool { return true }
		for name, cfg := range map[string]gossip.Config{
			"no Admitted":          {},
			"payloads too large":   {Admitted: all, MaxPayload: 1 << 20},
			"incarnation too high": {Admitted: all, Incarnation: 1 << 32},
		} {
			if g, err := gossip.Open(t.Context(), s.hosts[0], cfg); err == nil {
				g.Close()
				t.Errorf("%s: no error", name)
			}
		}
	})
}
