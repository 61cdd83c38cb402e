package sharedobj

import (
	"slices"
	"time"
)

// server answers what others ask for. What is on its way here is asked for too: such requests are held until the
// piece is here.
type server struct {
	*base
	held   map[Hash][]heldGet
	of     map[PeerID]int // how many of them are each peer's
	n      int
	meters map[PeerID]*meter
	rate   uint64
	wait   time.Duration
	oldest time.Duration
}

// heldGet is a piece that a peer waits for.
type heldGet struct {
	peer PeerID
	id   PieceID
	at   time.Duration
}

// maxHeld bounds the pieces that are waited for, of all peers, of which one may have a part, and of one for one blob.
const (
	maxHeld     = 1 << 14
	maxHeldEach = 2 * maxPieces
)

func newServer(b *base) *server {
	return &server{base: b, held: make(map[Hash][]heldGet), of: make(map[PeerID]int),
		meters: make(map[PeerID]*meter), rate: b.cfg.ServeRate,
		wait: 4 * b.cfg.PieceTimeout}
}

// meter bounds what one peer gets: a second's worth at once.
type meter struct {
	left uint64
	at   time.Duration
}

// spend says whether a peer may have so many bytes more.
func (s *server) spend(now time.Duration, id PeerID, n uint64) bool {
	m := s.meters[id]
	if m == nil {
		m = &meter{left: s.rate}
		s.meters[id] = m
	} else {
		more := uint64(min(now-m.at, time.Second).Seconds() * float64(s.rate))
		m.left = min(s.rate, m.left+more)
	}
	if m.at = now; m.left < n {
		return false
	}
	m.left -= n
	return true
}

// hold keeps a request until the piece is here; false if there are too many.
func (s *server) hold(now time.Duration, top Hash, g heldGet) bool {
	each := 0
	for _, h := range s.held[top] {
		if h.peer == g.peer {
			if h.id == g.id {
				return true
			}
			each++
		}
	}
	if s.n >= maxHeld || s.of[g.peer] >= maxHeld/senderPart || each >= maxHeldEach {
		return false
	}
	if s.n == 0 {
		s.oldest = now
	}
	s.held[top] = append(s.held[top], g)
	s.n++
	s.of[g.peer]++
	return true
}

// drop takes some of the requests for a blob off the table.
func (s *server) drop(top Hash, which func(heldGet) bool) {
	l := slices.DeleteFunc(s.held[top], func(g heldGet) bool {
		if !which(g) {
			return false
		}
		s.n--
		if s.of[g.peer]--; s.of[g.peer] == 0 {
			delete(s.of, g.peer)
		}
		return true
	})
	if s.held[top] = l; len(l) == 0 {
		delete(s.held, top)
	}
}

// expire forgets requests whose peers have asked others by now.
func (s *server) expire(now time.Duration) {
	if s.n == 0 || s.oldest+s.wait > now {
		return
	}
	s.filter(func(g heldGet) bool { return g.at+s.wait <= now })
	s.oldest = now
}

// lost forgets what a peer asked for.
func (s *server) lost(id PeerID) {
	s.filter(func(g heldGet) bool { return g.peer == id })
	delete(s.meters, id)
}

func (s *server) filter(drop func(heldGet) bool) {
	for top := range s.held { // in any order: each is treated alone
		s.drop(top, drop)
	}
}

func (s *server) next() time.Duration {
	if s.n == 0 {
		return 0
	}
	return s.oldest + s.wait
}

// onAsk answers with what is known, and fetches for the cluster what is not here.
func (c *server) onAsk(from PeerID, a *Ask) {
	e := c.store.find(a.Digest)
	f := c.fetches.byDigest[a.Digest]
	if e != nil && (e.state != nil || f != nil) {
		c.sendAnswer(from, c.answer(a.Digest))
		if e.state != nil {
			c.addHolder(e, from)
			return
		}
	}
	if f != nil || c.mayAdopt(from, a) {
		if f == nil {
			if f = c.fetches.fetch(a.Digest, a.Holders...); f != nil {
				f.from = from
			}
		}
		if f != nil && len(f.askers) < maxAskers && c.place.near(from) {
			if !slices.ContainsFunc(f.askers, func(q asker) bool { return q.peer == from }) {
				f.askers = append(f.askers, asker{from, e != nil})
			}
			c.fetches.advance(f)
			return
		}
	}
	if e == nil || f == nil {
		c.send(from, &Message{Answer: c.answer(a.Digest)})
	}
}

