package sim

import (
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
)

// refusedAfter is how long a transport takes to notice that a message cannot be sent.
const refusedAfter = int64(2 * time.Millisecond)

// network carries messages: within clusters at once, between them over modelled links, as the weather lets it.
type network struct {
	*stage
	cast    *cast
	links   *wan.Model
	weather *weather
	bulk    *bulk
}

// send puts a message on its way.
func (w *network) send(p *peer, m *steal.Message) {
	size := m.Size() + w.cfg.FrameBytes
	receiver := w.cast.of(m.To.Peer)
	checkMessage(&w.cfg.Core, m)
	w.countSent(p, receiver, size)
	p.charge(size)
	if w.trace != nil {
		w.trace.sent(w.now, p, m, size)
	}
	fate := w.weather.fate(p, receiver, m)
	if fate.refuse {
		w.trace.line(w.now, p.id, "  refused: %v to %s", m.Kind(), m.To.Peer)
		w.queue.post(event{at: w.now + refusedAfter, what: sendRefused, peer: p.number, message: m})
		return
	}
	if fate.damage {
		w.trace.line(w.now, p.id, "  damaged: %v to %s", m.Kind(), m.To.Peer)
		m = w.weather.damaged(m)
		w.counts.Lost++
	}
	w.counts.Repeated += uint64(max(0, fate.copies-1))
	for range fate.copies {
		w.launch(p, receiver, m, size, fate)
	}
	if fate.copies == 0 {
		w.counts.Lost++
		w.trace.line(w.now, p.id, "  lost: %v to %s", m.Kind(), m.To.Peer)
	}
}

// launch sends one copy: within a cluster to the receiver, else to the first cluster on the way.
func (w *network) launch(p, receiver *peer, m *steal.Message, size int, fate fate) {
	at := w.now + fate.delay
	if fate.shuffle > 0 {
		at += w.random.Int64N(fate.shuffle)
	}
	if p.cluster == receiver.cluster {
		local, _ := w.links.Links().Conditions(p.cluster, p.cluster)
		p.nicFree = max(p.nicFree, w.now) + int64(local.Transmission(size))
		at += p.nicFree - w.now + int64(local.Latency)
		w.queue.post(event{at: at, what: messageCame, peer: receiver.number, message: m})
		return
	}
	if at > w.now {
		// The delay is before the link, which takes messages in the order in which they reach it.
		w.queue.post(event{at: at, what: messageHop, peer: receiver.number, worker: int32(p.cluster), message: m})
		return
	}
	w.hop(receiver, p.cluster, m)
}

// hop sends a message that is in a cluster over the next link to its receiver.
func (w *network) hop(receiver *peer, at int, m *steal.Message) {
	sender := w.cast.of(m.From.Peer)
	size := m.Size() + w.cfg.FrameBytes
	if size > bulkChunk && at == sender.cluster {
		w.bulk.send(sender, receiver, m, size)
		return
	}
	next, when, err := w.links.Forward(time.Duration(w.now), at, receiver.cluster, size)
	switch {
	case err == wan.ErrNoRoute:
		w.trace.line(w.now, sender.id, "  no route for %v to %s", m.Kind(), m.To.Peer)
		w.queue.post(event{at: w.now + refusedAfter, what: sendRefused, peer: sender.number, message: m})
	case err != nil:
		w.counts.Lost++
		w.trace.line(w.now, m.From.Peer, "  dropped by a full queue: %v to %s", m.Kind(), m.To.Peer)
	case next == receiver.cluster:
		local, _ := w.links.Links().Conditions(next, next)
		w.queue.post(event{at: int64(when + local.Latency), what: messageCame, peer: receiver.number, message: m})
	default:
		w.queue.post(event{at: int64(when), what: messageHop, peer: receiver.number, worker: int32(next), message: m})
	}
}

// longResult is one that tells of its link's bandwidth.
const longResult = 64 << 10

// seen is the bandwidth that a long result would tell of if it left now: it waits for all that the link has accepted,
// in either direction, as somebody asks for it. 0: there is no link.
func (w *network) seen(from, to int) float64 {
	c, ok := w.links.Links().Conditions(from, to)
	if !ok {
		return 0
	}
	now := time.Duration(w.now)
	took := c.Transmission(longResult) + max(w.links.Backlog(now, from, to), w.links.Backlog(now, to, from))
	return longResult / took.Seconds()
}

// receive hands a message to its receiver's core.
func (p *peer) receive(m *steal.Message) {
	w := p.world
	if len(w.net.weather.active) > 0 && w.net.weather.blocked(w.of(m.From.Peer), p) {
		w.counts.Lost++ // cut off while it was on the way
		return
	}
	w.counts.Received++
	p.charge(m.Size() + w.cfg.FrameBytes)
	if w.trace != nil {
		w.trace.received(w.now, p, m)
	}
	if m = p.exile.clean(m); m == nil {
		return
	}
	p.witness.examined = examined{message: m}
	p.driver.Step(p.local(), p.hoard.hears(m))
	p.settle()
}

// refused tells the sender that a message was not sent.
func (p *peer) refused(m *steal.Message) {
	if m.From.Inc != p.inc {
		return // it has started again since
	}
	p.driver.SendFailed(p.local(), m)
	p.settle()
}

func (w *network) countSent(p, receiver *peer, size int) {
	c := &w.counts
	if p.cluster == receiver.cluster {
		c.MessagesLocal++
		c.BytesLocal += uint64(size)
	} else {
		c.MessagesWide++
		c.BytesWide += uint64(size)
	}
	if p.usage.sends.tooMany(w.now) {
		panic(violation(noSpin, "%s sends more than %d messages within a second", p.id, maxRate))
	}
}

// rate counts what a peer does within a second, for no-spin.
type rate struct {
	second int64
	n      int
}

func (r *rate) tooMany(now int64) bool {
	if second := now / int64(time.Second); second != r.second {
		r.second, r.n = second, 0
	}
	r.n++
	return r.n > maxRate
}
