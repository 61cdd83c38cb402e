package objects

import (
	"slices"
	"time"

	"github.com/satin-peer/satin/sharedobj"
)

// liar is the peer that lies; nil: none does.
func (w *World) liar() *peer {
	if i := slices.IndexFunc(w.peers, func(p *peer) bool { return p.liar }); i >= 0 {
		return w.peers[i]
	}
	return nil
}

// lie has the liar send what nobody asked for, or what is not so, made of what it has seen.
func (w *World) lie() {
	liar := w.liar()
	for range 20 {
		to := w.anyPeer()
		if m := w.lieOf(liar); m != nil {
			m.From, m.To = liar.id, to.id
			to.absorb(to.core.Step(w.now, m))
		}
		n := w.rumour()
		if to.absorb(to.core.Hear(w.now, liar.id, n)); to.meets(liar) {
			w.relay(to, n)
		}
		if len(w.lattices) > 0 {
			m := &sharedobj.Message{From: liar.id, To: to.id, Announce: w.badOffer(liar)}
			to.absorb(to.core.Step(w.now, m))
		}
	}
	if w.now < w.cfg.Calm {
		w.post(w.upTo(time.Second), w.lie)
	}
}

func (w *World) rumour() *sharedobj.News {
	n := &sharedobj.News{}
	if len(w.lattices) > 0 {
		d := w.lattices[w.rnd.IntN(len(w.lattices))]
		n.Offers = append(n.Offers, sharedobj.Offer{Digest: d, Value: []byte{0, 0, 0, 1 + byte(w.rnd.IntN(6))}})
	}
	if len(w.objects) > 0 {
		o := w.objects[w.rnd.IntN(len(w.objects))]
		write := w.bytes(1 + w.rnd.IntN(50))
		r := o.recipe
		r.Parent, r.Write = r.Digest(), sharedobj.Build(write).Blob
		n.Writes = append(n.Writes, sharedobj.Told{Recipe: r, Write: write})
	}
	return n
}

// badOffer is what is not valid, as the liar's own word or another's. Whoever asks for it gets it, from liarHas.
func (w *World) badOffer(liar *peer) *sharedobj.Announce {
	d := w.lattices[w.rnd.IntN(len(w.lattices))]
	b := sharedobj.Build(append([]byte{0, 0, 0, 1 + byte(w.rnd.IntN(6))}, w.bytes(w.rnd.IntN(2000))...))
	w.lies[b.Top] = b
	origin := liar.id
	if w.rnd.IntN(2) == 0 {
		origin = w.peers[w.rnd.IntN(len(w.peers))].id
	}
	return &sharedobj.Announce{Origin: origin, Recipe: *w.seeds[d], Offer: b.Blob}
}

// liarHas gives a peer the pieces of a lie that it asks for.
func (w *World) liarHas(liar, p *peer, g *sharedobj.Get) {
	if b := w.lies[g.Top]; b != nil && p.up {
		for _, id := range g.Pieces {
			data, _ := b.Piece(id)
			p.absorb(p.core.Step(w.now, &sharedobj.Message{From: liar.id, To: p.id,
				Piece: &sharedobj.Piece{Top: g.Top, ID: id, Data: data}}))
		}
	}
}

func (w *World) lieOf(liar *peer) *sharedobj.Message {
	if len(w.seen) == 0 {
		return nil
	}
	m := *w.seen[w.rnd.IntN(len(w.seen))]
	switch {
	case m.Piece != nil:
		p := *m.Piece
		p.Data = w.bytes(1 + len(p.Data)/2)
		m.Piece = &p
	case m.Answer != nil:
		a := *m.Answer
		a.Status = sharedobj.Here
		for i := range a.Told {
			t := &a.Told[i]
			if len(t.State) > 0 {
				a.Told = append([]sharedobj.Told(nil), a.Told...)
				a.Told[i].State = w.bytes(len(t.State))
				break
			}
		}
		m.Answer = &a
	case m.Ask != nil:
		a := *m.Ask
		a.Digest[0] ^= byte(w.rnd.IntN(4))
		a.Holders = []sharedobj.PeerID{liar.id}
		m.Ask = &a
	case m.Announce != nil:
		a := *m.Announce
		size := w.rnd.Uint64N(1 << 40)
		a.Recipe.State.Size += size >> (size % 32) // also such as there is room for
		m.Announce = &a
	}
	return &m
}
