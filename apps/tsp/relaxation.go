package tsp

import (
	"math"
	"math/bits"
	"slices"
	"sync"
)

// The bound is that of Held and Karp ("The traveling-salesman problem and minimum spanning trees", Operations
// Research 18, 1970; part II, Mathematical Programming 1, 1971). A 1-tree is a spanning tree of the cities 1,
// 2, ... and two edges at city 0. Every tour is a 1-tree, so the cheapest 1-tree is never longer than the
// shortest tour. A penalty on a city, added to all edges there, makes every tour longer by twice that
// penalty, but changes which 1-tree is the cheapest: raising it where the 1-tree has more than two edges and
// lowering it where it has one lifts the bound.
//
// All of it is done in whole numbers: distances are shifted to the left, and penalties count in the same
// small unit. So a bound is exact, and the same on every machine, where a floating-point one would need a
// tolerance.
const (
	// a shifted distance and a penalty stay below 1<<costBits, so an edge with both its penalties below 3<<26
	costBits    = 26
	maxDistance = 1<<costBits - 1
	maxPenalty  = 1<<costBits - 1
	maxShift    = 12 // more would not make the bound better

	// chosenBonus makes a chosen edge cheaper than all others; they cannot be mistaken for each other.
	chosenBonus = 1 << 29
	noEdge      = math.MaxInt32
)

// shiftOf returns how far the distances of in may be shifted.
func shiftOf(in *Instance) int {
	return min(maxShift, costBits-bits.Len32(uint32(slices.Max(in.Dist))))
}

// relaxation looks for the cheapest 1-tree of the edges that a subproblem still allows.
type relaxation struct {
	cities  int
	shift   int
	edges   edgeLists
	penalty perCity[int32]
	tree    oneTree
}

// edgeLists holds the edges that have not been discarded: those of city a are at first[a] to first[a+1].
type edgeLists struct {
	first perCity[int32]
	to    []uint8
	cost  []int32 // shifted distance, less chosenBonus if the edge has been chosen
}

// oneTree is a spanning tree of the cities from 1 on, rooted there, and two edges at city 0. Costs of its
// edges include penalties and bonus.
type oneTree struct {
	degree   perCity[int32]
	parent   perCity[uint8]
	toParent perCity[int32]
	depth    perCity[uint8]
	ends     [2]uint8 // the neighbours of city 0
	toEnds   [2]int32 // cheaper first
}

// relaxations are those that nobody needs any more: each has lists of some thousand edges.
var relaxations = sync.Pool{New: func() any { return new(relaxation) }}

// relax makes a relaxation of s; whoever has it puts it back into relaxations.
func relax(in *Instance, s *Subproblem) *relaxation {
	r := relaxations.Get().(*relaxation)
	r.cities, r.shift, r.penalty = in.Cities, s.Shift, perCity[int32]{}
	room := 2 * (s.Open + r.cities)
	r.edges.to, r.edges.cost = slices.Grow(r.edges.to[:0], room), slices.Grow(r.edges.cost[:0], room)
	r.restart(in, s)
	return r
}

// restart begins anew with s, the subproblem that r was made for with more edges decided.
func (r *relaxation) restart(in *Instance, s *Subproblem) {
	n := r.cities
	copy(r.penalty[:], s.Penalty)
	l := &r.edges
	l.to, l.cost = l.to[:0], l.cost[:0]
	for a := range n {
		dist := in.Dist[a*n : (a+1)*n]
		for b, e := range s.Edges[a*n : (a+1)*n] {
			if e == discarded {
				continue
			}
			cost := dist[b] << s.Shift
			if e == chosen {
				cost -= chosenBonus
			}
			l.to = append(l.to, uint8(b))
			l.cost = append(l.cost, cost)
		}
		l.first[a+1] = int32(len(l.to))
	}
}

// of returns the edges at city a: where they lead and what they cost without penalties.
func (l *edgeLists) of(a uint8) (to []uint8, cost []int32) {
	i, j := l.first[a], l.first[a+1]
	return l.to[i:j], l.cost[i:j]
}

