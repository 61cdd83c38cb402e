package gossip

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Errors of Publish.
var (
	ErrTooLarge = errors.New("gossip: message too large")
	ErrBusy     = errors.New("gossip: too many messages")
	ErrClosed   = errors.New("gossip: closed")
)

// Publish tells everybody. It does not block: the payload, which must not be changed any more, waits in a
// bounded queue to be combined with others and sent. The errors are ErrTooLarge, ErrBusy when the queue is
// full or the kind's rate is exceeded (Config.KindRates; others would not take it), and ErrClosed. No error
// says nothing about who will get it.
func (g *Gossip) Publish(kind Kind, payload []byte) error {
	if kind == kindBeacon {
		return fmt.Errorf("gossip: kind %d is not for publishing", kind)
	}
	if len(payload) > g.cfg.MaxPayload {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(payload), g.cfg.MaxPayload)
	}
	if g.ctx.Err() != nil {
		return ErrClosed
	}
	if !g.authors.mayPublish(kind, time.Now()) || !g.enqueue(item{kind, payload}) {
		g.count.busy.Add(1)
		return ErrBusy
	}
	g.count.published.Add(1)
	return nil
}

// enqueue puts an item into the queue, and says whether there was room.
func (g *Gossip) enqueue(it item) bool {
	select {
	case g.queue <- it:
		return true
	default:
		return false
	}
}

// sendLoop combines what is in the queue. An envelope is closed when its first message has waited for CombineFor, or
// when there are CombineBytes; it leaves when the author's rate allows, and what is published until then waits in the
// queue. One with what workers wait for (KindShared) is closed as soon as CombineFor has passed since the last one: a
// word after a silence does not wait for others that may never come, and many are as few envelopes as ever.
func (g *Gossip) sendLoop() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var sent time.Time
	for {
		select {
		case <-g.ctx.Done():
			return
		case first := <-g.queue:
			timer.Reset(g.cfg.CombineFor)
			items, left := g.combine(first, timer, sent)
			for len(items) > 0 {
				size := itemsSize(items)
				for !g.authors.maySend(size, time.Now()) {
					timer.Reset(g.cfg.CombineFor)
					select {
					case <-g.ctx.Done():
						return
					case <-timer.C:
					}
				}
				g.send(items)
				sent = time.Now()
				items, left = left, nil
			}
		}
	}
}

// combine collects items until the timer fires. What does not fit into one envelope is left for a second.
func (g *Gossip) combine(first item, due *time.Timer, sent time.Time) (items, left []item) {
	items = []item{first}
	for size := itemsSize(items); size < g.cfg.CombineBytes && len(items) < maxItems; {
		if items[len(items)-1].Kind == KindShared {
			due.Reset(g.cfg.CombineFor - time.Since(sent))
		}
		select {
		case <-g.ctx.Done():
			return nil, nil
		case <-due.C:
			return items, nil
		case it := <-g.queue:
			size += itemSpare + len(it.Payload)
			if size > g.maxEnvelope-envelopeSpare {
				return items, []item{it}
			}
			items = append(items, it)
		}
	}
	return items, nil
}

func itemsSize(items []item) int {
	size := 0
	for _, it := range items {
		size += itemSpare + len(it.Payload)
	}
	return size
}

// send signs an envelope and publishes it in every topic this peer is in. What only says that a gateway is
// alive is for its cluster.
func (g *Gossip) send(items []item) {
	seq := g.nextSeq.Add(1)
	b, err := seal(g.codec, g.cfg.Swarm, g.key, envelope{Author: []byte(g.self), Seq: seq, Items: items})
	if err != nil {
		return
	}
	g.authors.deliver(g.self, seq)
	g.count.envelopes.Add(1)
	if hasBeacon(items) {
		now := time.Now()
		g.beaconed.Store(&now)
	}
	for _, r := range g.joined() {
		if r.class == wide && onlyBeacons(items) {
			continue
		}
		g.authors.pass(g.self, r.class, seq)
		_ = r.topic.Publish(g.ctx, b)
	}
}

func onlyBeacons(items []item) bool {
	return !slices.ContainsFunc(items, func(it item) bool { return it.Kind != kindBeacon })
}

func hasBeacon(items []item) bool {
	return slices.ContainsFunc(items, func(it item) bool { return it.Kind == kindBeacon })
}
