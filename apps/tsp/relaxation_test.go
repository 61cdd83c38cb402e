package tsp

import (
	"math"
	"math/rand/v2"
	"reflect"
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
		in, s := drawSubproblem(rt)
		r := relax(in, &s)
		for a := range in.Cities {
			r.penalty[a] = rapid.Int32Range(-maxPenalty, maxPenalty).Draw(rt, "penalty") >> rapid.IntRange(0,
				20).Draw(rt, "size")
		}
		bound, connected := r.build()
		tours(in.Cities, func(order []uint8) {
			if !allowed(s.Edges, order) {
				return
			}
			if !connected {
				rt.Fatalf("tour %v is allowed, but the edges are said not to connect the cities", order)
			}
			if length := in.tour(order).Length << s.Shift; length < bound {
				rt.Fatalf("tour %v is %d long, below the bound %d", order, length, bound)
			}
		})
	})
}

// TestConclusionsLoseNoTour: settling decisions keeps exactly the tours that they allow.
func TestConclusionsLoseNoTour(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in, s := drawSubproblem(rt)
		d := decided(in, &s)
		for a := range uint8(in.Cities) {
			d.dirty = append(d.dirty, a)
		}
		left := d.settle()
		tours(in.Cities, func(order []uint8) {
			if before, after := allowed(s.Edges, order), left && allowed(d.edges, order); before != after {
				rt.Fatalf("tour %v: allowed %t, after settling %t (%t)", order, before, after, left)
			}
		})
		open := 0
		for i, e := range d.edges {
			if e == 0 && i%in.Cities < i/in.Cities {
				open++
			}
		}
		if left && open != d.open {
			rt.Fatalf("%d open edges, counted as %d", open, d.open)
		}
	})
}

// TestBranchKeepsTheBest: of the tours that are better than the best one known, each is allowed in exactly one child,
// which does not say that it costs more than it does, unless branch has found the best of them already.
func TestBranchKeepsTheBest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in, s := drawSubproblem(rt)
		known := in.tour(ascending(in.Cities))
		known.Length += int64(rapid.IntRange(0, 5).Draw(rt, "loose"))
		s.Goal = known.Length + int64(rapid.IntRange(0, 5).Draw(rt, "goal"))
		s.At, known.At = []uint8{1, 0, 1}, rapid.SampledFrom([][]uint8{nil, {0, 1}, {1, 1}}).Draw(rt, "known at")
		if rapid.Bool().Draw(rt, "length known") {
			shortest := int64(math.MaxInt64)
			tours(in.Cities, func(order []uint8) { shortest = min(shortest, in.tour(order).Length) })
			s.Goal, s.Known, known.Length = shortest+1, true, shortest+int64(rapid.IntRange(0, 1).Draw(rt, "none"))
		}
		edges := slices.Clone(s.Edges)
		best, children := s.branch(in, known)
		if !slices.Equal(edges, s.Edges) {
			rt.Fatal("branch changed its subproblem")
		}
		tours(in.Cities, func(order []uint8) {
			length := in.tour(order).Length
			equal := s.Known && length == s.Goal-1 && length == best.Length && slices.Compare(best.At, s.At) > 0
			if !allowed(s.Edges, order) || length >= best.Length && !equal {
				return
			}
			holding := 0
			for _, c := range children {
				if !allowed(c.Edges, order) {
					continue
				}
				if holding++; c.Floor > length<<c.Shift {
					rt.Fatalf("a tour of %d costs less than the floor of its child, %d", length<<c.Shift, c.Floor)
				}
			}
			if holding != 1 {
				rt.Fatalf("tour %v, better than the best, is in %d of %d children", order, holding, len(children))
			}
		})
	})
}

// TestSplitAlike: which tours were found says whether a subproblem is split, and not into what: jobs that are done
// again have the names that they had.
func TestSplitAlike(t *testing.T) {
	split := 0
	for _, c := range trials() {
		in, s := c.Problem.Map, whole(c.Problem.Map, c.Start.Length)
		best := solveAlone(c.Problem)
		var walk func(s Subproblem)
		walk = func(s Subproblem) {
			_, first := s.branch(in, c.Start)
			switch _, later := s.branch(in, best); {
			case len(later) == 0:
			case !reflect.DeepEqual(first, later):
				t.Fatalf("%s: at %v, %v and %v", in.Name, s.At, first, later)
			default:
				split++
			}
			for _, child := range first {
				if child.Floor <= child.limit(best) {
					walk(child)
				}
			}
		}
		walk(s)
	}
	if split < 20 {
		t.Errorf("only %d subproblems were split twice", split)
	}
}

// drawSubproblem decides some edges of a small instance, as choose and discard allow.
func drawSubproblem(rt *rapid.T) (*Instance, Subproblem) {
	n := rapid.IntRange(minCities, 7).Draw(rt, "cities")
	longest := rapid.SampledFrom([]int32{1, 50, maxDistance}).Draw(rt, "longest")
	in := newInstance("", n, func(a, b int) int32 { return rapid.Int32Range(0, longest).Draw(rt, "distance") })
	s := whole(in, 0)
	d := decided(in, &s)
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
	s.Edges, s.Open = d.edges, d.open
	return in, s
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
