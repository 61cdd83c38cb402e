package objects

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/satin-peer/satin/sharedobj"
)

// move is the global method of the worlds' objects. It is neither commutative nor idempotent, so that a write that is
// applied twice or out of order shows.
func move(state, write []byte) []byte {
	next := bytes.Clone(state)
	carry := byte(len(write))
	for i := range next {
		carry = carry*31 + write[i%len(write)]
		next[i] = next[i]*5 + carry
	}
	return next
}

// set is the value of the worlds' lattices: numbers, joined by union. A number is its own witness: valid are those
// that leave no remainder.
type set map[uint32]bool

const witness = 7

func (s set) encode() (b []byte) {
	for _, n := range slices.Sorted(maps.Keys(s)) {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return b
}

func decode(b []byte) (set, bool) {
	s := set{}
	for ; len(b) >= 4; b = b[4:] {
		n := binary.BigEndian.Uint32(b)
		if n%witness != 0 {
			return nil, false
		}
		s[n] = true
	}
	return s, len(b) == 0
}

// engine is what a peer runs jobs with: the values that its core has pushed.
type engine struct {
	peer     *peer
	values   map[sharedobj.Digest][]byte
	lattices map[sharedobj.Digest]*lattice
	notes    map[string]bool
	jobs     map[sharedobj.JobID]*job // not yet ready or back
}

type lattice struct {
	value   set
	untold  set
	offered set // here
}

// offer is what a job does with what it finds.
func (g *engine) offer(d sharedobj.Digest, n uint32) {
	l := g.lattices[d]
	if l == nil || l.value[n] {
		return
	}
	l.value[n], l.untold[n], l.offered[n] = true, true, true
	if len(l.untold) == 1 { // of more it has been told, until it collects
		g.peer.absorb(g.peer.core.Offered(g.peer.world.now, d))
	}
}

// carryOut does what the core orders, in order. What runs the application's code takes time.
func (g *engine) carryOut(o sharedobj.Order) {
	w, p := g.peer.world, g.peer
	switch o.Kind {
	case sharedobj.OrderHere:
		p.fed = w.now
		g.here(o)
	case sharedobj.OrderForget:
		if p.pins[o.Digest] > 0 {
			w.violate(pinnedStays, "%s forgets %v", p.id, o.Digest)
		}
		delete(g.values, o.Digest)
	case sharedobj.OrderApply:
		p.later(func() {
			parent, ok := g.values[o.Parent]
			if !ok {
				w.violate(readsNamed, "%s is to apply a write to %v, which it has not got", p.id, o.Parent)
			}
			next := move(parent, o.Data)
			if p.skewed {
				next[0] ^= 1
			}
			p.absorb(p.core.Applied(w.now, o.Ticket, sharedobj.Build(next)))
		})
	case sharedobj.OrderJoin:
		p.later(func() { g.join(o) })
	case sharedobj.OrderCollect:
		p.later(func() {
			l := g.lattices[o.Digest]
			var b *sharedobj.Body
			if len(l.untold) > 0 {
				b = sharedobj.Build(l.untold.encode())
			}
			l.untold = set{}
			p.absorb(p.core.Collected(w.now, o.Digest, b))
		})
	case sharedobj.OrderEncode:
		p.later(func() {
			p.absorb(p.core.Encoded(w.now, o.Ticket, o.Digest, sharedobj.Build(g.lattices[o.Digest].value.encode())))
		})
	case sharedobj.OrderGuard:
		if j := g.jobs[o.Job]; j != nil {
			p.later(func() { p.absorb(p.core.Guarded(w.now, o.Job, j.guard(g))) })
		}
	case sharedobj.OrderReady, sharedobj.OrderBack:
		g.answered(o)
	case sharedobj.OrderTell:
		w.gossip(p, o.News)
	case sharedobj.OrderNote:
		if g.notes[o.Name] {
			w.violate(saysOnce, "%s says again: %s", p.id, o.Text)
		}
		g.notes[o.Name] = true
	case sharedobj.OrderFailed:
		g.failed(o)
	}
}

// here takes a value, which must be what was named.
func (g *engine) here(o sharedobj.Order) {
	w := g.peer.world
	if truth, ok := w.truth[o.Digest]; !ok || !bytes.Equal(truth, o.Data) {
		w.violate(readsNamed, "%s gets other bytes as %v (known: %v)", g.peer.id, o.Digest, ok)
	}
	g.values[o.Digest] = o.Data
	if w.seeds[o.Digest] != nil && g.lattices[o.Digest] == nil {
		g.lattices[o.Digest] = &lattice{set{}, set{}, set{}}
	}
	for _, r := range g.peer.reads[o.Digest] {
		r()
	}
	delete(g.peer.reads, o.Digest)
}

// failed is called when a read is given up. It may be while things go wrong, or if there is little room.
func (g *engine) failed(o sharedobj.Order) {
	w, p := g.peer.world, g.peer
	delete(p.reads, o.Digest)
	full := p.core.Stats().BytesHeld+uint64(len(w.truth[o.Digest])) > w.cfg.Core.MaxBytes/2
	if w.now > w.cfg.Calm+w.cfg.Core.ReadPatience && !full && p.somebodyHas(o.Digest) {
		w.violate(comesThrough, "%s cannot have %v: %v", p.id, o.Digest, o.Err)
	}
}

func (g *engine) join(o sharedobj.Order) {
	p := g.peer
	s, ok := decode(o.Data)
	l, changed := g.lattices[o.Digest], false
	for n := range s {
		if changed = changed || !l.value[n]; o.Own && !l.value[n] {
			l.untold[n] = true
		}
		l.value[n] = true
	}
	p.absorb(p.core.Joined(p.world.now, o.Ticket, ok, changed))
	if changed && o.Own {
		p.absorb(p.core.Offered(p.world.now, o.Digest))
	}
}

// answered is called when a job is ready, or goes back.
func (g *engine) answered(o sharedobj.Order) {
	w, p := g.peer.world, g.peer
	j := g.jobs[o.Job]
	if j == nil {
		w.violate(answersOnce, "%s: job %d is not waiting", p.id, o.Job)
	}
	delete(g.jobs, o.Job)
	patience := w.cfg.Core.Patience + tick
	if w.now > j.came+w.cfg.Core.ReadPatience+tick || w.now > max(j.came, p.fed+w.cfg.Core.Patience)+patience {
		w.violate(inTime, "job %d of %s has waited for %v", j.id, p.id, w.now-j.came)
	}
	if o.Kind == sharedobj.OrderBack {
		p.unpin(j.names)
		w.givenBack(j)
		return
	}
	for _, d := range j.names {
		if w.seeds[d] != nil {
			if l := g.lattices[d]; l == nil || !contains(l.value, j.floors[d]) {
				w.violate(floorHolds, "job %d begins at %s without its parent's value of %v", j.id, p.id, d)
			}
		} else if g.values[d] == nil {
			w.violate(guardHolds, "job %d begins at %s without %v", j.id, p.id, d)
		}
	}
	if j.wants != 0 && !j.guard(g) {
		w.violate(guardHolds, "job %d begins at %s though its guard is false", j.id, p.id)
	}
	w.begun++
	p.after(w.upTo(j.work), func() {
		j.run(g)
		p.unpin(j.names)
		p.absorb(p.core.JobDone(w.now, o.Job))
	})
}

func contains(all, some set) bool {
	for n := range some {
		if !all[n] {
			return false
		}
	}
	return true
}
