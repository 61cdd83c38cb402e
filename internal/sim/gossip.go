package sim

import (
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
	reached := w.reach(p.cluster, size)
	counted := make([]bool, len(reached))
	for _, to := range w.cast.peers {
		if !to.alive || to == p {
			continue
		}
		delay := reached[to.cluster]
		if delay < 0 || w.happens(w.cfg.Gossip.Loss) {
			w.counts.NewsLost++
			continue
		}
		if to.cluster != p.cluster && !counted[to.cluster] { // once over the wide area, then within the cluster
			counted[to.cluster] = true
			w.counts.NewsBytesWide += uint64(size)
		}
		w.counts.NewsBytesLocal += uint64(size)
		fate := w.weather.fate(p, to, nil)
		if fate.copies > 0 && w.happens(w.cfg.Gossip.Repeat) {
			fate.copies++
		}
		if fate.copies == 0 {
			w.counts.NewsLost++
		}
		for range fate.copies {
			at := w.now + delay + fate.delay
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

// reach says how long a message takes from one cluster to every other by way of whichever links there are;
// -1: there is no way.
func (w *broadcast) reach(from, size int) []int64 {
	links := w.links.Links()
	n := links.Clusters()
	took := make([]int64, n)
	for i := range took {
		took[i] = -1
	}
	cost := func(a, b int) (int64, bool) {
		c, ok := links.Conditions(a, b)
		return int64(c.Latency + c.Transmission(size)), ok
	}
	took[from], _ = cost(from, from)
	for better := true; better; { // a few clusters: Bellman and Ford will do
		better = false
		for a := range n {
			for b := range n {
				if d, ok := cost(a, b); a != b && ok && took[a] >= 0 && (took[b] < 0 || took[a]+d < took[b]) {
					took[b], better = took[a]+d, true
				}
			}
		}
	}
	return took
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
