package wan

import (
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

var (
	lan  = Conditions{Bandwidth: 1e9, Latency: 0}
	slow = Conditions{Bandwidth: 100e3, Latency: 100 * ms}
)

func arrival(t *testing.T, m *Model, now time.Duration, from, to, bytes int) time.Duration {
	t.Helper()
	at, err := m.Deliver(now, from, to, bytes)
	if err != nil {
		t.Fatalf("message from %d to %d at %v: %v", from, to, now, err)
	}
	return at
}

// A message is on a link for its transmission, and then for the latency.
func TestMessageTakesTransmissionPlusLatency(t *testing.T) {
	m := Uniform([]int{1, 1}, lan, slow)
	if got, want := arrival(t, m, time.Second, 0, 1, 1000), time.Second+10*ms+100*ms; got != want {
		t.Errorf("1,000 bytes over 100 KB/s and 100 ms, sent at 1s, arrive at %v, want %v", got, want)
	}
}

// A message waits for those before it on its own link in its own direction, and for nothing else.
func TestMessagesQueueOnTheirLinkOnly(t *testing.T) {
	m := Uniform([]int{1, 1, 1}, lan, slow)
	arrival(t, m, 0, 0, 1, 100_000) // occupies the link 0-1 for a second
	for _, c := range []struct {
		name     string
		from, to int
		want     time.Duration
	}{
		{"behind it", 0, 1, time.Second + 110*ms},
		{"the other direction", 1, 0, 110 * ms},
		{"another link", 0, 2, 110 * ms},
	} {
		if got := arrival(t, m, 0, c.from, c.to, 1000); got != c.want {
			t.Errorf("%s: arrives at %v, want %v", c.name, got, c.want)
		}
	}
	if got := m.Backlog(500*ms, 0, 1); got != 510*ms {
		t.Errorf("backlog after half a second is %v, want 510ms", got)
	}
}

// Inside a cluster messages do not wait for each other.
func TestLocalMessagesDoNotQueue(t *testing.T) {
	m := NewModel([]int{2}, Conditions{Bandwidth: 1e6, Latency: ms})
	for range 3 {
		if got := arrival(t, m, 0, 0, 0, 1000); got != 2*ms {
			t.Fatalf("arrives at %v, want 2ms", got)
		}
	}
}

// Where a link is missing, messages take the shortest way over others, and the link again when it is back.
func TestMissingLinkIsRoutedRound(t *testing.T) {
	m := Uniform([]int{1, 1, 1, 1}, lan, slow)
	m.Links().Set(0, 3, Conditions{Bandwidth: 100e3, Latency: 10 * ms})
	m.Links().Remove(0, 1)
	// By way of 2 or 3, both two links; 3 is nearer.
	next, at, err := m.Forward(0, 0, 1, 1000)
	if err != nil || next != 3 || at != 20*ms {
		t.Fatalf("first hop: cluster %d at %v, %v; want 3 at 20ms", next, at, err)
	}
	next, at, err = m.Forward(at, next, 1, 1000)
	if err != nil || next != 1 || at != 130*ms {
		t.Fatalf("second hop: cluster %d at %v, %v; want 1 at 130ms", next, at, err)
	}
	m.Links().Restore(0, 1)
	if next, _, _ := m.Forward(0, 0, 1, 1); next != 1 {
		t.Errorf("after the link came back the first hop is %d, want 1", next)
	}
}

// A link that is there is used however slow it is, as in the paper.
func TestSlowLinkIsNotRoutedRound(t *testing.T) {
	m := Uniform([]int{1, 1, 1}, lan, slow)
	m.Links().Set(0, 1, Conditions{Bandwidth: 1, Latency: time.Hour})
	if next, _, _ := m.Forward(0, 0, 1, 1); next != 1 {
		t.Errorf("first hop is %d, want 1: CRS paper, 3.4", next)
	}
}

// A message to where no links lead is an error, and not lost in silence.
func TestNoRoute(t *testing.T) {
	m := NewModel([]int{1, 1}, lan)
	if _, err := m.Deliver(0, 0, 1, 1); !errors.Is(err, ErrNoRoute) {
		t.Errorf("error is %v, want ErrNoRoute", err)
	}
}

// A link with a bounded queue takes messages until that is full, and drops the others.
func TestFullQueueDrops(t *testing.T) {
	m := Uniform([]int{1, 1}, lan, slow)
	m.Links().Bound(0, 1, 2500)
	sent := 0
	for range 10 {
		if _, err := m.Deliver(0, 0, 1, 1000); err == nil {
			sent++
		} else if !errors.Is(err, ErrQueueFull) {
			t.Fatal(err)
		}
	}
	if sent != 3 { // waiting when the fourth comes: 3,000 bytes
		t.Errorf("%d messages of 1,000 bytes entered a queue of 2,500 bytes, want 3", sent)
	}
}

// Links can be changed, removed and brought back while messages are on their way, and values that make no sense are
// refused.
func TestLiveSet(t *testing.T) {
	m := Uniform([]int{1, 1, 1}, lan, slow)
	live := m.Live()
	done := make(chan error)
	go func() { done <- live.Set(0, 1, Conditions{Bandwidth: 1e6, Latency: ms}) }()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := arrival(t, m, 0, 0, 1, 1000); got != 2*ms {
		t.Errorf("arrives at %v, want 2ms", got)
	}
	if err := live.Remove(0, 1); err != nil {
		t.Fatal(err)
	}
	if next, _, _ := m.Forward(time.Second, 0, 1, 1); next != 2 {
		t.Errorf("first hop without the link is %d, want 2", next)
	}
	if err := live.Restore(0, 1); err != nil {
		t.Fatal(err)
	}
	if next, _, _ := m.Forward(2*time.Second, 0, 1, 1); next != 1 {
		t.Errorf("first hop with the link is %d, want 1", next)
	}
	for _, bad := range []error{live.Set(0, 1, Conditions{}), live.Set(0, 3, slow), live.Remove(1, 1),
		live.Set(-1, 0, slow)} {
		if bad == nil {
			t.Error("a value out of range was accepted")
		}
	}
}

// TestArrivalsProperties: whatever the traffic, each link keeps order, nothing arrives before it could, and no link
// carries more than its bandwidth.
func TestArrivalsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(t, "clusters")
		m := NewModel(make([]int, n), lan)
		for from := range n {
			for to := range n {
				if from != to && rapid.Bool().Draw(t, "exists") {
					m.Links().Set(from, to, Conditions{
						Bandwidth: rapid.Float64Range(1e3, 1e6).Draw(t, "bandwidth"),
						Latency:   time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "latency")),
					})
				}
			}
		}
		last := map[[2]int]time.Duration{}
		now := time.Duration(0)
		for range rapid.IntRange(1, 60).Draw(t, "messages") {
			now += time.Duration(rapid.Int64Range(0, int64(10*ms)).Draw(t, "pause"))
			at, to := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
			bytes := rapid.IntRange(1, 10_000).Draw(t, "bytes")
			if at == to {
				continue
			}
			next, when, err := m.Forward(now, at, to, bytes)
			if errors.Is(err, ErrNoRoute) {
				continue
			}
			c, exists := m.Links().Conditions(at, next)
			link := [2]int{at, next}
			switch {
			case err != nil:
				t.Fatal(err)
			case !exists:
				t.Fatalf("sent over the link %d-%d, which does not exist", at, next)
			case when < now+c.Latency+c.Transmission(bytes):
				t.Fatalf("%d bytes arrive at %v, before %v + %v + %v", bytes, when, now, c.Latency,
					c.Transmission(bytes))
			case when < last[link]+c.Transmission(bytes):
				t.Fatalf("%d bytes arrive at %v, %v after the message before", bytes, when, when-last[link])
			}
			last[link] = when
		}
	})
}