// sendAnswer sends the bytes along only to whom they may be served: the others ask for them.
func (c *server) sendAnswer(to PeerID, a *Answer) {
	n := 0
	for i := range a.Told {
		n += len(a.Told[i].Write) + len(a.Told[i].State)
	}
	if n > 0 && !c.spend(c.now, to, uint64(n)) {
		c.stats.Refused++
		for i := range a.Told {
			a.Told[i].Write, a.Told[i].State = nil, nil
		}
	}
	c.send(to, &Message{Answer: a})
}

// maxAskers bounds who is told of one fetch.
const maxAskers = 256

// mayAdopt says whether a version is to be fetched for another peer of the cluster.
func (c *server) mayAdopt(from PeerID, a *Ask) bool {
	if c.place.guests[from] {
		return c.mayFetchFor(from)
	}
	if len(a.Holders) == 0 || !c.place.near(from) || c.place.landing(a.Digest) != c.self {
		return false
	}
	return c.fetches.foreign(from)
}

// answer says what is known of a version: its recipe and, as long as that is the shorter way, the writes before it.
func (c *server) answer(d Digest) *Answer {
	a := &Answer{Digest: d, Status: Lacking}
	e := c.store.find(d)
	switch {
	case e == nil:
		return a
	case e.state != nil:
		a.Status = Here
	case c.fetches.byDigest[d] != nil:
		a.Status = Coming
	}
	way, bytes := uint64(0), 0
	for v := e; v != nil && len(a.Told) < maxTold; v = c.store.find(v.recipe.Parent) {
		t := Told{Recipe: v.recipe}
		if v == e && e.state != nil && e.state.Size <= maxInline {
			t.State = e.state.Bytes()
		} else if w := v.write; w != nil && w.Size <= maxInline && bytes+int(w.Size) <= maxAnswer-maxInline {
			t.Write = w.Bytes()
		}
		bytes += len(t.Write) + len(t.State)
		a.Told = append(a.Told, t)
		if way += v.recipe.Write.Size; len(t.State) > 0 || v.recipe.First() || way >= e.recipe.State.Size ||
			v.write == nil {
			break
		}
	}
	return a
}

// onGet sends pieces that are here, holds requests for those on their way, and says so if there will be none.
func (c *server) onGet(from PeerID, g *Get) {
	b, parts := c.store.body(g.Top), c.partsOf(g.Top)
	if b == nil && parts == nil && !c.expects(g.Top) {
		c.send(from, &Message{Gone: &Gone{g.Top}})
		return
	}
	for _, id := range g.Pieces {
		if !c.sendPiece(from, g.Top, id, b, parts) && b == nil &&
			!c.hold(c.now, g.Top, heldGet{from, id, c.now}) {
			c.stats.Refused++
		}
	}
}

// sendPiece sends one that is here; false if it is not.
func (c *server) sendPiece(to PeerID, top Hash, id PieceID, b *Body, parts *assembly) bool {
	var data []byte
	ok := false
	if b != nil {
		data, ok = b.Piece(id)
	} else if parts != nil {
		data, ok = parts.piece(id)
	}
	if !ok {
		return false
	}
	if !c.spend(c.now, to, uint64(len(data))+64) {
		c.stats.Refused++
		return true
	}
	c.send(to, &Message{Piece: &Piece{Top: top, ID: id, Data: data}})
	return true
}

// partsOf finds a blob on its way here.
func (c *server) partsOf(top Hash) *assembly {
	for _, f := range c.fetches.list {
		if f.pull != nil && f.pull.parts.blob.Top == top {
			return f.pull.parts
		}
	}
	for _, e := range c.errands.list {
		if e.pull.parts.blob.Top == top {
			return e.pull.parts
		}
	}
	return nil
}

// expects says whether a fetch will bring a blob, though perhaps in another way: by a write applied here.
func (c *server) expects(top Hash) bool {
	return slices.ContainsFunc(c.fetches.list, func(f *fetch) bool {
		e := c.store.find(f.digest)
		return e != nil && e.recipe.State.Top == top
	})
}

// serveHeld sends what was waited for and is here now.
func (c *server) serveHeld(top Hash) {
	if len(c.held[top]) == 0 {
		return
	}
	b, parts := c.store.body(top), c.partsOf(top)
	c.drop(top, func(g heldGet) bool { return c.sendPiece(g.peer, top, g.id, b, parts) })
}

// refuseHeld tells those who wait for pieces of a blob that will not come.
func (c *server) refuseHeld(top Hash) {
	var told []PeerID
	c.drop(top, func(g heldGet) bool {
		if !slices.Contains(told, g.peer) {
			told = append(told, g.peer)
			c.send(g.peer, &Message{Gone: &Gone{top}})
		}
		return true
	})
}
