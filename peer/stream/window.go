package stream

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/wire"
)

// A window decides how many bytes of long results may be on the way without acknowledgement. A fixed one is
// right for one link only: 32 KiB keep a link of 100 ms and 100 KB/s busy and hold a steal up for a chunk,
// and make of 10 MB/s 160 KB/s. So it is as large as what the link itself holds, and not larger, since the
// rest would stand in a queue before the next steal:
//
//	size = least round trip of a chunk / time that the link needs for a chunk
//
// in chunks, within the configured bounds, but for very slow links, which get one chunk at a time. The time
// for a chunk is how far the acknowledgements of two chunks are apart that left together (a packet pair). A
// pair that left further apart than a part of the round trip says how fast we sent, not how fast the link is,
// and is left out. Estimates that make the window smaller are believed sooner than those that make it larger.
//
// Neither a round trip nor a pair says all when the line is shared: by results to other partners, each of which has a
// window of its own. Then the least round trip has a queue in it, and acknowledgements that had to wait for each other
// come together as if the link needed no time. So what is under way is also no more than what came back within a second
// as things are: a chunk that took longer makes the window smaller in proportion, and one that did not lets it be twice
// of what was under way when it left, and one chunk more though that may be too much, if none has been late for a
// while: over a satellite more than half of what is in time is distance. All who share the line do that, and together
// have a second of it, or a chunk each. (Four results of 300 KB over one line of 20 KB/s had small messages wait for
// 10 s, the median, and for 35, the longest, as one of them had 270 KB under way.)
type window struct {
	least, most int       // bytes
	prompt      int       // bytes that may be under way as they come back in time; 0: nothing has yet
	late        time.Time // when a chunk came back last that was not in time
	sent        []sentChunk
	roundTrip   time.Duration // the least, forgetting slowly; 0: not known
	perChunk    time.Duration // 0: not known
	lastSent    time.Time     // when the chunk that was acknowledged last was sent
	lastAck     time.Time
}

// slowChunk is how long a link needs for a chunk if it is so slow that even two of them in a row are felt.
const slowChunk = 50 * time.Millisecond

// inTime is how long a chunk may take to be acknowledged before there is too much under way: as long as a steal may
// have to wait. It is more than nearly any distance, and half of it is added at most where none has taken less.
const inTime = time.Second

// calmFor is how long none has been late where a chunk more is tried.
const calmFor = time.Minute

type sentChunk struct {
	transfer uint32
	flight   int // bytes that were under way when it had left, its own too
	at       time.Time
}

// size is the window now, in bytes.
func (w *window) size() int {
	switch {
	case w.prompt == 0:
		return w.least / 2
	case w.perChunk == 0:
		return min(w.least, w.prompt)
	case w.perChunk > slowChunk && w.roundTrip < w.perChunk*5/4:
		return wire.MaxChunk // a second one would do nothing but wait behind the first
	}
	chunks := min(int64(w.roundTrip/w.perChunk), int64(w.most/wire.MaxChunk))
	return min(max(w.least, int(chunks)*wire.MaxChunk), w.prompt)
}

func (w *window) chunkSent(transfer uint32, flight int, now time.Time) {
	w.sent = append(w.sent, sentChunk{transfer, flight, now})
}

// chunkAcked takes in an acknowledgement. They come in the order in which the chunks were sent.
func (w *window) chunkAcked(transfer uint32, now time.Time) {
	i := slices.IndexFunc(w.sent, func(c sentChunk) bool { return c.transfer == transfer })
	if i < 0 {
		return
	}
	c := w.sent[i]
	w.sent = slices.Delete(w.sent, i, i+1)
	trip := max(now.Sub(c.at), time.Microsecond)
	if w.roundTrip += w.roundTrip / 256; w.roundTrip == 0 || trip < w.roundTrip {
		w.roundTrip = trip
	}
	limit := min(max(inTime, w.roundTrip*5/4), inTime*3/2)
	allowed := int(min(2, limit.Seconds()/trip.Seconds()) * float64(c.flight))
	if trip > limit {
		w.late = now
	} else if now.Sub(w.late) > calmFor {
		allowed = max(allowed, c.flight+wire.MaxChunk)
	}
	if trip > limit || allowed > w.prompt {
		w.prompt = max(allowed, 1)
	}
	if !w.lastSent.IsZero() && c.at.Sub(w.lastSent) <= w.roundTrip/4 {
		apart := max(now.Sub(w.lastAck), time.Microsecond)
		switch {
		case w.perChunk == 0:
			w.perChunk = apart
		case apart > w.perChunk:
			w.perChunk += (apart - w.perChunk) / 2
		default:
			w.perChunk -= (w.perChunk - apart) / 8
		}
	}
	w.lastSent, w.lastAck = c.at, now
}

// forget drops the chunks of a transfer that was refused: nothing will be said about them.
func (w *window) forget(transfer uint32) {
	w.sent = slices.DeleteFunc(w.sent, func(c sentChunk) bool { return c.transfer == transfer })
}
