package objects

import (
	"encoding/binary"
	"time"

	"github.com/satin-peer/satin/sharedobj"
)

// search is a branch-and-bound run: tours in portions, evaluated in jobs that share the least cost as a
// lattice. A job returns the best tour that it did not prune; what a crashed peer had found is lost, but its
// jobs run again.
type search struct {
	world   *World
	recipe  sharedobj.Recipe
	seed    *sharedobj.Body
	lattice sharedobj.Digest
	tours   []uint32 // costs
	left    []int    // portions that nobody has returned
	best    int
	cost    uint32
}

const portion = 4

// prunes says whether a tour of that cost is not worth returning when somebody has said that he has one of bound. Not
// one of the same cost: whoever said it may be gone.
func prunes(cost, bound uint32) bool { return cost > bound }

func newSearch(w *World) *search {
	s := &search{world: w, best: -1}
	for range w.cfg.Search * portion {
		s.tours = append(s.tours, (10+w.rnd.Uint32N(30))*witness)
	}
	for i := range w.cfg.Search {
		s.left = append(s.left, i)
	}
	seed := binary.BigEndian.AppendUint32(nil, uint32(len(s.tours)))
	s.recipe, s.seed = w.create(sharedobj.Lattice, w.peers[0], seed), sharedobj.Build(seed)
	s.lattice = s.recipe.Digest()
	w.lattices = append(w.lattices, s.lattice)
	w.offers[s.lattice] = set{}
	w.post(time.Second, s.deal)
	return s
}

// deal gives every portion that is left to somebody.
func (s *search) deal() {
	w := s.world
	if len(s.left) == 0 {
		return
	}
	victim := w.peers[0]
	if !victim.up {
		victim = w.anyPeer()
	}
	if victim.engine.values[s.lattice] == nil { // a root that is run again derives the same names
		victim.absorb(victim.core.Created(w.now, &s.recipe, s.seed))
	}
	for _, n := range s.left {
		j := &job{victim: victim, names: []sharedobj.Digest{s.lattice}, work: 2 * time.Second,
			floors: make(map[sharedobj.Digest]set), run: func(g *engine) { s.evaluate(g, n) }}
		if thief := w.anyPeer(); thief != victim && thief.meets(victim) {
			w.launch(j, thief)
		} else { // in place
			victim.after(w.upTo(j.work), func() { s.evaluate(victim.engine, n) })
		}
	}
	w.post(w.cfg.Core.Patience+10*time.Second, s.deal)
}

// evaluate looks at a portion. Its result may be lost: a crash after the offer.
func (s *search) evaluate(g *engine, n int) {
	w := s.world
	best := -1
	for t := n * portion; t < (n+1)*portion; t++ {
		cost := s.tours[t]
		bound := uint32(1 << 31)
		for b := range g.lattices[s.lattice].value {
			bound = min(bound, b)
		}
		if prunes(cost, bound) || best >= 0 && s.tours[best] <= cost {
			continue
		}
		best = t
		w.offers[s.lattice][cost] = true
		g.offer(s.lattice, cost)
	}
	if best >= 0 && w.now < w.cfg.Calm && w.rnd.IntN(2) == 0 { // whoever knows it first is gone before he returns it
		g.peer.after(500*time.Millisecond, func() { w.crash(g.peer) })
	}
	g.peer.after(time.Second, func() { s.returned(n, best) })
}

// returned is a result that has come home. Of equal ones the first tour counts, whoever came first.
func (s *search) returned(n, best int) {
	for i, m := range s.left {
		if m == n {
			s.left = append(s.left[:i], s.left[i+1:]...)
			if best >= 0 && (s.best < 0 || s.tours[best] < s.cost) {
				s.best, s.cost = best, s.tours[best]
			}
			return
		}
	}
}

func (s *search) verify() {
	least := s.tours[0]
	for _, t := range s.tours {
		least = min(least, t)
	}
	if len(s.left) > 0 || s.best < 0 || s.cost != least {
		s.world.violate(exact, "the best tour costs %d, %d was found and %d portions are left", least, s.cost,
			len(s.left))
	}
}
