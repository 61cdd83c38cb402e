package sim

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
)

// Messages that are larger than a chunk and cross clusters travel much as the swarm's transport sends long results: on
// a stream of their own for each pair of peers, in chunks, of which so many may be on the way unacknowledged.
// So a heartbeat waits behind a few chunks on a slow link, not behind a picture. Here it is one message after the
// other, and always the least window: the transport has several take turns, and widens it where a link holds more.
const (
	bulkChunk  = 16 << 10
	bulkWindow = 2 // chunks
	bulkRetry  = int64(200 * time.Millisecond)
)

// bulkStream is the stream of large messages from one peer to another.
type bulkStream struct {
	from, to *peer
	queue    []*steal.Message
	unsent   int // bytes of the first message that have not left yet
	unheard  int // bytes of it that have not arrived
	flying   int // chunks
}

type pair struct{ from, to int32 }

// bulk is all of these streams.
type bulk struct {
	*stage
	links   *wan.Model
	streams []*bulkStream
	index   map[pair]int
}

// send queues a message on its stream.
func (w *bulk) send(p, receiver *peer, m *steal.Message, size int) {
	k := pair{p.number, receiver.number}
	i, ok := w.index[k]
	if !ok {
		i = len(w.streams)
		w.index[k] = i
		w.streams = append(w.streams, &bulkStream{from: p, to: receiver})
	}
	s := w.streams[i]
	if slices.ContainsFunc(s.queue, func(q *steal.Message) bool { return sameResult(q, m) }) {
		return
	}
	s.queue = append(s.queue, m)
	if len(s.queue) == 1 {
		s.unsent, s.unheard = size, size
		w.pump(i)
	}
}

// sameResult says whether the transport would not send the second beside the first.
func sameResult(a, b *steal.Message) bool {
	if a.Relayed != nil && b.Relayed != nil {
		a, b = a.Relayed, b.Relayed
	}
	return a.Result != nil && b.Result != nil && a.From == b.From && a.To == b.To && a.Result.Handle == b.Result.Handle
}

// end is called when a peer is gone: what it had not sent is lost with it, and its next life has streams of its own.
func (w *bulk) end(p *peer) {
	for k, i := range w.index {
		if k.from == p.number {
			s := w.streams[i]
			s.queue, s.unsent = s.queue[:min(1, len(s.queue))], 0
			delete(w.index, k)
		}
	}
}

// pump sends chunks while the window lets it.
func (w *bulk) pump(stream int) {
	s := w.streams[stream]
	for s.flying < bulkWindow && s.unsent > 0 {
		n := min(bulkChunk, s.unsent)
		s.unsent -= n
		s.flying++
		w.hop(stream, s.from.cluster, n)
	}
}

// hop moves a chunk that is in a cluster one link further.
func (w *bulk) hop(stream, at, bytes int) {
	s := w.streams[stream]
	next, when, err := w.links.Forward(time.Duration(w.now), at, s.to.cluster, bytes)
	e := event{peer: -1, message: nil, number: uint64(stream)<<32 | uint64(bytes)}
	switch {
	case err == wan.ErrNoRoute || err == wan.ErrQueueFull:
		// The stream's own repetition hides both; that it takes long is for the core to notice.
		e.at, e.what, e.worker = w.now+bulkRetry, bulkHop, int32(at)
	case next == s.to.cluster:
		e.at, e.what = int64(when), bulkCame
	default:
		e.at, e.what, e.worker = int64(when), bulkHop, int32(next)
	}
	w.queue.post(e)
}

// arrived takes a chunk in: the last one completes the message. The acknowledgement needs the way back,
// but next to no bandwidth.
func (w *bulk) arrived(stream, bytes int) {
	s := w.streams[stream]
	s.unheard -= bytes
	back := time.Duration(0)
	if c, ok := w.links.Links().Conditions(s.to.cluster, s.from.cluster); ok {
		back = c.Latency
	}
	w.queue.post(event{at: w.now + int64(back), what: bulkAcked, peer: -1, number: uint64(stream) << 32})
	if s.unheard > 0 {
		return
	}
	m := s.queue[0]
	s.queue = s.queue[1:]
	if len(s.queue) > 0 {
		size := s.queue[0].Size() + w.cfg.FrameBytes
		s.unsent, s.unheard = size, size
		w.pump(stream)
	}
	w.queue.post(event{at: w.now, what: messageCame, peer: s.to.number, message: m})
}

// heard opens the window again.
func (w *bulk) heard(stream int) {
	w.streams[stream].flying--
	w.pump(stream)
}
