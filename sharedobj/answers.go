package sharedobj

import "slices"

// onAnswer learns from a peer that was asked. Recipes prove themselves, and bytes hash to what they name.
func (c *fetcher) onAnswer(from PeerID, a *Answer) {
	f := c.byDigest[a.Digest]
	sought := c.asking.answered(from, a.Digest)
	w := f.way(from)
	switch {
	case f == nil || !sought && (w == nil || w.state < asked):
		c.stats.Unsought++
		return
	case w == nil: // it was asked in another round
		w = &way{peer: from, tier: 1}
		f.ways = append(f.ways, w)
	}
	if w.state = helps; sought && a.Status != Lacking {
		f.restAt = 0
	}
	if a.Status == Lacking {
		f.lost(from)
	}
	for i := range a.Told {
		t := &a.Told[i]
		e := c.knowFrom(&t.Recipe, f.payer())
		if e == nil {
			break
		}
		if i == 0 && a.Status == Here {
			c.addHolder(e, from)
		}
		c.learn(e, t)
	}
	if c.byDigest[a.Digest] != f {
		return // it came with the answer
	}
	if e := c.store.find(a.Digest); e != nil {
		for i := range f.askers {
			if q := &f.askers[i]; !q.told {
				q.told = true
				c.send(q.peer, &Message{Answer: c.serve.answer(a.Digest)})
			}
		}
		if a.Status != Lacking && f.pull != nil {
			f.pull.add(c.now, from)
		}
	}
	c.advance(f)
}

// learn takes in the bytes that came with a recipe.
func (c *fetcher) learn(e *entry, t *Told) {
	if len(t.Write) > 0 && e.write == nil && !e.recipe.First() {
		if b := Build(t.Write); b.Blob == e.recipe.Write {
			c.store.putWrite(e, b)
		} else {
			c.stats.Wrong++
		}
	}
	if len(t.State) > 0 && e.state == nil && c.byDigest[e.digest] != nil {
		if b := Build(t.State); b.Blob != e.recipe.State {
			c.stats.Wrong++
		} else if c.store.putState(e, b) {
			e.lent = c.byDigest[e.digest].forGuests()
			c.arrived(e, 0)
		}
	}
}

func (c *base) addHolder(e *entry, id PeerID) {
	if !c.place.guests[id] && !slices.Contains(e.holders, id) {
		if len(e.holders) == maxHolders {
			e.holders = e.holders[1:]
		}
		e.holders = append(e.holders, id)
	}
}

// onPiece gives a piece to the fetches and errands that requested it.
func (c *fetcher) onPiece(from PeerID, p *Piece) {
	result := unsought
	for _, f := range slices.Clone(c.list) {
		if f.pull != nil && f.pull.parts.blob.Top == p.Top {
			result = max(result, c.piece(f, from, p))
		}
	}
	for _, e := range slices.Clone(c.errands.list) {
		if e.pull.parts.blob.Top == p.Top {
			result = max(result, e.pull.take(c.now, from, p))
			c.errands.advanceErrand(e)
		}
	}
	switch result {
	case unsought:
		c.stats.Unsought++
	case wrong:
		c.stats.Wrong++
	}
}

func (c *fetcher) piece(f *fetch, from PeerID, p *Piece) taken {
	t := f.pull.take(c.now, from, p)
	if t == useful {
		c.serve.serveHeld(p.Top)
	}
	if b, ok := f.pull.parts.whole(); ok {
		e, write := f.target, f.write
		c.dropPull(f)
		if !c.gotBody(e, write, b) {
			c.full(f) // there is no room for it any more
		}
		c.advance(f) // before others, which may look for room and drop what its next step needs
		c.advanceAll()
		return t
	}
	c.advance(f)
	return t
}

// onGone: a source has nothing of a blob.
func (c *fetcher) onGone(from PeerID, top Hash) {
	for _, f := range slices.Clone(c.list) {
		if f.pull != nil && f.pull.parts.blob.Top == top && f.pull.source(from) != nil {
			if f.write {
				f.target.spoilt = true
				c.dropPull(f)
			} else {
				f.lost(from)
			}
			c.advance(f)
		}
	}
	for _, e := range slices.Clone(c.errands.list) {
		if e.pull.parts.blob.Top == top {
			e.pull.gone(from)
			c.errands.advanceErrand(e)
		}
	}
}