// TestRoutesAreShortest compares the first hops with a plain search over all paths.
func TestRoutesAreShortest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "clusters")
		m := NewModel(make([]int, n), lan)
		for from := range n {
			for to := range n {
				if from != to && rapid.IntRange(0, 2).Draw(t, "exists") == 0 {
					m.Links().Set(from, to, Conditions{1e6,
						time.Duration(rapid.IntRange(1, 5).Draw(t, "latency")) * ms})
				}
			}
		}
		for from := range n {
			for to := range n {
				if from == to {
					continue
				}
				want := shortest(m, from, to, make([]bool, n))
				got, at := routeLength{}, from
				for at != to && got.hops < unreached {
					next := m.routes.next(m.links, at, to)
					if next < 0 {
						got.hops = unreached
						break
					}
					got.hops++
					got.latency += m.links.at(at, next).nominal.Latency
					if got.hops > n {
						t.Fatalf("the route from %d to %d runs in a circle", from, to)
					}
					at = next
				}
				if got.hops != want.hops || want.hops < unreached && got.latency != want.latency {
					t.Fatalf("from %d to %d: %+v, want %+v", from, to, got, want)
				}
			}
		}
	})
}

func shortest(m *Model, from, to int, visited []bool) routeLength {
	if from == to {
		return routeLength{}
	}
	visited[from] = true
	defer func() { visited[from] = false }()
	best := routeLength{hops: unreached}
	for next := range visited {
		k := m.links.at(from, next)
		if visited[next] || next == from || !k.exists {
			continue
		}
		rest := shortest(m, next, to, visited)
		if rest.hops < unreached {
			if c := (routeLength{rest.hops + 1, rest.latency + k.nominal.Latency}); c.less(best) {
				best = c
			}
		}
	}
	return best
}

