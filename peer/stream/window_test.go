package stream

import (
	"errors"
	"testing"
	"time"

	"github.com/satin-peer/satin/internal/wire"
	"github.com/satin-peer/satin/steal"
)

// A window is as large as what the link holds: the round trip by the time of a chunk, told by two that left together.
// What left far apart tells nothing of the link, and a link on which two chunks are felt gets one.
func TestWindowIsWhatTheLinkHolds(t *testing.T) {
	const chunk = wire.MaxChunk
	at := time.Unix(1_000_000_000, 0)
	send := func(w *window, apart, trip time.Duration, acks ...time.Duration) {
		for i := range acks {
			w.chunkSent(uint32(i), (i+1)*chunk, at.Add(time.Duration(i)*apart))
		}
		for i, ack := range acks {
			w.chunkAcked(uint32(i), at.Add(trip+ack))
		}
		at = at.Add(time.Hour)
	}
	fast := &window{least: 2 * chunk, most: 64 * chunk, prompt: 64 * chunk}
	if fast.size() != 2*chunk {
		t.Errorf("nothing is known, and the window is %d", fast.size())
	}
	send(fast, 0, 100*time.Millisecond, 0, 10*time.Millisecond)
	if got := fast.size(); got != 10*chunk {
		t.Errorf("a link that holds ten chunks has a window of %d", got/chunk)
	}
	send(fast, 500*time.Millisecond, 100*time.Millisecond, 0, 500*time.Millisecond)
	if got := fast.size(); got != 10*chunk {
		t.Errorf("after chunks that left half a second apart the window is %d", got/chunk)
	}
	send(fast, 0, 100*time.Millisecond, 0, time.Microsecond)
	for range 100 {
		send(fast, 0, 100*time.Millisecond, 0, time.Microsecond)
	}
	if got := fast.size(); got != 64*chunk {
		t.Errorf("the largest window is %d", got/chunk)
	}
	slow := &window{least: 2 * chunk, most: 64 * chunk, prompt: 64 * chunk}
	send(slow, 0, 170*time.Millisecond, 0, 160*time.Millisecond)
	if got := slow.size(); got != chunk {
		t.Errorf("on a link that needs 160 ms for a chunk the window is %d", got/chunk)
	}
}

// No more is under way than came back within a second, whatever a pair says whose acknowledgements waited for each
// other and came together. What comes back in time lets it be twice as much.
func TestWindowIsWhatComesBackInTime(t *testing.T) {
	const chunk = wire.MaxChunk
	at := time.Unix(1_000_000_000, 0)
	w := &window{least: 2 * chunk, most: 64 * chunk}
	trip := func(chunks int, took time.Duration, want int) {
		t.Helper()
		for i := range chunks {
			w.chunkSent(1, (i+1)*chunk, at)
		}
		at = at.Add(took)
		for range chunks {
			w.chunkAcked(1, at)
		}
		if got := w.size(); got != want {
			t.Errorf("%d chunks took %v, and the window is %d", chunks, took, got)
		}
	}
	if got := w.size(); got != chunk {
		t.Errorf("it begins with %d", got)
	}
	trip(1, 100*time.Millisecond, 2*chunk)
	trip(2, 8*time.Second, chunk/4) // a queue
	trip(1, 8*time.Second, chunk/8)
	trip(1, 500*time.Millisecond, 2*chunk)
	trip(2, 500*time.Millisecond, 4*chunk)
	trip(1, 500*time.Millisecond, 4*chunk) // there was no more to send
	for range 10 {
		trip(w.size()/chunk, 500*time.Millisecond, min(2*w.size(), 64*chunk))
	}
}

// A link whose round trip is longer than half of what is in time, over a satellite, or than all of it, over two, has
// its window grow too: by a chunk at a time at first, as more than half of one more would not be one. Where that made a
// queue it is not tried again soon.
func TestWindowGrowsFarAway(t *testing.T) {
	const chunk = wire.MaxChunk
	at := time.Unix(1_000_000_000, 0)
	trip := func(w *window, took time.Duration) int {
		chunks := max(w.size()/chunk, 1)
		for i := range chunks {
			w.chunkSent(1, (i+1)*chunk, at)
		}
		at = at.Add(took)
		for range chunks {
			w.chunkAcked(1, at)
		}
		return chunks
	}
	for _, far := range []time.Duration{700 * time.Millisecond, 1200 * time.Millisecond} {
		w := &window{least: 2 * chunk, most: 64 * chunk}
		for range 20 {
			trip(w, far)
		}
		if got := w.size(); got != 64*chunk {
			t.Errorf("after 20 round trips of %v the window is of %d chunks", far, got/chunk)
		}
	}
	shared, most := &window{least: 2 * chunk, most: 64 * chunk}, 0
	for range 20 {
		most += trip(shared, time.Duration(max(shared.size()/chunk, 1))*800*time.Millisecond)
	}
	if most != 21 {
		t.Errorf("on a line that needs 800 ms for a chunk %d went in 20 round trips", most)
	}
}

// Failures that nobody takes are kept up to a bound, and counted beyond.
func TestFailuresAreBounded(t *testing.T) {
	tr := &Transport{failures: failures{wake: make(chan struct{}, 1)}}
	for range maxFailures + 7 {
		tr.fail(&steal.Message{}, errors.New("no way"))
	}
	if kept, beyond := len(tr.failures.list), tr.count.unreported.Load(); kept != maxFailures || beyond != 7 {
		t.Errorf("%d are kept, %d counted", kept, beyond)
	}
}
