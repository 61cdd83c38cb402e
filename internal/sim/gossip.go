package sim

import (
	"time"

	"github.com/satin-peer/satin/internal/wan"
	"github.com/satin-peer/satin/steal"
)

// broadcast brings news to everybody.
type broadcast struct {
	*stage
	cast    *cast
	links   *wan.Model
	weather *weather
	audit   *audit
}

// never is when a message arrives at a cluster that no links lead to.
const never = int64(wan.Never)

// tell sends news to everybody who is there: a broadcast with delays, losses and repetitions of its own,
// besides what the weather does to all messages. Whoever comes later gets nothing of it.
func (w *broadcast) tell(p *peer, n *steal.News) {
	checkNews(&w.cfg.Core, n)
	size := n.Size() + w.cfg.FrameBytes
	if len(n.Tuples) > 0 {
		w.counts.News++
		w.audit.told(n.Tuples)
	} else {
		w.counts.Beacons++
	}
	w.counts.NewsTuples += uint64(len(n.Tuples))
	p.charge(size)
	if n.Master != nil {
		p.beaconAt = w.now
	}
	if w.trace != nil {
		w.trace.told(w.now, p, n, size)
	}
	arrives := w.reach(p.cluster, size)
	counted := make([]bool, len(arrives))
	for _, to := range w.cast.peers {
		if !to.alive || to == p {
			continue
		}
		if arrives[to.cluster] == never || w.happens(w.cfg.Gossip.Loss) {
			continue
		}
		if to.cluster != p.cluster && !counted[to.cluster] { // once over the wide area, then within the cluster
			counted[to.cluster] = true
			w.counts.NewsBytesWide += uint64(size)
		}
		fate := w.weather.fate(p, to, nil)
		if fate.copies > 0 && w.happens(w.cfg.Gossip.Repeat) {
			fate.copies++
		}
		for range fate.copies {
			at := arrives[to.cluster] + fate.delay
			if most := int64(w.cfg.Gossip.Delay) + fate.shuffle; most > 0 {
				at += w.random.Int64N(most)
			}
			said := n
			if fate.damage {
				said = w.damagedNews(n)
			}
			w.queue.post(event{at: at, what: newsCame, peer: to.number, news: said})
		}
	}
}

// reach says when a message gets to the peers of each cluster, by way of whichever links there are; never: there is no
// way. It takes its turn on every link that it crosses, and crosses each once.
func (w *broadcast) reach(from, size int) []int64 {
	local, _ := w.links.Links().Conditions(from, from)
	arrives := make([]int64, w.links.Links().Clusters())
	for i, at := range w.links.Spread(time.Duration(w.now), from, size) {
		arrives[i] = never
		if at != wan.Never {
			arrives[i] = int64(at + local.Latency + local.Transmission(size))
		}
	}
	return arrives
}

// hear brings news to a peer.
func (p *peer) hear(n *steal.News) {
	w := p.world
	if p.address() == n.From || len(w.net.weather.active) > 0 && w.net.weather.blocked(w.of(n.From.Peer), p) {
		return
	}
	p.charge(n.Size() + w.cfg.FrameBytes)
	if w.trace != nil {
		w.trace.heard(w.now, p, n)
	}
	p.driver.Hear(p.local(), n)
	p.settle()
}

// damagedNews is what a receiver must see through, or be able to live with.
func (w *broadcast) damagedNews(n *steal.News) *steal.News {
	c := *n
	switch w.random.IntN(4) {
	case 0:
		c.Run[0] ^= 1
	case 1:
		c.From.Inc--
	case 2: // nothing is said
		c.Tuples, c.Master = nil, nil
	case 3: // of other jobs: a path without its identity says nothing
		c.Tuples = append([]steal.Tuple(nil), n.Tuples...)
		for i := range c.Tuples {
			c.Tuples[i].Identity[0] ^= 1
		}
	}
	return &c
}