// build finds the cheapest 1-tree under the present penalties, and returns the bound, shifted. It returns
// false if the edges do not connect the cities, so that there is no tour. The tree grows from city 1 by
// Prim's algorithm.
func (r *relaxation) build() (bound int64, connected bool) {
	var (
		out   [maxCities]uint8 // the cities outside the tree ...
		cost  [maxCities]int32 // ... and their cheapest edges to it
		place perCity[uint8]   // where in out a city is
		count = uint8(r.cities - 2)
		t     = &r.tree
	)
	clear(t.degree[:r.cities])
	// City 0 and the cities in the tree share the place of an edge that cannot be improved upon.
	const inside = maxCities - 1
	cost[inside] = math.MinInt32
	place[0], place[1] = inside, inside
	for i := range count {
		out[i], cost[i], place[i+2] = i+2, noEdge, i
	}
	for city := uint8(1); count > 0; {
		to, costs := r.edges.of(city)
		here := r.penalty[city]
		for i, other := range to {
			if c := costs[i] + here + r.penalty[other]; c < cost[place[other]%maxCities] {
				cost[place[other]%maxCities], t.parent[other] = c, city
			}
		}
		nearest, at := int32(noEdge), 0
		for i, c := range cost[:count] {
			if c < nearest {
				nearest, at = c, i
			}
		}
		if nearest == noEdge {
			return 0, false
		}
		city = out[at]
		count--
		out[at], cost[at], place[out[count]] = out[count], cost[count], uint8(at)
		place[city] = inside
		parent := t.parent[city]
		t.toParent[city], t.depth[city] = nearest, t.depth[parent]+1
		t.degree[city]++
		t.degree[parent]++
		bound += withoutBonus(nearest)
	}
	return r.close(bound)
}

// close adds the two cheapest edges at city 0 to a spanning tree of the given cost.
func (r *relaxation) close(cost int64) (bound int64, connected bool) {
	t := &r.tree
	to, costs := r.edges.of(0)
	if len(to) < 2 {
		return 0, false
	}
	t.toEnds = [2]int32{noEdge, noEdge}
	for i, other := range to {
		switch c := costs[i] + r.penalty[0] + r.penalty[other]; {
		case c < t.toEnds[0]:
			t.toEnds[0], t.toEnds[1] = c, t.toEnds[0]
			t.ends[0], t.ends[1] = other, t.ends[0]
		case c < t.toEnds[1]:
			t.toEnds[1], t.ends[1] = c, other
		}
	}
	t.degree[0] = 2
	t.degree[t.ends[0]]++
	t.degree[t.ends[1]]++
	bound = cost + withoutBonus(t.toEnds[0]) + withoutBonus(t.toEnds[1])
	for _, p := range r.penalty[:r.cities] {
		bound -= 2 * int64(p)
	}
	return bound, true
}

func withoutBonus(cost int32) int64 {
	if cost < -chosenBonus/2 {
		cost += chosenBonus
	}
	return int64(cost)
}

// has tells whether the 1-tree contains the edge from a to b.
func (t *oneTree) has(a, b uint8) bool {
	switch {
	case a == 0:
		return b == t.ends[0] || b == t.ends[1]
	case b == 0:
		return a == t.ends[0] || a == t.ends[1]
	}
	return a != 1 && t.parent[a] == b || b != 1 && t.parent[b] == a
}

// path yields the edges of the tree between a and b, neither of them city 0, as the cities below them.
func (t *oneTree) path(a, b uint8) func(yield func(uint8) bool) {
	return func(yield func(uint8) bool) {
		for a != b {
			if t.depth[a] < t.depth[b] {
				a, b = b, a
			}
			if !yield(a) {
				return
			}
			a = t.parent[a]
		}
	}
}

// tour returns the cities in the order of a 1-tree in which every city has two edges: from each neighbour of
// city 0 the tree is a path up to city 1.
func (t *oneTree) tour(cities int) []uint8 {
	order := make([]uint8, 1, cities)
	for city := t.ends[0]; city != 1; city = t.parent[city] {
		order = append(order, city)
	}
	back := len(order)
	for city := t.ends[1]; city != 1; city = t.parent[city] {
		order = append(order, city)
	}
	order = append(order, 1)
	slices.Reverse(order[back:])
	return order
}
