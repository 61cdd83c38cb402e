package sharedobj

import (
	"slices"
	"time"
)

// seek asks whom it is time to ask, and requests pieces.
func (c *fetcher) seek(f *fetch) {
	if f.pull != nil {
		f.pull.request(c.now, func(id PeerID, ids []PieceID) {
			c.send(id, &Message{Get: &Get{Top: f.pull.parts.blob.Top, Pieces: ids}})
		})
	}
	if f.restAt > c.now {
		return
	}
	if f.ways == nil {
		c.findWays(f)
	}
	for tier := range 3 {
		if !c.seekIn(f, tier) {
			return
		}
	}
	if !slices.ContainsFunc(f.ways, func(w *way) bool { return w.state == putOff }) {
		c.rest(f)
	}
}

// seekIn asks whom it is time to ask of one tier; true if that is nobody, and nobody's help can be hoped for. Whoever
// leaves too much unanswered is put off, and the next one asked: else one that is silent would hold all that it might
// have.
func (c *fetcher) seekIn(f *fetch, tier int) (inVain bool) {
	for {
		hope := f.hope(tier, c.now-c.cfg.AskTimeout)
		more := f.pull != nil && f.pull.parts.blob.Size >= large && hope < maxHolders
		if hope > 0 && !more {
			return false
		}
		w := f.freshWay(tier, c.now-c.cfg.RetryAfter)
		if w == nil {
			return hope == 0
		}
		at, ok := c.asking.ask(w.peer, f.digest)
		if w.state, w.at = asked, at; !ok {
			w.state, w.at = putOff, c.now
		} else if at == c.now {
			c.send(w.peer, &Message{Ask: c.question(f, w)})
			return false
		}
	}
}

// hope counts who helps in a tier, and those who may yet, having been asked after a time.
func (f *fetch) hope(tier int, after time.Duration) (n int) {
	for _, w := range f.ways {
		has := w.state == helps && (f.pull == nil || !f.pull.failed(w.peer))
		if w.tier == tier && (has || w.state == asked && w.at > after) {
			n++
		}
	}
	return n
}

// failed says whether a source was given up.
func (p *pull) failed(id PeerID) bool {
	s := p.source(id)
	return s != nil && s.misses >= maxMisses
}

// way is a peer among the ways, or nil.
func (f *fetch) way(id PeerID) *way {
	if f != nil {
		for _, w := range f.ways {
			if w.peer == id {
				return w
			}
		}
	}
	return nil
}

// freshWay is a peer of a tier that was not asked yet, nor put off since a time; nil if there is none.
func (f *fetch) freshWay(tier int, since time.Duration) *way {
	for _, w := range f.ways {
		if w.tier == tier && (w.state == fresh || w.state == putOff && w.at <= since) {
			return w
		}
	}
	return nil
}

// question asks the landing to fetch it, and others for what they have.
func (c *fetcher) question(f *fetch, w *way) *Ask {
	a := &Ask{Digest: f.digest}
	if w.tier == 0 && w.peer == c.place.landing(f.digest) {
		a.Holders = slices.Clone(f.holders[:min(maxHolders, len(f.holders))])
	}
	return a
}

// A fetch rests twice as long after each round in vain, at most so often.
const mostDoubled = 3

// rest waits after a round in vain. What nobody waits for here is given up then.
func (c *fetcher) rest(f *fetch) {
	c.refuseAskers(f)
	if f.pushed = false; !f.wanted() {
		c.giveUp(f)
		return
	}
	if f.pull != nil && f.write {
		f.target.spoilt = true // nobody has its write: perhaps somebody has the state
		c.dropPull(f)
	}
	f.restAt = c.now + c.cfg.RetryAfter<<min(f.rounds, mostDoubled)
	f.rounds++
}
