package tsp

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var circle = newInstance("circle", 24, func(a, b int) int32 {
	at := func(i int) point {
		sin, cos := math.Sincos(float64(i) * math.Pi / 12)
		return point{1000 * cos, 1000 * sin}
	}
	return int32(metrics["EUC_2D"](at(a), at(b)))
})

// tours yields every tour of n cities in one direction.
func tours(n int, yield func(order []uint8)) {
	order := ascending(n)
	var extend func(i int)
	extend = func(i int) {
		if i == n && order[1] < order[n-1] {
			yield(order)
		}
		for j := i; j < n; j++ {
			order[i], order[j] = order[j], order[i]
			extend(i + 1)
			order[i], order[j] = order[j], order[i]
		}
	}
	extend(1)
}

// allowed tells whether a tour contains the chosen edges and none that is discarded.
func allowed(edges []uint8, order []uint8) bool {
	n := len(order)
	on := make([]bool, n*n)
	last := order[n-1]
	for _, city := range order {
		on[int(last)*n+int(city)], on[int(city)*n+int(last)] = true, true
		last = city
	}
	for i, e := range edges {
		if e == chosen && !on[i] || e == discarded && on[i] {
			return false
		}
	}
	return true
}

// TestBoundHolds: whatever the penalties are, and whatever has been decided, no allowed tour is shorter than
// the 1-tree.
func TestBoundHolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSubproblem(rt)
		r := relax(&s)
		for a := range s.Map.Cities {
			r.penalty[a] = rapid.Int32Range(-maxPenalty, maxPenalty).Draw(rt, "penalty") >> rapid.IntRange(0,
				20).Draw(rt, "size")
		}
		bound, connected := r.build()
		tours(s.Map.Cities, func(order []uint8) {
			if !allowed(s.Edges, order) {
				return
			}
			if !connected {
				rt.Fatalf("tour %v is allowed, but the edges are said not to connect the cities", order)
			}
			if length := s.Map.tour(order).Length << s.Shift; length < bound {
				rt.Fatalf("tour %v is %d long, below the bound %d", order, length, bound)
			}
		})
	})
}

// TestConclusionsLoseNoTour: settling decisions keeps exactly the tours that they allow.
func TestConclusionsLoseNoTour(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSubproblem(rt)
		d := decided(&s)
		for a := range uint8(s.Map.Cities) {
			d.dirty = append(d.dirty, a)
		}
		left := d.settle()
		tours(s.Map.Cities, func(order []uint8) {
			if before, after := allowed(s.Edges, order), left && allowed(d.edges, order); before != after {
				rt.Fatalf("tour %v: allowed %t, after settling %t (%t)", order, before, after, left)
			}
		})
		open := 0
		for i, e := range d.edges {
			if e == 0 && i%s.Map.Cities < i/s.Map.Cities {
				open++
			}
		}
		if left && open != d.open {
			rt.Fatalf("%d open edges, counted as %d", open, d.open)
		}
	})
}

// TestBranchKeepsTheBest: of the tours shorter than the best one known, each is allowed in exactly one child, unless
// branch has found the shortest of them already.
func TestBranchKeepsTheBest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSubproblem(rt)
		s.Best = s.Map.tour(ascending(s.Map.Cities))
		s.Best.Length += int64(rapid.IntRange(0, 5).Draw(rt, "loose"))
		edges := slices.Clone(s.Edges)
		best, children := s.branch()
		if !slices.Equal(edges, s.Edges) {
			rt.Fatal("branch changed its subproblem")
		}
		tours(s.Map.Cities, func(order []uint8) {
			if !allowed(s.Edges, order) || s.Map.tour(order).Length >= best.Length {
				return
			}
			in := 0
			for _, c := range children {
				if allowed(c.Edges, order) {
					in++
				}
			}
			if in != 1 {
				rt.Fatalf("tour %v, shorter than the best, is in %d of %d children", order, in, len(children))
			}
		})
	})
}

// drawSubproblem decides some edges of a small instance, as choose and discard allow.
func drawSubproblem(rt *rapid.T) Subproblem {
	n := rapid.IntRange(minCities, 7).Draw(rt, "cities")
	longest := rapid.SampledFrom([]int32{1, 50, maxDistance}).Draw(rt, "longest")
	in := newInstance("", n, func(a, b int) int32 { return rapid.Int32Range(0, longest).Draw(rt, "distance") })
	s := whole(in, Tour{Length: int64(n) * maxDistance, Order: ascending(n)}, 0)
	d := decided(&s)
	for range rapid.IntRange(0, n).Draw(rt, "decisions") {
		a := rapid.Uint8Range(0, uint8(n-1)).Draw(rt, "a")
		b := rapid.Uint8Range(0, uint8(n-1)).Draw(rt, "b")
		if d.of(a, b) != open {
			continue
		}
		if rapid.Bool().Draw(rt, "choose") {
			if !d.choose(a, b) {
				continue
			}
		} else {
			d.discard(a, b)
		}
	}
	return s.with(d)
}

// TestLocalSearch: every step shortens the tour by what it was thought to, which is seen from the tour being
// one still and never longer.
func TestLocalSearch(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := randomInstance(rapid.IntRange(minCities, 40).Draw(rt, "cities"), rapid.Uint64().Draw(rt, "seed"))
		s := newLocalSearch(in)
		rng := rand.New(rand.NewPCG(1, 2))
		order := ascending(in.Cities)
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		s.set(order)
		s.touch(order...)
		for range 200 {
			before := in.tour(s.order).Length
			a := uint8(rng.IntN(in.Cities))
			took := s.twoOpt(a) || s.orOpt(a)
			t := in.tour(s.order)
			if err := in.check(t); err != nil {
				rt.Fatal(err)
			}
			if took != (t.Length < before) {
				rt.Fatalf("a step (%t) at city %d changed the length from %d to %d", took, a, before, t.Length)
			}
			for i, city := range s.order {
				if int(s.place[city]) != i {
					rt.Fatalf("city %d is in place %d, not %d", city, i, s.place[city])
				}
			}
		}
	})
}

// TestStartTourIsGood: the search relies on it for its speed, not for its answers.
func TestStartTourIsGood(t *testing.T) {
	for seed := range uint64(10) {
		in := randomInstance(30, seed)
		start, best := startTour(in), solveAlone(Problem{Map: in})
		if start.Length*100 > best.Length*101 {
			t.Errorf("%s: start tour of %d, more than 1%% above %d", in.Name, start.Length, best.Length)
		}
	}
}