// TestSpreadIsAsShortRoutes compares when gossip arrives with a message that is alone on a network of its own: the one
// crosses a link that many destinations share once, so that none is later than the sum of its links.
func TestSpreadIsAsShortRoutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "clusters")
		m, from := NewModel(make([]int, n), lan), rapid.IntRange(0, n-1).Draw(t, "from")
		for a := range n {
			for b := range n {
				if a != b && rapid.IntRange(0, 2).Draw(t, "exists") > 0 {
					m.Links().Set(a, b, Conditions{1e4, time.Duration(rapid.IntRange(1, 5).Draw(t, "latency")) * ms})
				}
			}
		}
		arrives := m.Spread(0, from, 100)
		for to := range n {
			want, now := time.Duration(0), time.Duration(0)
			for at := from; at != to; {
				next := m.routes.next(m.links, at, to)
				if next < 0 {
					want = Never
					break
				}
				now += m.links.at(at, next).now.Transmission(100) + m.links.at(at, next).now.Latency
				want, at = now, next
			}
			if arrives[to] != want {
				t.Fatalf("from %d to %d it takes %v, want %v", from, to, arrives[to], want)
			}
		}
	})
}

// What is told to everybody takes its turn on the links, once on each, and others wait for it.
func TestSpreadTakesItsTurn(t *testing.T) {
	m := NewModel([]int{1, 1, 1}, lan)
	m.Links().Set(0, 1, slow)
	m.Links().Set(1, 2, slow)
	alone := m.Spread(0, 0, 1000)
	if again := m.Spread(0, 0, 1000); again[1] != alone[1]+slow.Transmission(1000) {
		t.Errorf("the second of two arrives at %v, the first at %v", again[1], alone[1])
	}
	if busy := m.Backlog(0, 0, 1); busy != 2*slow.Transmission(1000) {
		t.Errorf("the link that two clusters are reached over is busy for %v after two messages", busy)
	}
	m.Links().Bound(0, 1, 1)
	if full := m.Spread(0, 0, 1000); full[1] != Never || full[2] != Never {
		t.Errorf("beyond a full queue it arrives at %v", full[1:])
	}
}
