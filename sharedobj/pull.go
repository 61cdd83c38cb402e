package sharedobj

import (
	"slices"
	"time"
)

// pull gets one blob, in pieces, from several sources at once. Each source has a window of its own, so a fast one
// brings more; a piece that does not come in time, or is wrong, is requested from another. Pieces are requested in
// order, so that a source that is getting the blob itself can pass it on from its beginning.
type pull struct {
	parts   *assembly
	sources []*source
	least   time.Duration // Config.PieceTimeout
	most    int           // Config.MaxWindow
}

// source is a peer that pieces are requested of.
type source struct {
	peer   PeerID
	window window
	out    []sought
	misses int // timeouts in a row
	bad    bool
	heard  time.Duration // when it last brought something, or was added
}

// sought is a piece that was requested.
type sought struct {
	id PieceID
	at time.Duration
}

// maxMisses is how many timeouts in a row end a source.
const maxMisses = 3

func newPull(blob Blob, cfg *Config) *pull {
	return &pull{parts: newAssembly(blob), least: cfg.PieceTimeout, most: cfg.MaxWindow}
}

// add makes a peer a source. One that was given up before gets another chance, unless it lied.
func (p *pull) add(now time.Duration, id PeerID) {
	s := p.source(id)
	if s == nil {
		s = &source{peer: id, window: newWindow(p.most), heard: now}
		p.sources = append(p.sources, s)
	}
	if !s.bad && s.misses >= maxMisses { // what it says is no piece: others come before it
		p.sources = append(slices.DeleteFunc(p.sources, func(o *source) bool { return o == s }), s)
		s.misses, s.heard = 0, now
	}
}

func (p *pull) source(id PeerID) *source {
	for _, s := range p.sources {
		if s.peer == id {
			return s
		}
	}
	return nil
}

// drop takes back what was requested of a source.
func (p *pull) drop(s *source) {
	var back []PieceID
	for _, o := range s.out {
		back = append(back, o.id)
	}
	s.out = s.out[:0]
	p.parts.want = append(back, p.parts.want...)
}

// gone ends a source that has nothing, or cannot be reached.
func (p *pull) gone(id PeerID) {
	if s := p.source(id); s != nil {
		s.misses = maxMisses
		p.drop(s)
	}
}

// outcomes of a piece that came.
type taken uint8

const (
	unsought taken = iota // nobody asked this peer for it
	useful
	wrong
)

// take takes a piece in. Only what was requested of that peer counts.
func (p *pull) take(now time.Duration, from PeerID, piece *Piece) taken {
	s := p.source(from)
	if s == nil {
		return unsought
	}
	i := slices.IndexFunc(s.out, func(o sought) bool { return o.id == piece.ID })
	if i < 0 {
		return unsought
	}
	took := now - s.out[i].at
	if err := p.parts.put(piece.ID, piece.Data); err != nil {
		s.bad, s.misses = true, maxMisses
		p.drop(s)
		return wrong
	}
	s.out = slices.Delete(s.out, i, i+1)
	s.misses, s.heard = 0, now
	s.window.came(took)
	return useful
}

// request fills the windows: for each source, what to ask it for now.
func (p *pull) request(now time.Duration, ask func(PeerID, []PieceID)) {
	for _, s := range p.sources {
		if s.misses >= maxMisses {
			continue
		}
		var ids []PieceID
		for len(s.out) < s.window.size && len(ids) < maxPieces && len(p.parts.want) > 0 {
			id := p.parts.want[0]
			if p.parts.want = p.parts.want[1:]; !p.parts.has(id) {
				s.out = append(s.out, sought{id, now})
				ids = append(ids, id)
			}
		}
		if len(ids) > 0 {
			ask(s.peer, ids)
		}
	}
}

// expire takes back pieces that did not come in time.
func (p *pull) expire(now time.Duration) {
	for _, s := range p.sources {
		if len(s.out) > 0 && s.dueAt(p.least) <= now {
			s.window.lost()
			s.misses++
			p.drop(s)
		}
	}
}

func (s *source) dueAt(least time.Duration) time.Duration {
	return max(s.out[0].at, s.heard) + s.window.timeout(least)
}

// next is when expire has something to do; 0 is never.
func (p *pull) next() (at time.Duration) {
	for _, s := range p.sources {
		if len(s.out) > 0 {
			at = sooner(at, s.dueAt(p.least))
		}
	}
	return at
}

// stuck says whether no source is left.
func (p *pull) stuck() bool {
	return !slices.ContainsFunc(p.sources, func(s *source) bool { return s.misses < maxMisses })
}

// sooner is the earlier of two times, of which 0 is never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
