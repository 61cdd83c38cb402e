package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/satin-peer/satin/internal/driver"
	"github.com/satin-peer/satin/job"
	"github.com/satin-peer/satin/steal"
)

// An Outcast is a peer that is put out in the middle of a run. What it had a hand in is known in the modelled world,
// whatever vouchers say. Peer 0 is none. It goes with Config.Vouch.
type Outcast struct {
	Peer int
	At   time.Duration // each of the others hears of it soon after
}

// exile is what a peer knows of the outcast.
type exile struct {
	of    *peer
	heard bool // of it, which lasts
	left  bool // the peer had heard of it before it began to leave
}

// putOut puts the outcast out: nobody hears it from now on, and it does not come back.
func (h *harm) putOut() {
	o := h.world.cfg.Outcast
	p := h.world.peers[o.Peer]
	if h.world.out = true; p.alive {
		if !h.world.othersUp(p) {
			h.world.trace.line(h.world.now, p.id, "is spared: it is the last one")
			h.world.out = false
			return
		}
		h.crash(p)
	}
	h.world.trace.line(h.world.now, p.id, "is out")
	r := rand.New(rand.NewPCG(h.world.cfg.Seed, 0x6f757463617374))
	for _, q := range h.world.peers {
		h.world.queue.post(event{at: h.world.now + r.Int64N(maxGossip), what: sharedDue, peer: q.number,
			do: q.exile.hear})
	}
}

// begin is for a peer that begins a life.
func (x *exile) begin() {
	if x.heard = x.heard || x.of.world.out; x.heard {
		x.shun()
	}
}

// hear is the moment at which a peer hears of the outcast.
func (x *exile) hear() {
	if !x.heard {
		x.heard = true
		x.shun()
		x.of.settle()
	}
}

func (x *exile) shun() {
	w := x.of.world
	x.of.driver.Shun(x.of.local(), steal.Outcasts{Out: func(id steal.PeerID) bool { return w.of(id).exile.isIt() },
		Theirs: x.touched})
}

// isIt says whether the peer is the outcast.
func (x *exile) isIt() bool {
	return x.of.world.cfg.Outcast != nil && int(x.of.number) == x.of.world.cfg.Outcast.Peer
}

// touched says whether a voucher is the outcast's, or names it.
func (x *exile) touched(voucher []byte) bool {
	o := x.of.world.cfg.Outcast
	if o == nil || len(voucher) == 0 {
		return false
	}
	name := nameOf(int32(o.Peer))
	_, found := slices.BinarySearch(namesIn(voucher), name)
	return found || byOf(voucher) == int32(o.Peer)
}

// clean leaves out what a peer does not take in: what the outcast has sent or computed, or was made of that.
func (x *exile) clean(m *steal.Message) *steal.Message {
	if !x.heard {
		return m
	}
	inner := m
	if m.Relayed != nil {
		inner = m.Relayed
	}
	switch {
	case x.of.world.of(m.From.Peer).exile.isIt() || x.of.world.of(inner.From.Peer).exile.isIt():
		return nil
	case m.HandOver != nil:
		over := *m.HandOver
		if over.Parts = x.cleanParts(over.Parts); len(over.Parts) == 0 {
			return nil
		}
		left := *m
		left.HandOver = &over
		return &left
	}
	return m
}

func (x *exile) cleanParts(parts []steal.Partial) []steal.Partial {
	if !x.heard {
		return parts
	}
	return slices.DeleteFunc(slices.Clone(parts), func(p steal.Partial) bool { return x.touched(p.Voucher) })
}

// checkTouched sees to it that what the outcast had a hand in says so, wherever it goes.
func (x *witness) checkTouched(path job.Path, o *outcome, voucher []byte) {
	if o.touched && !x.of.exile.touched(voucher) {
		panic(violation(touchedSaysSo, "%s has an outcome of %v that the outcast had a hand in, and which names it not",
			x.of.id, path))
	}
}

// checkShunned sees to it that nothing of the outcast's is stored by whoever has heard of it, but what had come home.
func (x *witness) checkShunned(part *steal.Partial, from driver.Source) {
	if x.of.exile.heard && from != driver.CameHome && len(part.Path) > 0 && x.of.exile.touched(part.Voucher) {
		panic(violation(shunnedIsGone, "%s stores an outcome of %v that the outcast had a hand in", x.of.id, part.Path))
	}
}

// checkSent is for results: of a segment that has just come to its end.
func (x *witness) checkSent(r *steal.Result) {
	if x.ended != nil && x.of.exile.heard && slices.Equal(x.ended, r.Path) && x.of.exile.touched(r.Voucher) {
		panic(violation(shunnedIsGone, "%s brings home an outcome of %v that the outcast had a hand in", x.of.id, r.Path))
	}
}
