package objects

import (
	"time"

	"github.com/satin-peer/satin/sharedobj"
)

// lie has the liar send what nobody asked for, or what is not so, made of what it has seen.
func (w *World) lie() {
	liar := w.peers[len(w.peers)-1]
	for range 20 {
		to := w.anyPeer()
		if m := w.lieOf(liar, to); m != nil {
			m.From, m.To = liar.id, to.id
			to.absorb(to.core.Step(w.now, m))
		}
		to.absorb(to.core.Hear(w.now, liar.id, w.rumour()))
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

func (w *World) lieOf(liar, to *peer) *sharedobj.Message {
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
